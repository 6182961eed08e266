#include "runtime/cuda/module.hpp"

#include "stencil_tune/error.hpp"

#include <fmt/format.h>

namespace stencil_tune {

Context::Context(Driver& driver, int device) : driver_(driver), device_(device), previous_(driver.current_context()) {
  CUctx_st* context = driver_.retain_primary_context(device_);
  try {
    driver_.set_current_context(context);
  } catch (...) {
    driver_.release_primary_context(device_);
    throw;
  }
}

Context::~Context() {
  try {
    driver_.set_current_context(previous_);
  } catch (const Error&) {
    // A lost device refuses everything; there is nothing left to restore.
  }
  driver_.release_primary_context(device_);
}

Module::Module(Driver& driver, const CompiledKernel& kernel)
    : driver_(&driver), module_(driver.load_module(kernel.cubin)) {
  try {
    function_ = driver_->function(module_, kernel.entry);
  } catch (...) {
    driver_->unload_module(module_);
    throw;
  }
}

Module::Module(Module&& other) noexcept
    : driver_(other.driver_),
      module_(std::exchange(other.module_, nullptr)),
      function_(std::exchange(other.function_, nullptr)) {}

Module& Module::operator=(Module&& other) noexcept {
  std::swap(driver_, other.driver_);
  std::swap(module_, other.module_);
  std::swap(function_, other.function_);
  return *this;
}

Module::~Module() {
  if (module_ != nullptr) driver_->unload_module(module_);
}

void Module::allow_shared(std::size_t bytes) {
  if (bytes > 0) driver_->allow_shared(function_, bytes);
}

void Module::launch(const LaunchGeometry& geometry, std::span<const std::byte> argument, CUstream_st* stream) const {
  if (geometry.grid[0] == 0 || geometry.grid[1] == 0 || geometry.grid[2] == 0) return;
  if (geometry.together) {
    driver_->launch_together(function_, geometry.grid, geometry.block, geometry.shared_bytes, argument, stream);
  } else {
    driver_->launch(function_, geometry.grid, geometry.block, geometry.shared_bytes, argument, stream);
  }
}

void Module::launch_packed(const LaunchGeometry& geometry, std::span<const std::byte> parameters,
                           CUstream_st* stream) const {
  if (geometry.grid[0] == 0 || geometry.grid[1] == 0 || geometry.grid[2] == 0) return;
  driver_->launch_packed(function_, geometry.grid, geometry.block, geometry.shared_bytes, parameters, stream);
}

void Module::write_symbol(const std::string& name, DevicePointer from, std::size_t bytes, CUstream_st* stream) const {
  const DeviceSymbol symbol = driver_->symbol(module_, name);
  if (bytes > symbol.bytes) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the symbol '{}' has {} bytes, its argument {}", name, symbol.bytes, bytes));
  }
  driver_->copy_on_device(symbol.address, from, bytes, stream);
}

int Module::resident_blocks(const LaunchGeometry& geometry) const {
  const unsigned threads = geometry.block[0] * geometry.block[1] * geometry.block[2];
  return driver_->resident_blocks(function_, static_cast<int>(threads), geometry.shared_bytes);
}

DeviceBuffer::DeviceBuffer(Driver& driver, std::size_t bytes)
    : driver_(&driver), address_(driver.allocate(bytes)), bytes_(bytes) {}

DeviceBuffer::DeviceBuffer(DeviceBuffer&& other) noexcept
    : driver_(other.driver_), address_(std::exchange(other.address_, 0)), bytes_(std::exchange(other.bytes_, 0)) {}

DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&& other) noexcept {
  std::swap(driver_, other.driver_);
  std::swap(address_, other.address_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

DeviceBuffer::~DeviceBuffer() {
  if (address_ != 0) driver_->free(address_);
}

void DeviceBuffer::require_inside(std::size_t offset, std::size_t bytes) const {
  if (offset > bytes_ || bytes > bytes_ - offset) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("a copy of {} bytes at offset {} does not fit in a device buffer of {} bytes", bytes,
                            offset, bytes_));
  }
}

void DeviceBuffer::write(std::span<const std::byte> from, CUstream_st* stream, std::size_t offset) {
  require_inside(offset, from.size());
  driver_->copy_to_device(address_ + offset, from.data(), from.size(), stream);
}

void DeviceBuffer::read(std::span<std::byte> to, CUstream_st* stream, std::size_t offset) const {
  require_inside(offset, to.size());
  driver_->copy_to_host(to.data(), address_ + offset, to.size(), stream);
}

void DeviceBuffer::fill(std::uint8_t value, CUstream_st* stream) {
  driver_->fill_bytes(address_, value, bytes_, stream);
}

}  // namespace stencil_tune
