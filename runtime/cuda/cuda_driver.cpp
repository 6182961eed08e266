// The real Driver: each function is one call of libcuda.
#include "runtime/cuda/driver.hpp"
#include "runtime/cuda/driver_api.hpp"
#include "stencil_tune/error.hpp"

#include <cstring>
#include <utility>

namespace stencil_tune {

namespace {

CUdevice_attribute native(DeviceAttribute attribute) {
  switch (attribute) {
    case DeviceAttribute::max_threads_per_block:
      return CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK;
    case DeviceAttribute::max_registers_per_block:
      return CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK;
    case DeviceAttribute::max_registers_per_multiprocessor:
      return CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR;
    case DeviceAttribute::max_threads_per_multiprocessor:
      return CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR;
    case DeviceAttribute::max_blocks_per_multiprocessor:
      return CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR;
    case DeviceAttribute::max_shared_per_block_optin:
      return CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
    case DeviceAttribute::max_shared_per_multiprocessor:
      return CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR;
    case DeviceAttribute::multiprocessors:
      return CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
    case DeviceAttribute::l2_bytes:
      return CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE;
    case DeviceAttribute::clock_khz:
      return CU_DEVICE_ATTRIBUTE_CLOCK_RATE;
    case DeviceAttribute::memory_clock_khz:
      return CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE;
    case DeviceAttribute::memory_bus_bits:
      return CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH;
    case DeviceAttribute::compute_capability_major:
      return CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR;
    case DeviceAttribute::compute_capability_minor:
      return CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR;
  }
  throw Error(ErrorCode::internal, "a device attribute without a driver number");
}

CUfunction_attribute native(FunctionAttribute attribute) {
  switch (attribute) {
    case FunctionAttribute::registers:
      return CU_FUNC_ATTRIBUTE_NUM_REGS;
    case FunctionAttribute::local_bytes:
      return CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES;
    case FunctionAttribute::static_shared_bytes:
      return CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES;
    case FunctionAttribute::max_threads_per_block:
      return CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK;
  }
  throw Error(ErrorCode::internal, "a function attribute without a driver number");
}

CUtensorMapDataType native(ElementType type) {
  switch (type) {
    case ElementType::f64:
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
    case ElementType::f32:
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    case ElementType::f16:
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    case ElementType::bf16:
      return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    default:
      break;
  }
  throw Error(ErrorCode::internal, "an element type without a tensor map type");
}

class CudaDriver final : public Driver {
 public:
  explicit CudaDriver(DriverApi api) : api_(std::move(api)) {}

  int version() override {
    int version = 0;
    api_.check(api_.driver_version(&version), "ask the driver's version");
    return version;
  }

  int device_count() override {
    int count = 0;
    const CUresult result = initialise();
    if (result == CUDA_ERROR_NO_DEVICE) return 0;
    api_.check(result, "initialise the CUDA driver");
    api_.check(api_.device_count(&count), "count the GPUs");
    return count;
  }

  std::string device_name(int device) override {
    std::array<char, 256> text{};
    api_.check(api_.device_name(text.data(), static_cast<int>(text.size()), handle(device)), "ask the GPU's name");
    return text.data();
  }

  std::array<std::uint8_t, 16> device_uuid(int device) override {
    CUuuid uuid;
    api_.check(api_.device_uuid(&uuid, handle(device)), "ask the GPU's UUID");
    std::array<std::uint8_t, 16> bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(uuid.bytes[i]);
    return bytes;
  }

  std::size_t device_memory(int device) override {
    std::size_t bytes = 0;
    api_.check(api_.device_memory(&bytes, handle(device)), "ask the GPU's memory size");
    return bytes;
  }

  int attribute(int device, DeviceAttribute attribute) override {
    int value = 0;
    api_.check(api_.device_attribute(&value, native(attribute), handle(device)), "ask an attribute of the GPU");
    return value;
  }

  CUctx_st* retain_primary_context(int device) override {
    CUcontext context = nullptr;
    api_.check(api_.primary_retain(&context, handle(device)), "open the GPU's primary context");
    return context;
  }

  void release_primary_context(int device) noexcept override {
    CUdevice handle = 0;
    if (api_.device_get(&handle, device) == CUDA_SUCCESS) api_.primary_release(handle);
  }

  CUctx_st* current_context() override {
    CUcontext context = nullptr;
    api_.check(initialise(), "initialise the CUDA driver");
    api_.check(api_.context_current(&context), "ask for the current context");
    return context;
  }

