// Device memory for fields, for programs that do not have their own.
#pragma once

#include "stencil_tune/grid.hpp"
#include "stencil_tune/span.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>

struct CUstream_st;

namespace stencil_tune {

/// The smallest pitch, in cells, of at least nx for which every row starts on a 128-byte cache line.
/// Throws Error(invalid_argument) unless nx > 0.
std::int64_t padded_pitch(std::int64_t nx, ElementType type);

/// Makes a GPU's primary context current on this thread for as long as it lives, for programs that call neither the
/// CUDA runtime nor the driver themselves. The context before it is current again afterwards.
class DeviceContext {
 public:
  /// Throws Error(missing_library), Error(no_device).
  explicit DeviceContext(int device = 0);
  DeviceContext(DeviceContext&&) noexcept;
  DeviceContext& operator=(DeviceContext&&) = delete;
  ~DeviceContext();

  void synchronize();  ///< waits for all work in the context; throws Error(launch_failed) when some of it failed

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// One field in the current context's device memory, with padded rows unless another pitch is given.
class DeviceField {
 public:
  /// Filled with zeros. Throws Error(exceeds_device_memory), Error(invalid_argument).
  DeviceField(const Extents& extents, ElementType type, std::int64_t pitch = 0);
  DeviceField(DeviceField&&) noexcept;
  DeviceField& operator=(DeviceField&&) noexcept;
  ~DeviceField();

  void* data() const noexcept;          ///< device address of cell (0, 0, 0), aligned to 256 bytes
  std::int64_t pitch() const noexcept;  ///< cells
  std::size_t bytes() const noexcept;   ///< size of the array, with its padding

  /// All cells in dense order, x fastest, as raw bytes of the element type: as_bytes(cells) of a vector. Both wait for
  /// the stream. Throw Error(invalid_argument) unless the span has cells * size bytes.
  void copy_from(Span<const std::byte> cells, CUstream_st* stream = nullptr);
  /// The way back.
  void copy_to(Span<std::byte> cells, CUstream_st* stream = nullptr) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace stencil_tune
