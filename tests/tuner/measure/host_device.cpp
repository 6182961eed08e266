#include "tests/tuner/measure/host_device.hpp"

#include "generator/kernel_source/launch.hpp"
#include "stencil_tune/error.hpp"
#include "tests/tuner/measure/host_checks.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace stencil_tune::testing {
namespace {

constexpr std::size_t kAlignment = 512;  // as the driver's allocations have

void* host(DevicePointer pointer) { return reinterpret_cast<void*>(static_cast<std::uintptr_t>(pointer)); }

}  // namespace

CompiledKernel HostDevice::load(const Candidate& candidate, const KernelSource& source) {
  return load(code(candidate.tuning()), source, launch_geometry(candidate, updated_box(candidate.problem())).cluster);
}

void HostDevice::add_host_kernel(const KernelSource& source) {
  const KernelSource sources[] = {source};
  host_kernels_.emplace(source.entry, HostLibrary(sources).kernel(source.entry));
}

CompiledKernel HostDevice::load(const std::string& code, const KernelSource& source, unsigned cluster) {
  const KernelSource sources[] = {source};
  const HostLibrary library(sources);
  loaded_.push_back(std::make_unique<Loaded>(Loaded{library.kernel(source.entry), code, cluster}));
  CompiledKernel compiled;
  compiled.entry = source.entry;
  compiled.cubin.assign(1, static_cast<std::byte>(loaded_.size() - 1));
  return compiled;
}

DevicePointer HostDevice::allocate(std::size_t bytes) {
  if (is_full) throw Error(ErrorCode::exceeds_device_memory, "made to be full");
  void* memory = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  if (memory == nullptr) throw Error(ErrorCode::exceeds_device_memory, "no memory");
  return reinterpret_cast<std::uintptr_t>(memory);
}

void HostDevice::free(DevicePointer pointer) noexcept { std::free(host(pointer)); }

void HostDevice::copy_to_device(DevicePointer to, const void* from, std::size_t bytes, CUstream_st*) {
  std::memcpy(host(to), from, bytes);
}

void HostDevice::copy_to_host(void* to, DevicePointer from, std::size_t bytes, CUstream_st*) {
  std::memcpy(to, host(from), bytes);
}

void HostDevice::copy_on_device(DevicePointer to, DevicePointer from, std::size_t bytes, CUstream_st*) {
  std::memmove(host(to), host(from), bytes);
}

void HostDevice::fill_bytes(DevicePointer to, std::uint8_t value, std::size_t bytes, CUstream_st*) {
  std::memset(host(to), value, bytes);
}

/// A module is the number of a candidate, counted from one, or all checks: real binaries, which are longer.
CUmod_st* HostDevice::load_module(std::span<const std::byte> cubin) {
  const std::uintptr_t number = cubin.size() == 1 ? static_cast<std::uintptr_t>(cubin[0]) + 1 : 1000;
  return reinterpret_cast<CUmod_st*>(number);
}

CUfunc_st* HostDevice::function(CUmod_st* module, const std::string& entry) {
  CUfunc_st* const handle = FakeDriver::function(module, entry);
  const auto number = reinterpret_cast<std::uintptr_t>(module);
  if (number <= loaded_.size()) {
    candidates_[handle] = loaded_[number - 1].get();
  } else if (is_check(entry)) {
    checks_[handle] = entry;
  } else {
    const auto known = std::find_if(host_kernels_.begin(), host_kernels_.end(),
                                    [&](const auto& each) { return entry.find(each.first) != std::string::npos; });
    if (known == host_kernels_.end()) throw Error(ErrorCode::internal, "the host device does not know " + entry);
    others_[handle] = &known->second;
  }
  return handle;
}

int HostDevice::function_attribute(CUfunc_st* function, FunctionAttribute attribute) {
  return attribute == FunctionAttribute::max_threads_per_block ? 1024
                                                               : FakeDriver::function_attribute(function, attribute);
}

void HostDevice::encode_tensor_map(ElementType type, const TensorMapRequest& map, std::span<std::byte> to) {
  stencil_tune::encode_tensor_map(map, size_of(type), to);
}

void HostDevice::launch(CUfunc_st* function, const std::array<unsigned, 3>& grid, const std::array<unsigned, 3>& block,
                        std::size_t shared_bytes, std::span<const std::byte> argument, CUstream_st* stream) {
  if (candidates_.contains(function)) launched[stream].emplace(argument.begin(), argument.end());
  if (takes_packed && !checks_.contains(function)) throw Error(ErrorCode::internal, "these parameters must be packed");
  run(function, grid, block, shared_bytes, argument);
}

void HostDevice::launch_packed(CUfunc_st* function, const std::array<unsigned, 3>& grid,
                               const std::array<unsigned, 3>& block, std::size_t shared_bytes,
                               std::span<const std::byte> parameters, CUstream_st*) {
  run(function, grid, block, shared_bytes, parameters);
}

void HostDevice::run(CUfunc_st* function, const std::array<unsigned, 3>& grid, const std::array<unsigned, 3>& block,
                     std::size_t shared_bytes, std::span<const std::byte> argument) {
  if (const auto check = checks_.find(function); check != checks_.end()) return run_check(check->second, argument);
  if (const auto other = others_.find(function); other != others_.end()) {
    if (const auto fault = other->second->run({grid, block, shared_bytes, 1}, argument)) {
      throw Error(ErrorCode::launch_failed, fault->message);
    }
    return;
  }
  const Loaded& loaded = *candidates_.at(function);
  in_a_row_ = running_ == &loaded ? in_a_row_ + 1 : 0;
  running_ = &loaded;
  const auto slower = tired.find(loaded.code);
  now_ms_ += launch_ms * (in_a_row_ >= tires_after && slower != tired.end() ? slower->second : 1);
  if (launches++ >= idle_from) return;
  if (const auto fault = loaded.kernel.run({grid, block, shared_bytes, loaded.cluster}, argument)) {
    throw Error(ErrorCode::launch_failed, fault->message);
  }
}

}  // namespace stencil_tune::testing