  void set_current_context(CUctx_st* context) override {
    api_.check(initialise(), "initialise the CUDA driver");
    api_.check(api_.context_set(context), "make the context current");
  }

  std::uint64_t current_context_id() override {
    CUcontext context = current_context();
    if (context == nullptr) return 0;
    // Before CUDA 12.0 the address has to do: a context made where a destroyed one was is then taken for it.
    if (api_.context_id == nullptr) return reinterpret_cast<std::uintptr_t>(context);
    unsigned long long id = 0;
    api_.check(api_.context_id(context, &id), "ask the context's id");
    return id + 1;  // the driver may count from 0, which here means none
  }

  int current_device() override {
    CUdevice device = 0;
    api_.check(initialise(), "initialise the CUDA driver");
    api_.check(api_.context_device(&device), "ask the current context's GPU");
    return device;
  }

  void synchronize_context() override { api_.check(api_.context_synchronize(), "finish the work in the context"); }

  std::size_t free_memory() override {
    std::size_t free = 0;
    std::size_t total = 0;
    api_.check(api_.memory_info(&free, &total), "ask the free device memory");
    return free;
  }

  DevicePointer allocate(std::size_t bytes) override {
    CUdeviceptr pointer = 0;
    api_.check(api_.allocate(&pointer, bytes), "allocate " + std::to_string(bytes) + " bytes of device memory");
    return pointer;
  }

  void free(DevicePointer pointer) noexcept override { api_.free(pointer); }

