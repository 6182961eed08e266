// The copy ceiling: what the best plain copy of an array of the problem's size reaches.
#pragma once

#include "runtime/cuda/module.hpp"
#include "tuner/verify/check_kernels.hpp"

#include <string>

namespace stencil_tune {

/// Copies back and forth between two arrays of `bytes` (whole 16-byte vectors count) on one stream.
class CopyCeiling {
 public:
  /// Compiles the copies. Throws Error.
  CopyCeiling(Driver& driver, const std::string& architecture, int multiprocessors, CUstream_st* stream);

  /// Keeps the device busy for at least that long: clocks and freshly allocated memory settle. Asynchronous at its end.
  void warm_up(DevicePointer a, DevicePointer b, std::size_t bytes, double milliseconds);

  /// GB/s (1e9 bytes read + written a second) of the best copy; each variant is looked at briefly, the best again with
  /// care. `budget_ms` bounds it all, roughly.
  double measure_best(DevicePointer a, DevicePointer b, std::size_t bytes, double budget_ms = 150);

 private:
  struct Variant {
    CUfunc_st* function;
    int vectors;  ///< numbers of 16 bytes that a thread copies in a turn
    unsigned threads;
    unsigned most_blocks;  ///< 0: as many as the array needs
  };

  void launch(const Variant& variant, DevicePointer from, DevicePointer to, std::size_t bytes) const;
  double copy_ms(const Variant& variant, DevicePointer a, DevicePointer b, std::size_t bytes, double cap_ms) const;

  Driver& driver_;
  CUstream_st* stream_;
  KernelLibrary library_;
  std::vector<Variant> variants_;
};

}  // namespace stencil_tune
