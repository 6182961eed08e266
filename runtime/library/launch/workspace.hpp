// What launches need beside the caller's buffers and stream: spare buffers that fused steps store to, and streams for
// launches that do not wait for each other.
#pragma once

#include "runtime/cuda/driver.hpp"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace stencil_tune {

/// Streams beside the caller's. Work on them begins after what the caller's has had to do, and that goes on after it.
struct SideStreams {
  std::vector<CUstream_st*> streams;
  std::vector<CUevent_st*> done;  ///< one a stream
  CUevent_st* begun = nullptr;    ///< null where there are no such streams
};

/// One set of spare buffers and side streams for each context and stream: launches on one stream follow each other, so
/// that they can share it. Thread-safe. Memory is freed with this object where its context is current, else with the
/// context.
class Workspaces {
 public:
  /// `count` buffers of so many bytes each, so many side streams, and more bytes behind the buffers.
  Workspaces(Driver& driver, int count, std::size_t buffer_bytes, int side_streams = 0, std::size_t more_bytes = 0);
  Workspaces(const Workspaces&) = delete;
  Workspaces& operator=(const Workspaces&) = delete;
  ~Workspaces();

  /// Size of one set's memory.
  std::size_t bytes() const noexcept { return static_cast<std::size_t>(count_) * stride_ + more_bytes_; }

  /// Allocates in the current context what is not there yet: for the stream, or for the first one that asks.
  /// Throws Error(exceeds_device_memory).
  void prepare(std::optional<CUstream_st*> stream);

  /// The stream's buffers in the current context. Throws Error(invalid_argument) where none were prepared for it.
  std::vector<void*> of(CUstream_st* stream);
  DevicePointer more_of(CUstream_st* stream);  ///< what lies behind its buffers; throws likewise
  SideStreams sides_of(CUstream_st* stream);   ///< the same

 private:
  struct Set {
    std::uint64_t context_id = 0;
    std::optional<CUstream_st*> stream;  ///< nothing: of the first that asks
    DevicePointer memory = 0;
    SideStreams sides{};
  };

  bool needs_sets() const noexcept { return bytes() > 0 || side_streams_ > 0; }
  Set* find(std::uint64_t context_id, std::optional<CUstream_st*> stream);
  Set& take(CUstream_st* stream);  ///< under the lock
  SideStreams make_sides() const;

  Driver& driver_;
  int count_;
  std::size_t stride_;  ///< bytes from buffer to buffer
  int side_streams_;
  std::size_t more_bytes_;
  std::mutex mutex_;
  std::vector<Set> sets_;
};

}  // namespace stencil_tune
