#include "distributed/agreement.hpp"
#include "distributed/checkpoint_file.hpp"
#include "distributed/distributed_state.hpp"
#include "runtime/library/launch/stage_launch.hpp"

#include <fmt/format.h>

#include <optional>

namespace stencil_tune {
namespace {

CheckpointFacts facts_of(const DistributedKernel::Impl& kernel, std::int64_t steps) {
  const Problem& whole = *kernel.whole;
  const int rank = whole.extents.rank;
  return {.facts = {{"stencil", stencil_key(whole.stencil)},
                    {"type", std::string(name(whole.type))},
                    {"grid", to_string(whole.extents)},
                    {"boundary", to_string(whole.boundaries, rank)},
                    {"cut", to_string(kernel.grid->cut(), rank)},
                    {"part", fmt::format("{}", kernel.rank())}},
          .steps = steps};
}

std::filesystem::path file_of(const DistributedKernel::Impl& kernel, const std::filesystem::path& path) {
  return fmt::format("{}.{}", path.string(), kernel.rank());
}

}  // namespace

std::vector<std::byte> DistributedFields::Impl::checkpoint_room(int field) const {
  const Problem& problem = kernel->problem();
  const Along along = profile_along(problem.stencil, field);
  if (along == kAlongTime) return {};  // whoever goes on with the run writes them, as many as it needs then
  const std::int64_t cells = along != 0 ? cells_of_field(problem, field) : kernel->inner().cells();
  return std::vector<std::byte>(static_cast<std::size_t>(cells) * size_of(problem.type));
}

void DistributedFields::save(const std::filesystem::path& path, std::int64_t steps, CUstream_st* stream) const {
  const DistributedKernel::Impl& kernel = *impl_->kernel;
  std::optional<CheckpointWriter> writer;
  agree(*kernel.ranks, [&] {
    writer.emplace(file_of(kernel, path), facts_of(kernel, steps));
    for (int field = 0; field < static_cast<int>(impl_->buffers.size()); ++field) {
      std::vector<std::byte> cells = impl_->checkpoint_room(field);
      if (cells.empty()) continue;
      if (!is_profile(kernel.problem().stencil, field)) {
        read(field, cells, stream);
      } else {
        impl_->memory[static_cast<std::size_t>(field)].read(cells, stream);
        kernel.state().driver->synchronize_stream(stream);
      }
      writer->add(cells);
    }
    writer->finish();
  });
  agree(*kernel.ranks, [&] { writer->commit(); });
}

std::int64_t DistributedFields::load(const std::filesystem::path& path, CUstream_st* stream) {
  const DistributedKernel::Impl& kernel = *impl_->kernel;
  std::optional<CheckpointReader> reader;
  agree(*kernel.ranks, [&] { reader.emplace(file_of(kernel, path), facts_of(kernel, 0)); });
  const std::vector<std::int64_t> steps = gather_numbers(*kernel.ranks, reader->steps());
  for (std::size_t rank = 1; rank < steps.size(); ++rank) {
    if (steps[rank] == steps.front()) continue;
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the files of checkpoint '{}' are of different runs: after {} steps on rank 0, {} on rank "
                            "{}",
                            path.string(), steps.front(), steps[rank], rank));
  }
  agree(*kernel.ranks, [&] {
    for (int field = 0; field < static_cast<int>(impl_->buffers.size()); ++field) {
      std::vector<std::byte> cells = impl_->checkpoint_room(field);
      if (cells.empty()) continue;
      reader->read(cells);
      if (!is_profile(kernel.problem().stencil, field)) {
        write(field, cells, stream);
      } else {
        impl_->memory[static_cast<std::size_t>(field)].write(cells, stream);
        kernel.state().driver->synchronize_stream(stream);
      }
    }
  });
  return steps.front();
}

}  // namespace stencil_tune
