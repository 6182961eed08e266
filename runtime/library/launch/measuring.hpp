// What a definition measures, made of all cells of its fields: a kernel for the numbers of blocks, one that joins them.
#pragma once

#include "runtime/library/launch/stage_launch.hpp"

#include <cstddef>
#include <memory>
#include <span>

namespace stencil_tune {

/// Launches on one stream follow each other, and share scratch memory.
class Measuring {
 public:
  /// values: of measured_problem(), with generate_measuring(); its outputs' place is the one behind the fields.
  Measuring(StageKernel values, std::shared_ptr<LoadedKernel> gather);

  std::size_t count() const noexcept { return values_.outputs.size(); }  ///< of measures

  /// Numbers of blocks, and behind them two of each measure (kept_at()) for runs that look at them.
  std::size_t scratch_bytes() const noexcept { return kept_at(2); }
  std::size_t kept_at(std::size_t row) const noexcept { return sizeof(double) * count() * (blocks_ + row); }

  /// Compiles, or takes from the cache, and loads into the current context.
  void prepare();

  /// One number a measure, to `to`, when the stream gets there. Everything that it is given was checked.
  void run(Driver& driver, std::uint64_t context, const Place& place, CUstream_st* stream,
           std::span<void* const> fields, std::span<const double> coefficients, DevicePointer scratch,
           DevicePointer to) const;

 private:
  StageKernel values_;
  std::shared_ptr<LoadedKernel> gather_;
  std::size_t blocks_;
};

}  // namespace stencil_tune
