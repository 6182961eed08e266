// The seam to the CUDA driver: what the runtime asks of it, without the CUDA headers.
//
// cuda_driver() is the real one; tests have their own. Handles have the driver's own types, which are also what the
// CUDA runtime API uses (cudaStream_t is CUstream_st*), so that callers pass theirs without a cast.
#pragma once

#include "generator/kernel_source/launch.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

struct CUctx_st;
struct CUmod_st;
struct CUfunc_st;
struct CUstream_st;
struct CUevent_st;
struct CUgraphExec_st;

namespace stencil_tune {

using DevicePointer = std::uint64_t;

enum class DeviceAttribute {
  max_threads_per_block,
  max_registers_per_block,
  max_registers_per_multiprocessor,
  max_threads_per_multiprocessor,
  max_blocks_per_multiprocessor,
  max_shared_per_block_optin,
  max_shared_per_multiprocessor,
  multiprocessors,
  l2_bytes,
  clock_khz,
  memory_clock_khz,
  memory_bus_bits,
  compute_capability_major,
  compute_capability_minor,
};

enum class FunctionAttribute { registers, local_bytes, static_shared_bytes, max_threads_per_block };

/// Cells of a pitched 3D field from its first one on, in bytes along x and rows along y and z.
struct CopyRegion {
  std::array<std::size_t, 3> extent{0, 0, 0};  ///< bytes, rows, planes
  std::size_t row_bytes = 0;                   ///< from one row to the next
  std::size_t plane_rows = 0;                  ///< rows from one plane to the next
};

/// A __constant__ or __device__ variable of a module.
struct DeviceSymbol {
  DevicePointer address = 0;
  std::size_t bytes = 0;
};

/// Every function throws Error when the driver refuses: exceeds_device_memory, no_device, launch_failed, device_lost,
/// timeout, unsupported_driver or invalid_argument, with the driver's own name of the error. Thread-safe.
/// Functions without a device or context argument work on the calling thread's current context.
class Driver {
 public:
  virtual ~Driver() = default;

  virtual int version() = 0;  ///< 13000: the CUDA version the driver supports
  virtual int device_count() = 0;
  virtual std::string device_name(int device) = 0;
  virtual std::array<std::uint8_t, 16> device_uuid(int device) = 0;
  virtual std::size_t device_memory(int device) = 0;
  virtual int attribute(int device, DeviceAttribute attribute) = 0;

  virtual CUctx_st* retain_primary_context(int device) = 0;
  virtual void release_primary_context(int device) noexcept = 0;
  virtual CUctx_st* current_context() = 0;  ///< null when there is none
  virtual void set_current_context(CUctx_st* context) = 0;
  virtual std::uint64_t current_context_id() = 0;  ///< never used twice in a process; 0 when there is no context
  virtual int current_device() = 0;
  virtual void synchronize_context() = 0;
  virtual std::size_t free_memory() = 0;

  virtual DevicePointer allocate(std::size_t bytes) = 0;
  virtual void free(DevicePointer pointer) noexcept = 0;
  /// Whether kernels on the GPU can use what stands there: memory of its own, managed, or the host's where the GPU
  /// reaches it.
  virtual bool reaches(int device, DevicePointer pointer) = 0;
  virtual int device_of(DevicePointer pointer) = 0;  ///< -1 for memory the driver does not know
  virtual void copy_to_device(DevicePointer to, const void* from, std::size_t bytes, CUstream_st* stream) = 0;
  virtual void copy_to_host(void* to, DevicePointer from, std::size_t bytes, CUstream_st* stream) = 0;
  virtual void copy_on_device(DevicePointer to, DevicePointer from, std::size_t bytes, CUstream_st* stream) = 0;
  /// The same region of two fields of equal layout.
  virtual void copy_region(DevicePointer to, DevicePointer from, const CopyRegion& region, CUstream_st* stream) = 0;
  virtual void fill_bytes(DevicePointer to, std::uint8_t value, std::size_t bytes, CUstream_st* stream) = 0;
  virtual void fill_words(DevicePointer to, std::uint32_t value, std::size_t words, CUstream_st* stream) = 0;

