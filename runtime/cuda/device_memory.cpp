#include "stencil_tune/device_memory.hpp"

#include "runtime/cuda/module.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <cstring>
#include <vector>

namespace stencil_tune {

namespace {

constexpr std::int64_t kLineBytes = 128;  // what all CUDA GPUs fetch as one line at most

}  // namespace

std::int64_t padded_pitch(std::int64_t nx, ElementType type) {
  if (nx <= 0) throw Error(ErrorCode::invalid_argument, fmt::format("rows of {} cells: at least one is needed", nx));
  const std::int64_t line = kLineBytes / static_cast<std::int64_t>(size_of(type));
  return (nx + line - 1) / line * line;
}

struct DeviceContext::Impl {
  Impl(Driver& driver, int device) : context(driver, device) {}
  Context context;
};

DeviceContext::DeviceContext(int device) {
  Driver& driver = cuda_driver();
  const int count = driver.device_count();
  if (device < 0 || device >= count) {
    throw Error(ErrorCode::no_device, fmt::format("no GPU {}: this process sees {}", device, count));
  }
  impl_ = std::make_unique<Impl>(driver, device);
}

DeviceContext::DeviceContext(DeviceContext&&) noexcept = default;
DeviceContext::~DeviceContext() = default;

void DeviceContext::synchronize() { cuda_driver().synchronize_context(); }

struct DeviceField::Impl {
  Extents extents;
  std::size_t row_bytes;    ///< bytes of a row's cells
  std::size_t pitch_bytes;  ///< bytes from one row to the next
  std::int64_t pitch;
  DeviceBuffer buffer;

  std::size_t rows() const { return static_cast<std::size_t>(extents.n[1] * extents.n[2]); }

  void require_all_cells(std::size_t bytes) const {
    if (bytes == rows() * row_bytes) return;
    throw Error(ErrorCode::invalid_argument, fmt::format("a field of {} has {} bytes of cells, {} were given",
                                                         to_string(extents), rows() * row_bytes, bytes));
  }
};

DeviceField::DeviceField(const Extents& extents, ElementType type, std::int64_t pitch) {
  for (const std::int64_t n : extents.n) {
    if (n < 1) throw Error(ErrorCode::invalid_argument, fmt::format("a field of {} has no cells", to_string(extents)));
  }
  if (pitch == 0) pitch = padded_pitch(extents.n[0], type);
  if (pitch < extents.n[0]) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("pitch {} is less than the {} cells of a row", pitch, extents.n[0]));
  }
  const std::size_t pitch_bytes = static_cast<std::size_t>(pitch) * size_of(type);
  const auto rows = static_cast<std::size_t>(extents.n[1] * extents.n[2]);
  impl_ = std::make_unique<Impl>(Impl{extents, static_cast<std::size_t>(extents.n[0]) * size_of(type), pitch_bytes,
                                      pitch, DeviceBuffer(cuda_driver(), rows * pitch_bytes)});
  impl_->buffer.fill(0);
}

DeviceField::DeviceField(DeviceField&&) noexcept = default;
DeviceField& DeviceField::operator=(DeviceField&&) noexcept = default;
DeviceField::~DeviceField() = default;

void* DeviceField::data() const noexcept { return reinterpret_cast<void*>(impl_->buffer.address()); }
std::int64_t DeviceField::pitch() const noexcept { return impl_->pitch; }
std::size_t DeviceField::bytes() const noexcept { return impl_->buffer.size(); }

void DeviceField::copy_from(Span<const std::byte> cells, CUstream_st* stream) {
  impl_->require_all_cells(cells.size());
  std::vector<std::byte> padded(bytes());
  for (std::size_t row = 0; row < impl_->rows(); ++row) {
    std::memcpy(padded.data() + row * impl_->pitch_bytes, cells.data() + row * impl_->row_bytes, impl_->row_bytes);
  }
  impl_->buffer.write(padded, stream);
  cuda_driver().synchronize_stream(stream);
}

void DeviceField::copy_to(Span<std::byte> cells, CUstream_st* stream) const {
  impl_->require_all_cells(cells.size());
  std::vector<std::byte> padded(bytes());
  impl_->buffer.read(padded, stream);
  cuda_driver().synchronize_stream(stream);
  for (std::size_t row = 0; row < impl_->rows(); ++row) {
    std::memcpy(cells.data() + row * impl_->row_bytes, padded.data() + row * impl_->pitch_bytes, impl_->row_bytes);
  }
}

}  // namespace stencil_tune