  bool reaches(int device, DevicePointer pointer) override {
    int ordinal = -1;
    const CUresult result = api_.pointer_attribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, pointer);
    if (result == CUDA_SUCCESS && ordinal == device) return true;
    if (result == CUDA_ERROR_INVALID_VALUE) return reaches_all_host_memory(device);
    api_.check(result, "ask which GPU a pointer belongs to");
    CUmemorytype type = CU_MEMORYTYPE_DEVICE;
    unsigned managed = 0;
    api_.check(api_.pointer_attribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, pointer),
               "ask what a pointer points to");
    api_.check(api_.pointer_attribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, pointer), "ask if memory is managed");
    return type == CU_MEMORYTYPE_HOST || managed != 0;
  }

  int device_of(DevicePointer pointer) override {
    int ordinal = -1;
    const CUresult result = api_.pointer_attribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, pointer);
    if (result == CUDA_ERROR_INVALID_VALUE) return -1;
    api_.check(result, "ask which GPU a pointer belongs to");
    return ordinal;
  }

  void copy_to_device(DevicePointer to, const void* from, std::size_t bytes, CUstream_st* stream) override {
    api_.check(api_.copy_to_device(to, from, bytes, stream), "copy to the GPU");
  }

  void copy_to_host(void* to, DevicePointer from, std::size_t bytes, CUstream_st* stream) override {
    api_.check(api_.copy_to_host(to, from, bytes, stream), "copy from the GPU");
  }

  void copy_on_device(DevicePointer to, DevicePointer from, std::size_t bytes, CUstream_st* stream) override {
    api_.check(api_.copy_on_device(to, from, bytes, stream), "copy on the GPU");
  }

  void copy_region(DevicePointer to, DevicePointer from, const CopyRegion& region, CUstream_st* stream) override {
    CUDA_MEMCPY3D copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = from;
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = to;
    copy.srcPitch = copy.dstPitch = region.row_bytes;
    copy.srcHeight = copy.dstHeight = region.plane_rows;
    copy.WidthInBytes = region.extent[0];
    copy.Height = region.extent[1];
    copy.Depth = region.extent[2];
    api_.check(api_.copy_3d(&copy, stream), "copy part of a field on the GPU");
  }

  void fill_bytes(DevicePointer to, std::uint8_t value, std::size_t bytes, CUstream_st* stream) override {
    api_.check(api_.fill_bytes(to, value, bytes, stream), "fill device memory");
  }

  void fill_words(DevicePointer to, std::uint32_t value, std::size_t words, CUstream_st* stream) override {
    api_.check(api_.fill_words(to, value, words, stream), "fill device memory");
  }

  CUmod_st* load_module(std::span<const std::byte> cubin) override {
    CUmodule module = nullptr;
    api_.check(api_.module_load(&module, cubin.data()), "load a compiled kernel");
    return module;
  }

  void unload_module(CUmod_st* module) noexcept override { api_.module_unload(module); }

  CUfunc_st* function(CUmod_st* module, const std::string& entry) override {
    CUfunction function = nullptr;
    api_.check(api_.module_function(&function, module, entry.c_str()), "find kernel '" + entry + "' in its module");
    return function;
  }

  DeviceSymbol symbol(CUmod_st* module, const std::string& name) override {
    CUdeviceptr address = 0;
    std::size_t bytes = 0;
    api_.check(api_.module_symbol(&address, &bytes, module, name.c_str()),
               "find the symbol '" + name + "' in its module: it must stand outside of namespaces and not be static");
    return {address, bytes};
  }

  int function_attribute(CUfunc_st* function, FunctionAttribute attribute) override {
    int value = 0;
    api_.check(api_.function_get_attribute(&value, native(attribute), function), "ask an attribute of the kernel");
    return value;
  }

  void allow_shared(CUfunc_st* function, std::size_t bytes) override {
    api_.check(
        api_.function_set_attribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, static_cast<int>(bytes)),
        "give the kernel " + std::to_string(bytes) + " bytes of shared memory");
  }

  int resident_blocks(CUfunc_st* function, int threads, std::size_t shared_bytes) override {
    int blocks = 0;
    api_.check(api_.resident_blocks(&blocks, function, threads, shared_bytes), "ask the kernel's occupancy");
    return blocks;
  }

  void encode_tensor_map(ElementType type, const TensorMapRequest& map, std::span<std::byte> to) override {
    if (api_.encode_tensor_map == nullptr) {
      throw Error(ErrorCode::unsupported_driver, "tensor copies need a driver for CUDA 12.0 or newer");
    }
    if (to.size() < sizeof(CUtensorMap)) throw Error(ErrorCode::internal, "no room for a tensor map");
    constexpr std::array<cuuint32_t, 3> kEveryCell{1, 1, 1};
    const std::array<cuuint64_t, 3> extents{map.extents[0], map.extents[1], map.extents[2]};
    const std::array<cuuint64_t, 2> strides{map.strides[0], map.strides[1]};
    const std::array<cuuint32_t, 3> box{map.box[0], map.box[1], map.box[2]};
    CUtensorMap encoded;
    // Promotion to 128 or 256 bytes was 2-4 % faster than none on one NVIDIA H200, 2026-11-21.
    api_.check(api_.encode_tensor_map(&encoded, native(type), 3, reinterpret_cast<void*>(map.address), extents.data(),
                                      strides.data(), box.data(), kEveryCell.data(), CU_TENSOR_MAP_INTERLEAVE_NONE,
                                      CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                                      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
               "encode the tensor map of a field");
    std::memcpy(to.data(), &encoded, sizeof(encoded));
  }

  void launch(CUfunc_st* function, const std::array<unsigned, 3>& grid, const std::array<unsigned, 3>& block,
              std::size_t shared_bytes, std::span<const std::byte> argument, CUstream_st* stream) override {
    // The driver copies as many bytes as the kernel's parameter has and writes nothing back.
    void* parameters[] = {const_cast<std::byte*>(argument.data())};
    api_.check(api_.launch(function, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                           static_cast<unsigned>(shared_bytes), stream, parameters, nullptr),
               "launch the kernel");
  }

  void launch_together(CUfunc_st* function, const std::array<unsigned, 3>& grid, const std::array<unsigned, 3>& block,
                       std::size_t shared_bytes, std::span<const std::byte> argument, CUstream_st* stream) override {
    void* parameters[] = {const_cast<std::byte*>(argument.data())};
    api_.check(api_.launch_together(function, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                                    static_cast<unsigned>(shared_bytes), stream, parameters),
               "launch the kernel's blocks together");
  }

  void launch_packed(CUfunc_st* function, const std::array<unsigned, 3>& grid, const std::array<unsigned, 3>& block,
                     std::size_t shared_bytes, std::span<const std::byte> parameters, CUstream_st* stream) override {
    std::size_t bytes = parameters.size();
    void* packed[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, const_cast<std::byte*>(parameters.data()),
                      CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
    api_.check(api_.launch(function, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                           static_cast<unsigned>(shared_bytes), stream, nullptr, packed),
               "launch the kernel");
  }

  void ignore_captures() override {
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    api_.check(api_.exchange_capture_mode(&mode), "stay apart from stream captures");
  }

  bool captures(CUstream_st* stream) override {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    return api_.is_capturing(stream, &status) != CUDA_SUCCESS || status != CU_STREAM_CAPTURE_STATUS_NONE;
  }

  void begin_capture(CUstream_st* stream) override {
    api_.check(api_.begin_capture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), "capture a stream");
  }

  void drop_capture(CUstream_st* stream) noexcept override {
    CUgraph graph = nullptr;
    api_.end_capture(stream, &graph);
    if (graph != nullptr) api_.graph_destroy(graph);
  }

  CUgraphExec_st* end_capture(CUstream_st* stream, CUgraphExec_st* earlier) override {
    CUgraph graph = nullptr;
    api_.check(api_.end_capture(stream, &graph), "end the capture of a stream");
    CUgraphExec made = earlier;
    const CUresult result = earlier == nullptr ? instantiate(&made, graph) : update(earlier, graph);
    api_.graph_destroy(graph);
    api_.check(result, earlier == nullptr ? "instantiate a graph" : "update a graph");
    return made;
  }

  void launch_graph(CUgraphExec_st* graph, CUstream_st* stream) override {
    api_.check(api_.graph_launch(graph, stream), "launch a graph");
  }

  void destroy_graph(CUgraphExec_st* graph) noexcept override { api_.executable_destroy(graph); }

  CUstream_st* create_stream() override {
    CUstream stream = nullptr;
    api_.check(api_.stream_create(&stream, CU_STREAM_NON_BLOCKING), "create a stream");
    return stream;
  }

  CUstream_st* create_urgent_stream() override {
    constexpr int kFirst = -1000;  // less is more urgent; the driver takes the most urgent that it has
    CUstream stream = nullptr;
    api_.check(api_.stream_create_with_priority(&stream, CU_STREAM_NON_BLOCKING, kFirst), "create a stream");
    return stream;
  }

  void destroy_stream(CUstream_st* stream) noexcept override { api_.stream_destroy(stream); }

  void synchronize_stream(CUstream_st* stream) override {
    api_.check(api_.stream_synchronize(stream), "finish the work on the stream");
  }

  bool stream_done(CUstream_st* stream) override {
    const CUresult result = api_.stream_query(stream);
    if (result == CUDA_ERROR_NOT_READY) return false;
    api_.check(result, "do the work on the stream");
    return true;
  }

  CUevent_st* create_event() override {
    CUevent event = nullptr;
    api_.check(api_.event_create(&event, CU_EVENT_DEFAULT), "create an event");
    return event;
  }

  void destroy_event(CUevent_st* event) noexcept override { api_.event_destroy(event); }

  void record_event(CUevent_st* event, CUstream_st* stream) override {
    api_.check(api_.event_record(event, stream), "record an event");
  }

  void synchronize_event(CUevent_st* event) override { api_.check(api_.event_synchronize(event), "wait for the GPU"); }

  void wait_for_event(CUstream_st* stream, CUevent_st* event) override {
    api_.check(api_.stream_wait_event(stream, event, CU_EVENT_WAIT_DEFAULT), "let a stream wait for another");
  }

  float elapsed_ms(CUevent_st* start, CUevent_st* stop) override {
    float milliseconds = 0;
    api_.check(api_.event_elapsed(&milliseconds, start, stop), "ask the time between two events");
    return milliseconds;
  }

 private:
  /// cuInit once a process; its result is the same ever after.
  CUresult initialise() {
    static const CUresult result = api_.init(0);
    return result;
  }

  /// Allocates, which must not disturb what other threads capture meanwhile.
  CUresult instantiate(CUgraphExec* made, CUgraph graph) {
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    api_.exchange_capture_mode(&mode);
    const CUresult result = api_.graph_instantiate(made, graph, 0);
    api_.exchange_capture_mode(&mode);
    return result;
  }

  CUresult update(CUgraphExec graph, CUgraph with) {
    CUgraphExecUpdateResultInfo info{};
    return api_.executable_update != nullptr ? api_.executable_update(graph, with, &info) : CUDA_ERROR_NOT_SUPPORTED;
  }

  /// Without a call of the driver before: as on GPUs that share the CPU's page tables.
  bool reaches_all_host_memory(int device) {
    int pageable = 0;
    api_.check(api_.device_attribute(&pageable, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, handle(device)),
               "ask if the GPU reaches the host's memory");
    return pageable != 0;
  }

  CUdevice handle(int device) {
    CUdevice handle = 0;
    api_.check(initialise(), "initialise the CUDA driver");
    api_.check(api_.device_get(&handle, device), "open GPU " + std::to_string(device));
    return handle;
  }

  DriverApi api_;
};

}  // namespace

Driver& cuda_driver() {
  // Never destroyed: kernels with static lifetime may be unloaded after it would be.
  static auto* driver = new CudaDriver(DriverApi::open("libcuda.so.1"));
  return *driver;
}

}  // namespace stencil_tune