  virtual CUmod_st* load_module(std::span<const std::byte> cubin) = 0;
  virtual void unload_module(CUmod_st* module) noexcept = 0;
  virtual CUfunc_st* function(CUmod_st* module, const std::string& entry) = 0;
  virtual DeviceSymbol symbol(CUmod_st* module, const std::string& name) = 0;  ///< a variable of its source
  virtual int function_attribute(CUfunc_st* function, FunctionAttribute attribute) = 0;
  virtual void allow_shared(CUfunc_st* function, std::size_t bytes) = 0;  ///< dynamic shared memory a launch may ask
  virtual int resident_blocks(CUfunc_st* function, int threads, std::size_t shared_bytes) = 0;  ///< per multiprocessor

  /// Host arithmetic only. Throws Error(unsupported_driver) before CUDA 12.0.
  virtual void encode_tensor_map(ElementType type, const TensorMapRequest& map, std::span<std::byte> to) = 0;

  /// One by-value parameter, as generator/kernel_source/source.hpp packs it.
  virtual void launch(CUfunc_st* function, const std::array<unsigned, 3>& grid, const std::array<unsigned, 3>& block,
                      std::size_t shared_bytes, std::span<const std::byte> argument, CUstream_st* stream) = 0;

  /// launch() of blocks that wait for each other: none begins before there is a place for all. Drivers that have such
  /// places in any case have one way for both.
  virtual void launch_together(CUfunc_st* function, const std::array<unsigned, 3>& grid,
                               const std::array<unsigned, 3>& block, std::size_t shared_bytes,
                               std::span<const std::byte> argument, CUstream_st* stream) {
    launch(function, grid, block, shared_bytes, argument, stream);
  }

  /// As many parameters as the kernel has, packed one after the other, each at its natural alignment. Drivers that only
  /// hand bytes on have one way for both.
  virtual void launch_packed(CUfunc_st* function, const std::array<unsigned, 3>& grid,
                             const std::array<unsigned, 3>& block, std::size_t shared_bytes,
                             std::span<const std::byte> parameters, CUstream_st* stream) {
    launch(function, grid, block, shared_bytes, parameters, stream);
  }

  /// Lets this thread load and allocate while other threads capture streams into graphs.
  virtual void ignore_captures() = 0;

  virtual bool captures(CUstream_st* stream) = 0;  ///< its work becomes a graph's; true where that cannot be told
  /// What this thread gives the stream from now on, and others that wait for its events, becomes a graph and is not
  /// done.
  virtual void begin_capture(CUstream_st* stream) = 0;
  virtual void drop_capture(CUstream_st* stream) noexcept = 0;  ///< ends it, also where something in it failed
  /// Ends it. Returns `earlier`, whose launches take the new ones' parameters, or a new graph where that is null. Where
  /// it throws, the capture is over and `earlier` as it was.
  virtual CUgraphExec_st* end_capture(CUstream_st* stream, CUgraphExec_st* earlier) = 0;
  virtual void launch_graph(CUgraphExec_st* graph, CUstream_st* stream) = 0;
  virtual void destroy_graph(CUgraphExec_st* graph) noexcept = 0;  ///< one that runs: once it is done

  virtual CUstream_st* create_stream() = 0;
  /// One whose blocks start before those of other streams that wait for a place on the GPU.
  virtual CUstream_st* create_urgent_stream() { return create_stream(); }
  virtual void destroy_stream(CUstream_st* stream) noexcept = 0;
  virtual void synchronize_stream(CUstream_st* stream) = 0;
  virtual bool stream_done(CUstream_st* stream) = 0;  ///< without waiting; throws what some work on it failed with
  virtual CUevent_st* create_event() = 0;
  virtual void destroy_event(CUevent_st* event) noexcept = 0;
  virtual void record_event(CUevent_st* event, CUstream_st* stream) = 0;
  virtual void synchronize_event(CUevent_st* event) = 0;
  virtual void wait_for_event(CUstream_st* stream, CUevent_st* event) = 0;  ///< later work on the stream does
  virtual float elapsed_ms(CUevent_st* start, CUevent_st* stop) = 0;
};

/// The driver of this machine, opened at first use and initialised once. Creates no context.
/// Throws Error(missing_library) when libcuda.so.1 is not there, Error(unsupported_driver) when it is too old.
Driver& cuda_driver();

}  // namespace stencil_tune
