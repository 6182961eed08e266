#include "runtime/library/launch/measuring.hpp"

#include <utility>
#include <vector>

namespace stencil_tune {
namespace {

/// templates/measure.cuh has the same structure, member by member.
struct GatherArguments {
  DevicePointer parts;
  DevicePointer numbers;
  std::int64_t blocks;
};

constexpr std::size_t kGatherBytes = kGatherThreads * sizeof(double);

}  // namespace

Measuring::Measuring(StageKernel values, std::shared_ptr<LoadedKernel> gather)
    : values_(std::move(values)), gather_(std::move(gather)) {
  const auto& grid = values_.whole->geometry().grid;
  blocks_ = std::size_t{grid[0]} * grid[1] * grid[2];
}

void Measuring::prepare() {
  values_.loaded->prepare(values_.whole->geometry().shared_bytes);
  gather_->prepare(kGatherBytes);
}

void Measuring::run(Driver& driver, std::uint64_t context, const Place& place, CUstream_st* stream,
                    std::span<void* const> fields, std::span<const double> coefficients, DevicePointer scratch,
                    DevicePointer to) const {
  const Module* const gather = gather_->find(context);
  if (gather == nullptr) refuse_context(context != 0);
  std::vector<void*> buffers(fields.begin(), fields.end());
  buffers.push_back(reinterpret_cast<void*>(scratch));
  static const std::optional<Box> kAll;
  StageLaunch{driver, context, values_, stream, buffers, coefficients, kAll, place}.run();
  const GatherArguments arguments{scratch, to, static_cast<std::int64_t>(blocks_)};
  gather->launch({.block = {static_cast<unsigned>(kGatherThreads), 1, 1}, .shared_bytes = kGatherBytes},
                 std::as_bytes(std::span(&arguments, 1)), stream);
}

}  // namespace stencil_tune
