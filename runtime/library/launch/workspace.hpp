// Spare buffers that fused steps store to beside the caller's.
#pragma once

#include "runtime/cuda/driver.hpp"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace stencil_tune {

/// One set of spare buffers for each context and stream: launches on one stream follow each other, so that they can
/// share it. Thread-safe. Memory is freed with this object where its context is current, else with the context.
class Workspaces {
 public:
  /// `count` buffers of so many bytes each.
  Workspaces(Driver& driver, int count, std::size_t buffer_bytes);
  Workspaces(const Workspaces&) = delete;
  Workspaces& operator=(const Workspaces&) = delete;
  ~Workspaces();

  /// Size of one set.
  std::size_t bytes() const noexcept { return static_cast<std::size_t>(count_) * stride_; }

  /// Allocates in the current context what is not there yet: for the stream, or for the first one that asks.
  /// Throws Error(exceeds_device_memory).
  void prepare(std::optional<CUstream_st*> stream);

  /// The stream's buffers in the current context. Throws Error(invalid_argument) where none were prepared for it.
  std::vector<void*> of(CUstream_st* stream);

 private:
  struct Set {
    std::uint64_t context_id = 0;
    std::optional<CUstream_st*> stream;  ///< nothing: of the first that asks
    DevicePointer memory = 0;
  };

  Set* find(std::uint64_t context_id, std::optional<CUstream_st*> stream);

  Driver& driver_;
  int count_;
  std::size_t stride_;  ///< bytes from buffer to buffer
  std::mutex mutex_;
  std::vector<Set> sets_;
};

}  // namespace stencil_tune
