// The C interface with GPUs that are made of the CPU, for the tests of the Python package: kernels are the generated
// ones, run by the host executor. Device memory is whatever memory a test says belongs to a GPU.
#include "runtime/compile/caching_compiler.hpp"
#include "stencil_tune/stencil_tune.h"
#include "tests/runtime/fake_driver.hpp"
#include "tuner/executor/executor.hpp"

#include <cstdint>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>

namespace stencil_tune {
namespace {

/// Hands the source on as what it compiled.
class SourceCompiler final : public Compiler {
 public:
  CompiledKernel compile(const KernelSource& source, std::string_view /*arch*/) override {
    const auto* bytes = reinterpret_cast<const std::byte*>(source.text.data());
    return {.cubin = {bytes, bytes + source.text.size()}, .entry = source.entry, .resources = {}, .seconds = 0};
  }
  std::string version() const override { return "13.0"; }
};

thread_local CUctx_st* context_here = nullptr;  // each thread has its own, as contexts are

class OnHost final : public FakeDriver {
 public:
  OnHost() {
    gpus = {{}, {.name = "Fake GPU", .uuid_start = 0x50}};
    owners[0] = -1;  // memory that nobody has told of belongs to no GPU
  }

  CUctx_st* current_context() override { return context_here; }
  void set_current_context(CUctx_st* context) override { context_here = context; }
  std::uint64_t current_context_id() override { return reinterpret_cast<std::uintptr_t>(context_here); }
  int current_device() override {
    if (context_here == nullptr) throw Error(ErrorCode::invalid_argument, "no current context");
    return static_cast<int>(reinterpret_cast<std::uintptr_t>(context_here)) - 0x100;
  }
  int device_of(DevicePointer pointer) override {
    const std::scoped_lock lock(memory_);
    const auto next = owners.upper_bound(pointer);
    if (next == owners.begin()) return -1;
    const auto found = std::prev(next);
    return found->second;
  }

  void own(DevicePointer start, std::size_t bytes, int device) {
    const std::scoped_lock lock(memory_);
    owners.erase(owners.upper_bound(start), owners.lower_bound(start + bytes));  // arrays that stood here before
    owners.try_emplace(start + bytes, -1);                                       // or the beginning of another array
    owners[start] = device;
  }

  CUmod_st* load_module(std::span<const std::byte> source) override {
    FakeDriver::load_module(source);
    const std::scoped_lock lock(kernels_lock_);
    sources_.emplace_back(reinterpret_cast<const char*>(source.data()), source.size());
    return reinterpret_cast<CUmod_st*>(sources_.size());
  }
  CUfunc_st* function(CUmod_st* module, const std::string& entry) override {
    const std::scoped_lock lock(kernels_lock_);
    const std::string& text = sources_.at(reinterpret_cast<std::uintptr_t>(module) - 1);
    const bool is_own = text.find("#include \"stencil_tune/") == std::string::npos;
    const KernelSource source{.text = text, .entry = entry, .is_own = is_own};
    const auto [known, added] = numbers_.emplace(text, kernels_.size() + 1);
    if (added) kernels_.push_back(HostLibrary(std::span(&source, 1)).kernel(entry));
    return know(reinterpret_cast<CUfunc_st*>(known->second), entry);
  }
  void encode_tensor_map(ElementType type, const TensorMapRequest& map, std::span<std::byte> to) override {
    stencil_tune::encode_tensor_map(map, size_of(type), to);
  }
  void launch(CUfunc_st* function, const std::array<unsigned, 3>& grid, const std::array<unsigned, 3>& block,
              std::size_t shared_bytes, std::span<const std::byte> argument, CUstream_st* stream) override {
    FakeDriver::launch(function, grid, block, shared_bytes, argument, stream);
    const HostKernel* kernel = nullptr;
    {
      const std::scoped_lock lock(kernels_lock_);
      kernel = &kernels_.at(reinterpret_cast<std::uintptr_t>(function) - 1);
    }
    const auto fault = kernel->run({.grid = grid, .block = block, .shared_bytes = shared_bytes}, argument);
    if (fault) throw Error(ErrorCode::launch_failed, fault->message);
  }
  void launch_packed(CUfunc_st* function, const std::array<unsigned, 3>& grid, const std::array<unsigned, 3>& block,
                     std::size_t shared_bytes, std::span<const std::byte> parameters, CUstream_st* stream) override {
    launch(function, grid, block, shared_bytes, parameters, stream);
  }
  DevicePointer allocate(std::size_t bytes) override {
    const auto pointer = reinterpret_cast<DevicePointer>(std::aligned_alloc(512, (bytes + 511) / 512 * 512));
    own(pointer, bytes, current_device());
    return pointer;
  }
  void free(DevicePointer pointer) noexcept override { std::free(reinterpret_cast<void*>(pointer)); }
  void copy_to_device(DevicePointer to, const void* from, std::size_t bytes, CUstream_st* stream) override {
    FakeDriver::copy_to_device(to, from, bytes, stream);
    std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  }
  void copy_to_host(void* to, DevicePointer from, std::size_t bytes, CUstream_st* stream) override {
    FakeDriver::copy_to_host(to, from, bytes, stream);
    std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  }
  void fill_bytes(DevicePointer to, std::uint8_t value, std::size_t bytes, CUstream_st* stream) override {
    FakeDriver::fill_bytes(to, value, bytes, stream);
    std::memset(reinterpret_cast<void*>(to), value, bytes);
  }
  void copy_on_device(DevicePointer to, DevicePointer from, std::size_t bytes, CUstream_st* stream) override {
    FakeDriver::copy_on_device(to, from, bytes, stream);
    std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
  }
  void copy_region(DevicePointer to, DevicePointer from, const CopyRegion& region, CUstream_st* stream) override {
    FakeDriver::copy_region(to, from, region, stream);
    for (std::size_t z = 0; z < region.extent[2]; ++z) {
      for (std::size_t y = 0; y < region.extent[1]; ++y) {
        const std::size_t start = (z * region.plane_rows + y) * region.row_bytes;
        std::memcpy(reinterpret_cast<void*>(to + start), reinterpret_cast<const void*>(from + start), region.extent[0]);
      }
    }
  }

 private:
  std::mutex memory_;
  std::mutex kernels_lock_;
  std::map<std::string, std::size_t> numbers_;  ///< numbers of the kernels that were compiled, by their source
  std::deque<std::string> sources_;
  std::deque<HostKernel> kernels_;
};

OnHost& gpus() {
  static auto* const driver = new OnHost;
  return *driver;
}

}  // namespace

// In place of those in the archive, which are then not linked.
Driver& cuda_driver() { return gpus(); }
std::unique_ptr<Compiler> open_cached_nvrtc(std::string* /*note*/) { return std::make_unique<SourceCompiler>(); }

}  // namespace stencil_tune

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED void on_host_own(std::uintptr_t start, std::size_t bytes, int device) {
  stencil_tune::gpus().own(start, bytes, device);
}

EXPORTED int on_host_count(const char* call) { return stencil_tune::gpus().count(call); }

/// The stream of the last launch.
EXPORTED std::uintptr_t on_host_stream() {
  return reinterpret_cast<std::uintptr_t>(stencil_tune::gpus().launches.back().stream);
}

/// The GPU of the context that is current on this thread; -1: none is.
EXPORTED int on_host_current() {
  return stencil_tune::cuda_driver().current_context() == nullptr ? -1 : stencil_tune::gpus().current_device();
}
