#include "distributed/agreement.hpp"
#include "distributed/distributed_state.hpp"
#include "runtime/library/launch/stage_launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

namespace stencil_tune {
namespace {

using Impl = DistributedKernel::Impl;

void require_field(const Impl& kernel, int field) {
  const std::size_t fields = kernel.problem().stencil.fields.size();
  if (field >= 0 && static_cast<std::size_t>(field) < fields) return;
  throw Error(ErrorCode::invalid_argument, fmt::format("field {}: the stencil has {}, numbered from 0", field, fields));
}

void require_bytes(const Impl& kernel, int field, std::int64_t cells, std::size_t bytes) {
  const std::size_t wanted = static_cast<std::size_t>(cells) * size_of(kernel.problem().type);
  if (bytes == wanted) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("field '{}' has {} bytes of cells here, {} were given",
                          kernel.problem().stencil.fields[static_cast<std::size_t>(field)], wanted, bytes));
}

Along along_of(const Impl& kernel, int field) { return profile_along(kernel.problem().stencil, field); }

void require_whole_grid(const Impl& kernel, int field) {
  const Along along = along_of(kernel, field);
  if (along == 0) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("field '{}' varies {}: write() all its cells on every rank",
                          kernel.problem().stencil.fields[static_cast<std::size_t>(field)], varies_along(along)));
}

/// Rows of a box within a dense array of the grid, copied to a dense array of the box, or back.
template <class Copy>
void each_row(const Extents& grid, const Box& box, std::size_t cell_bytes, Copy copy) {
  const std::size_t row_bytes = static_cast<std::size_t>(box.high[0] - box.low[0]) * cell_bytes;
  std::size_t in_box = 0;
  for (std::int64_t z = box.low[2]; z < box.high[2]; ++z) {
    for (std::int64_t y = box.low[1]; y < box.high[1]; ++y) {
      const std::int64_t in_grid = (z * grid.n[1] + y) * grid.n[0] + box.low[0];
      copy(static_cast<std::size_t>(in_grid) * cell_bytes, in_box, row_bytes);
      in_box += row_bytes;
    }
  }
}

/// The own cells of a field as a dense array in device memory, for as long as they travel.
class DenseCells {
 public:
  DenseCells(const Impl& kernel, void* field, CUstream_st* stream)
      : kernel_(kernel),
        driver_(driver_of(kernel.state())),
        stream_(stream),
        memory_(driver_, static_cast<std::size_t>(kernel.inner().cells()) * size_of(kernel.problem().type)),
        field_(field) {}

  void pack() { kernel_.exchange->pack(field_, kernel_.inner(), memory_.address(), stream_); }
  void unpack() {
    kernel_.exchange->unpack(field_, kernel_.inner(), memory_.address(), stream_);
    driver_.synchronize_stream(stream_);
  }
  void write(std::span<const std::byte> cells) { memory_.write(cells, stream_); }
  void read(std::span<std::byte> cells) {
    memory_.read(cells, stream_);
    driver_.synchronize_stream(stream_);
  }
  Transfer transfer(int peer) const {
    return {.peer = peer, .data = reinterpret_cast<void*>(memory_.address()), .bytes = memory_.size()};
  }

 private:
  const Impl& kernel_;
  Driver& driver_;
  CUstream_st* stream_;
  DeviceBuffer memory_;
  void* field_;
};

/// Cells of a profile that stand beside this rank's array; across a periodic edge those of the other end.
std::vector<std::byte> part_of_profile(const Impl& kernel, Along along, Span<const std::byte> cells) {
  const std::size_t cell = size_of(kernel.problem().type);
  const Box array = kernel.grid->array(kernel.rank());
  std::vector<std::int64_t> places{0};  // in the whole profile
  std::int64_t apart = 1;
  for (const int on : axes_of(along)) {
    const auto axis = static_cast<std::size_t>(on);
    const std::int64_t n = kernel.grid->grid().n[axis];
    const std::vector<std::int64_t> rows = std::exchange(places, {});
    for (std::int64_t i = array.low[axis]; i < array.high[axis]; ++i) {
      for (const std::int64_t place : rows) places.push_back(place + (i + n) % n * apart);
    }
    apart *= n;
  }
  std::vector<std::byte> part;
  for (const std::int64_t place : places) {
    const std::byte* from = cells.data() + static_cast<std::size_t>(place) * cell;
    part.insert(part.end(), from, from + cell);
  }
  return part;
}

