// A GPU made of the CPU: memory is the host's, candidates run on the host executor, checking kernels as plain C++ in
// f32, and time is what the test says a launch takes. What verifies and times on a GPU runs here unchanged.
#pragma once

#include "generator/candidates/shape.hpp"
#include "runtime/compile/compiler.hpp"
#include "tests/runtime/fake_driver.hpp"
#include "tuner/executor/executor.hpp"

#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace stencil_tune::testing {

class HostDevice : public FakeDriver {
 public:
  /// A candidate's kernel, ready for DeviceBench. `source` may be that of another one: a kernel that is wrong.
  CompiledKernel load(const Candidate& candidate, const KernelSource& source);
  CompiledKernel load(const std::string& code, const KernelSource& source, unsigned cluster = 1);

  /// A kernel that what runs here compiles by itself: real binaries with this name in an entry run it.
  void add_host_kernel(const KernelSource& source);

  double launch_ms = 60;  ///< time that every launch of a candidate takes
  /// A GPU that slows down: from this launch of one candidate in a row on, each takes so many times as long.
  int tires_after = std::numeric_limits<int>::max();
  std::map<std::string, double> tired;                                ///< by the candidate's code; others do not tire
  int launches = 0;                                                   ///< launches of candidates, so far
  std::map<CUstream_st*, std::set<std::vector<std::byte>>> launched;  ///< by stream: arguments of candidates
  int idle_from = std::numeric_limits<int>::max();  ///< from this launch on candidates compute nothing

  std::size_t free_bytes = std::size_t{1} << 30;
  bool is_full = false;  ///< nothing more can be allocated
  bool takes_packed =
      false;  ///< kernels have parameters of their own, so that launch() would hand them the wrong bytes

  std::size_t free_memory() override { return free_bytes; }
  DevicePointer allocate(std::size_t bytes) override;
  void free(DevicePointer pointer) noexcept override;
  void copy_to_device(DevicePointer to, const void* from, std::size_t bytes, CUstream_st* stream) override;
  void copy_to_host(void* to, DevicePointer from, std::size_t bytes, CUstream_st* stream) override;
  void copy_on_device(DevicePointer to, DevicePointer from, std::size_t bytes, CUstream_st* stream) override;
  void fill_bytes(DevicePointer to, std::uint8_t value, std::size_t bytes, CUstream_st* stream) override;

  CUmod_st* load_module(std::span<const std::byte> cubin) override;
  CUfunc_st* function(CUmod_st* module, const std::string& entry) override;
  int function_attribute(CUfunc_st* function, FunctionAttribute attribute) override;
  void encode_tensor_map(ElementType type, const TensorMapRequest& map, std::span<std::byte> to) override;
  void launch(CUfunc_st* function, const std::array<unsigned, 3>& grid, const std::array<unsigned, 3>& block,
              std::size_t shared_bytes, std::span<const std::byte> argument, CUstream_st* stream) override;
  void launch_packed(CUfunc_st* function, const std::array<unsigned, 3>& grid, const std::array<unsigned, 3>& block,
                     std::size_t shared_bytes, std::span<const std::byte> parameters, CUstream_st* stream) override;
  void record_event(CUevent_st* event, CUstream_st*) override { times_[event] = now_ms_; }
  float elapsed_ms(CUevent_st* start, CUevent_st* stop) override {
    return static_cast<float>(times_[stop] - times_[start]);
  }

  double now_ms() const { return now_ms_; }

 private:
  struct Loaded {
    HostKernel kernel;
    std::string code;
    unsigned cluster = 1;
  };

  void run(CUfunc_st* function, const std::array<unsigned, 3>& grid, const std::array<unsigned, 3>& block,
           std::size_t shared_bytes, std::span<const std::byte> parameters);

  std::vector<std::unique_ptr<Loaded>> loaded_;
  std::map<std::string, HostKernel> host_kernels_;  ///< by the name of C++
  std::map<CUfunc_st*, const HostKernel*> others_;
  std::map<CUfunc_st*, std::string> checks_;  ///< checking kernels by name
  std::map<CUfunc_st*, const Loaded*> candidates_;
  std::map<CUevent_st*, double> times_;
  double now_ms_ = 0;
  const Loaded* running_ = nullptr;
  int in_a_row_ = 0;
};

}  // namespace stencil_tune::testing
