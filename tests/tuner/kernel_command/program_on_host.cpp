// What makes stencil-tune a program for one GPU that is made of the CPU: its compiler hands sources on, its driver
// compiles and runs them by the host executor. Workers are processes of this program too. Time is made up: a launch
// takes least where its blocks have 128 threads.
#include "runtime/compile/caching_compiler.hpp"
#include "tests/runtime/fake_driver.hpp"
#include "tests/tuner/measure/host_checks.hpp"
#include "tuner/executor/executor.hpp"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <string>

namespace stencil_tune {
namespace {

using testing::is_check;
using testing::run_check;

class SourceCompiler final : public Compiler {
 public:
  CompiledKernel compile(const KernelSource& source, std::string_view /*arch*/) override {
    const auto* bytes = reinterpret_cast<const std::byte*>(source.text.data());
    return {.cubin = {bytes, bytes + source.text.size()}, .entry = source.entry, .resources = {}, .seconds = 0};
  }
  std::string version() const override { return "13.0"; }
};

constexpr double kLaunchMs = 60;

void* host(DevicePointer pointer) { return reinterpret_cast<void*>(static_cast<std::uintptr_t>(pointer)); }

class OnHost final : public FakeDriver {
 public:
  OnHost() { gpus = {{.name = "Host GPU"}}; }

  std::size_t free_memory() override { return std::size_t{1} << 30; }
  DevicePointer allocate(std::size_t bytes) override {
    return reinterpret_cast<std::uintptr_t>(std::aligned_alloc(512, (bytes + 511) / 512 * 512));
  }
  void free(DevicePointer pointer) noexcept override { std::free(host(pointer)); }
  void copy_to_device(DevicePointer to, const void* from, std::size_t bytes, CUstream_st*) override {
    std::memcpy(host(to), from, bytes);
  }
  void copy_to_host(void* to, DevicePointer from, std::size_t bytes, CUstream_st*) override {
    std::memcpy(to, host(from), bytes);
  }
  void copy_on_device(DevicePointer to, DevicePointer from, std::size_t bytes, CUstream_st*) override {
    std::memmove(host(to), host(from), bytes);
  }
  void fill_bytes(DevicePointer to, std::uint8_t value, std::size_t bytes, CUstream_st*) override {
    std::memset(host(to), value, bytes);
  }

  CUmod_st* load_module(std::span<const std::byte> binary) override {
    modules_.push_back({{reinterpret_cast<const char*>(binary.data()), binary.size()}, std::nullopt});
    return reinterpret_cast<CUmod_st*>(modules_.size());
  }
  CUfunc_st* function(CUmod_st* module, const std::string& entry) override {
    Function function{.entry = entry};
    if (!is_check(entry)) {
      auto& [text, library] = modules_.at(reinterpret_cast<std::uintptr_t>(module) - 1);
      const KernelSource source{.text = text, .entry = entry, .is_own = true};
      library.emplace(std::span(&source, 1), std::span<const TemplateFile>());
      function.kernel = library->kernel(entry);
    }
    functions_.push_back(std::move(function));
    return reinterpret_cast<CUfunc_st*>(functions_.size());
  }
  DeviceSymbol symbol(CUmod_st* module, const std::string& name) override {
    const auto variable = modules_.at(reinterpret_cast<std::uintptr_t>(module) - 1).library->variable(name);
    return {reinterpret_cast<std::uintptr_t>(variable.data()), variable.size()};
  }
  int function_attribute(CUfunc_st* function, FunctionAttribute attribute) override {
    return attribute == FunctionAttribute::max_threads_per_block ? 1024
                                                                 : FakeDriver::function_attribute(function, attribute);
  }

  void launch(CUfunc_st* function, const std::array<unsigned, 3>& grid, const std::array<unsigned, 3>& block,
              std::size_t shared_bytes, std::span<const std::byte> argument, CUstream_st* stream) override {
    const Function& what = functions_.at(reinterpret_cast<std::uintptr_t>(function) - 1);
    if (is_check(what.entry)) {
      now_ms_ += kLaunchMs;
      return run_check(what.entry, argument);
    }
    launch_packed(function, grid, block, shared_bytes, argument, stream);
  }
  void launch_packed(CUfunc_st* function, const std::array<unsigned, 3>& grid, const std::array<unsigned, 3>& block,
                     std::size_t shared_bytes, std::span<const std::byte> parameters, CUstream_st*) override {
    const Function& what = functions_.at(reinterpret_cast<std::uintptr_t>(function) - 1);
    const double threads = block[0] * block[1] * block[2];
    now_ms_ += kLaunchMs * (1 + std::fabs(std::log2(threads / 128)));
    const auto fault = what.kernel->run({grid, block, shared_bytes, 1}, parameters, {.order = ThreadOrder::random});
    if (fault) throw Error(ErrorCode::launch_failed, fault->message);
  }
  void record_event(CUevent_st* event, CUstream_st*) override { times_[event] = now_ms_; }
  float elapsed_ms(CUevent_st* start, CUevent_st* stop) override {
    return static_cast<float>(times_[stop] - times_[start]);
  }

 private:
  struct LoadedModule {
    std::string text;
    std::optional<HostLibrary> library;  ///< once its kernel was asked for
  };
  struct Function {
    std::string entry;
    std::optional<HostKernel> kernel{};
  };

  std::deque<LoadedModule> modules_;
  std::deque<Function> functions_;
  std::map<CUevent_st*, double> times_;
  double now_ms_ = 0;
};

}  // namespace

// In place of those in the archive, which are then not linked.
Driver& cuda_driver() {
  static auto* const driver = new OnHost;
  return *driver;
}
std::unique_ptr<Compiler> open_cached_nvrtc(std::string* /*note*/) { return std::make_unique<SourceCompiler>(); }

}  // namespace stencil_tune