std::int64_t cells_along(const Extents& grid, Along along) {
  std::int64_t cells = 1;
  for (const int axis : axes_of(along)) cells *= grid.n[static_cast<std::size_t>(axis)];
  return cells;
}

}  // namespace

DistributedFields::DistributedFields(const DistributedKernel& kernel) : impl_(std::make_unique<Impl>()) {
  impl_->kernel = kernel.impl_;
  agree(*kernel.impl_->ranks, [&] {
    const Problem& problem = kernel.impl_->problem();
    Driver& driver = driver_of(kernel.impl_->state());
    for (int field = 0; field < static_cast<int>(problem.stencil.fields.size()); ++field) {
      // As many entries of time as write() will be given.
      const std::int64_t cells = along_of(*kernel.impl_, field) == kAlongTime ? 1 : cells_of_field(problem, field);
      impl_->memory.emplace_back(driver, static_cast<std::size_t>(cells) * size_of(problem.type));
      impl_->memory.back().fill(0);
      impl_->buffers.push_back(reinterpret_cast<void*>(impl_->memory.back().address()));
    }
    driver.synchronize_stream(nullptr);
  });
  impl_->changed.assign(impl_->buffers.size(), true);
}

DistributedFields::DistributedFields(DistributedFields&&) noexcept = default;
DistributedFields& DistributedFields::operator=(DistributedFields&&) noexcept = default;
DistributedFields::~DistributedFields() = default;

void DistributedFields::write(int field, Span<const std::byte> cells, CUstream_st* stream) {
  const DistributedKernel::Impl& kernel = *impl_->kernel;
  require_field(kernel, field);
  if (const Along along = along_of(kernel, field); along == kAlongTime) {
    return impl_->write_times(static_cast<std::size_t>(field), cells, stream);
  } else if (along != 0) {
    require_bytes(kernel, field, cells_along(kernel.grid->grid(), along), cells.size());
    impl_->memory[static_cast<std::size_t>(field)].write(part_of_profile(kernel, along, cells), stream);
    driver_of(kernel.state()).synchronize_stream(stream);
    return;
  }
  require_bytes(kernel, field, kernel.inner().cells(), cells.size());
  DenseCells dense(kernel, data(field), stream);
  dense.write(cells);
  dense.unpack();
  changed(field);
}

void DistributedFields::Impl::write_times(std::size_t field, Span<const std::byte> entries, CUstream_st* stream) {
  if (entries.empty() || entries.size() % size_of(kernel->problem().type) != 0) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("field '{}' varies with time alone: {} bytes are no entries of its type",
                            kernel->problem().stencil.fields[field], entries.size()));
  }
  Driver& driver = driver_of(kernel->state());
  driver.synchronize_stream(stream);  // which may read the entries before
  memory[field] = DeviceBuffer(driver, entries.size());
  buffers[field] = reinterpret_cast<void*>(memory[field].address());
  memory[field].write(entries, stream);
  driver.synchronize_stream(stream);
}

void DistributedFields::read(int field, Span<std::byte> cells, CUstream_st* stream) const {
  const DistributedKernel::Impl& kernel = *impl_->kernel;
  require_field(kernel, field);
  require_whole_grid(kernel, field);
  require_bytes(kernel, field, kernel.inner().cells(), cells.size());
  DenseCells dense(kernel, data(field), stream);
  dense.pack();
  dense.read(cells);
}

