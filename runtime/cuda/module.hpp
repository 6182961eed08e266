// Owners of driver objects: context, module, stream, event, device memory.
//
// All work in the calling thread's current context and refer to the Driver, which must outlive them.
#pragma once

#include "generator/kernel_source/launch.hpp"
#include "runtime/compile/compiled_kernel.hpp"
#include "runtime/cuda/driver.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <utility>

namespace stencil_tune {

/// A retained primary context (the one the CUDA runtime API uses), current on this thread until destroyed.
class Context {
 public:
  Context(Driver& driver, int device);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context();

  int device() const noexcept { return device_; }

 private:
  Driver& driver_;
  int device_;
  CUctx_st* previous_;
};

/// One loaded kernel and its module. Loading needs a current context and unloads with the object.
class Module {
 public:
  Module(Driver& driver, const CompiledKernel& kernel);
  Module(Module&& other) noexcept;
  Module& operator=(Module&& other) noexcept;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  ~Module();

  /// Leaves the module to its context, which unloads it when it is destroyed: where that context is not current, or may
  /// be gone.
  void abandon() noexcept { module_ = nullptr; }

  /// To be called once before launches with dynamic shared memory: above 48 KiB the driver wants to be told.
  void allow_shared(std::size_t bytes);

  /// Asynchronous. A geometry of no blocks is nothing to do. `argument` is what KernelArguments wrote.
  void launch(const LaunchGeometry& geometry, std::span<const std::byte> argument, CUstream_st* stream) const;

  /// The same for kernels with any parameters: Driver::launch_packed().
  void launch_packed(const LaunchGeometry& geometry, std::span<const std::byte> parameters, CUstream_st* stream) const;

  /// Copies from device memory to a variable of the kernel's source, asynchronously.
  /// Throws Error(invalid_argument) where it has less room.
  void write_symbol(const std::string& name, DevicePointer from, std::size_t bytes, CUstream_st* stream) const;

  int attribute(FunctionAttribute attribute) const { return driver_->function_attribute(function_, attribute); }

  /// Blocks of this geometry that one multiprocessor holds at once.
  int resident_blocks(const LaunchGeometry& geometry) const;

 private:
  Driver* driver_;
  CUmod_st* module_ = nullptr;
  CUfunc_st* function_ = nullptr;
};

class Stream {
 public:
  explicit Stream(Driver& driver) : Stream(driver, driver.create_stream()) {}
  static Stream urgent(Driver& driver) { return {driver, driver.create_urgent_stream()}; }
  Stream(Stream&& other) noexcept : driver_(other.driver_), handle_(std::exchange(other.handle_, nullptr)) {}
  Stream& operator=(Stream&&) = delete;
  ~Stream() {
    if (handle_ != nullptr) driver_->destroy_stream(handle_);
  }

  CUstream_st* get() const noexcept { return handle_; }
  void synchronize() const { driver_->synchronize_stream(handle_); }

 private:
  Stream(Driver& driver, CUstream_st* handle) : driver_(&driver), handle_(handle) {}

  Driver* driver_;
  CUstream_st* handle_;
};

class Event {
 public:
  explicit Event(Driver& driver) : driver_(&driver), handle_(driver.create_event()) {}
  Event(Event&& other) noexcept : driver_(other.driver_), handle_(std::exchange(other.handle_, nullptr)) {}
  Event& operator=(Event&&) = delete;
  ~Event() {
    if (handle_ != nullptr) driver_->destroy_event(handle_);
  }

  void record(CUstream_st* stream) const { driver_->record_event(handle_, stream); }
  void hold_back(CUstream_st* stream) const { driver_->wait_for_event(stream, handle_); }  ///< its later work
  void synchronize() const { driver_->synchronize_event(handle_); }
  /// Milliseconds from `start` to this event; both must have been reached.
  float elapsed_since(const Event& start) const { return driver_->elapsed_ms(start.handle_, handle_); }

 private:
  Driver* driver_;
  CUevent_st* handle_;
};

/// Device memory. Throws Error(exceeds_device_memory).
class DeviceBuffer {
 public:
  DeviceBuffer(Driver& driver, std::size_t bytes);
  DeviceBuffer(DeviceBuffer&& other) noexcept;
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept;
  ~DeviceBuffer();

  DevicePointer address() const noexcept { return address_; }
  std::size_t size() const noexcept { return bytes_; }

  /// Asynchronous on the stream where the host memory is pinned; `offset` in bytes.
  /// Throws Error(invalid_argument) beyond the end.
  void write(std::span<const std::byte> from, CUstream_st* stream = nullptr, std::size_t offset = 0);
  void read(std::span<std::byte> to, CUstream_st* stream = nullptr, std::size_t offset = 0) const;
  void fill(std::uint8_t value, CUstream_st* stream = nullptr);

 private:
  void require_inside(std::size_t offset, std::size_t bytes) const;

  Driver* driver_;
  DevicePointer address_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace stencil_tune