void DistributedFields::scatter(int field, int root, Span<const std::byte> cells, CUstream_st* stream) {
  const DistributedKernel::Impl& kernel = *impl_->kernel;
  const bool has_all = kernel.rank() == root;
  std::optional<DenseCells> own;
  agree(*kernel.ranks, [&] {
    require_field(kernel, field);
    require_whole_grid(kernel, field);
    require_bytes(kernel, field, has_all ? kernel.grid->grid().cells() : 0, cells.size());
    own.emplace(kernel, data(field), stream);
  });
  if (!has_all) {
    kernel.ranks->exchange({}, std::array{own->transfer(root)}, stream);
    kernel.ranks->wait(stream);
    own->unpack();
    return changed(field);
  }
  const std::size_t cell = size_of(kernel.problem().type);
  for (int rank = 0; rank < kernel.grid->ranks(); ++rank) {
    const Box box = kernel.grid->owned(rank);
    std::vector<std::byte> part(static_cast<std::size_t>(box.cells()) * cell);
    each_row(kernel.grid->grid(), box, cell, [&](std::size_t in_grid, std::size_t in_box, std::size_t bytes) {
      std::memcpy(part.data() + in_box, cells.data() + in_grid, bytes);
    });
    if (rank == root) {
      own->write(part);
      own->unpack();
      continue;
    }
    DeviceBuffer sent(driver_of(kernel.state()), part.size());
    sent.write(part, stream);
    kernel.ranks->exchange(std::array{Transfer{rank, reinterpret_cast<void*>(sent.address()), sent.size()}}, {},
                           stream);
    kernel.ranks->wait(stream);
  }
  changed(field);
}

void DistributedFields::gather(int field, int root, Span<std::byte> cells, CUstream_st* stream) const {
  const DistributedKernel::Impl& kernel = *impl_->kernel;
  const bool wants_all = kernel.rank() == root;
  std::optional<DenseCells> own;
  agree(*kernel.ranks, [&] {
    require_field(kernel, field);
    require_whole_grid(kernel, field);
    require_bytes(kernel, field, wants_all ? kernel.grid->grid().cells() : 0, cells.size());
    own.emplace(kernel, data(field), stream);
    own->pack();
  });
  if (!wants_all) {
    kernel.ranks->exchange(std::array{own->transfer(root)}, {}, stream);
    return kernel.ranks->wait(stream);
  }
  const std::size_t cell = size_of(kernel.problem().type);
  for (int rank = 0; rank < kernel.grid->ranks(); ++rank) {
    const Box box = kernel.grid->owned(rank);
    std::vector<std::byte> part(static_cast<std::size_t>(box.cells()) * cell);
    if (rank == root) {
      own->read(part);
    } else {
      DeviceBuffer received(driver_of(kernel.state()), part.size());
      kernel.ranks->exchange({}, std::array{Transfer{rank, reinterpret_cast<void*>(received.address()), part.size()}},
                             stream);
      kernel.ranks->wait(stream);
      received.read(part, stream);
      driver_of(kernel.state()).synchronize_stream(stream);
    }
    each_row(kernel.grid->grid(), box, cell, [&](std::size_t in_grid, std::size_t in_box, std::size_t bytes) {
      std::memcpy(cells.data() + in_grid, part.data() + in_box, bytes);
    });
  }
}

void* DistributedFields::data(int field) const {
  require_field(*impl_->kernel, field);
  return impl_->buffers[static_cast<std::size_t>(field)];
}

Box DistributedFields::inner() const { return impl_->kernel->inner(); }
Extents DistributedFields::extents() const { return impl_->kernel->problem().extents; }
std::int64_t DistributedFields::pitch() const noexcept { return impl_->kernel->problem().pitch; }

void DistributedFields::changed(int field) {
  require_field(*impl_->kernel, field);
  impl_->changed[static_cast<std::size_t>(field)] = true;
}

bool DistributedFields::Impl::refresh(CUstream_st* stream) {
  std::vector<int> fields;
  for (const int field : kernel->with_halos) {
    if (changed[static_cast<std::size_t>(field)]) fields.push_back(field);
  }
  const std::vector<int>& state = kernel->problem().step.state;
  const bool all =
      std::all_of(state.begin(), state.end(), [&](int field) { return changed[static_cast<std::size_t>(field)]; });
  if (!fields.empty()) kernel->exchange->run(kernel->plan_of_all(fields), buffers, stream);
  changed.assign(changed.size(), false);
  return all;
}

}  // namespace stencil_tune
