#include "runtime/library/launch/loaded_kernel.hpp"

#include "runtime/compile/nvrtc_api.hpp"
#include "runtime/process/forked.hpp"
#include "stencil_tune/error.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <utility>

namespace stencil_tune {

LoadedKernel::LoadedKernel(Driver& driver, std::shared_ptr<Compiler> compiler, KernelSource source,
                           std::string architecture, std::string driver_version)
    : driver_(driver),
      compiler_(std::move(compiler)),
      source_(std::move(source)),
      architecture_(std::move(architecture)),
      driver_version_(std::move(driver_version)) {}

LoadedKernel::~LoadedKernel() {
  for (std::thread& thread : background_) thread.join();
  std::uint64_t current = 0;
  try {
    current = driver_.current_context_id();
  } catch (const Error&) {
    // A lost device: nothing can be unloaded any more.
  }
  for (InContext& each : loaded_) {
    if (each.context_id != current) each.module.abandon();
  }
}

void LoadedKernel::prepare(std::size_t shared_bytes) {
  const std::uint64_t context = driver_.current_context_id();
  const InsideLibrary inside;
  const std::scoped_lock preparing(preparing_);
  if (find(context) != nullptr) return;
  if (!compiled_) {
    require_driver_accepts(compiler_->version(), driver_version_);
    compiled_ = compiler_->compile(source_, architecture_);
  }
  load(context, shared_bytes);
}

bool LoadedKernel::prepare_without_compiling(std::size_t shared_bytes) {
  const std::uint64_t context = driver_.current_context_id();
  if (find(context) != nullptr) return true;
  const InsideLibrary inside;
  const std::unique_lock preparing(preparing_, std::try_to_lock);
  if (!preparing) return false;  // it is being compiled
  if (find(context) != nullptr) return true;
  if (!compiled_) compiled_ = compiler_->find_compiled(source_, architecture_);
  if (!compiled_) return false;
  load(context, shared_bytes);
  return true;
}

void LoadedKernel::prepare_in_background(std::size_t shared_bytes) {
  CUctx_st* context = driver_.current_context();
  const std::uint64_t context_id = driver_.current_context_id();
  const InsideLibrary inside;
  const std::scoped_lock lock(starting_);
  if (std::find(started_for_.begin(), started_for_.end(), context_id) != started_for_.end()) return;
  background_.emplace_back([this, context, shared_bytes] {
    try {
      driver_.set_current_context(context);
      driver_.ignore_captures();
      prepare(shared_bytes);
    } catch (const std::exception&) {
      // Who waits for the kernel calls prepare() and is told; who does not goes on with what runs meanwhile.
    }
  });
  started_for_.push_back(context_id);
}

void LoadedKernel::load(std::uint64_t context_id, std::size_t shared_bytes) {
  Module module(driver_, *compiled_);
  module.allow_shared(shared_bytes);
  const std::unique_lock lock(mutex_);
  loaded_.push_back({context_id, std::move(module)});
}

const Module* LoadedKernel::find(std::uint64_t context_id) const {
  const std::shared_lock lock(mutex_);
  for (const InContext& each : loaded_) {
    if (each.context_id == context_id) return &each.module;
  }
  return nullptr;
}

void prepare_beside_each_other(Driver& driver, std::span<const KernelToPrepare> kernels) {
  std::vector<KernelToPrepare> to_compile;
  for (const KernelToPrepare& each : kernels) {
    const auto same = [&](const KernelToPrepare& other) { return other.kernel == each.kernel; };
    if (std::any_of(to_compile.begin(), to_compile.end(), same)) continue;
    if (!each.kernel->prepare_without_compiling(each.shared_bytes)) to_compile.push_back(each);
  }
  if (to_compile.size() == 1) return to_compile.front().kernel->prepare(to_compile.front().shared_bytes);
  CUctx_st* const context = driver.current_context();
  std::atomic<std::size_t> next = 0;
  std::vector<std::exception_ptr> failures(to_compile.size());
  const auto work = [&] {
    for (std::size_t i = next++; i < to_compile.size(); i = next++) {
      try {
        driver.set_current_context(context);
        driver.ignore_captures();
        to_compile[i].kernel->prepare(to_compile[i].shared_bytes);
      } catch (...) {
        failures[i] = std::current_exception();
      }
    }
  };
  std::vector<std::thread> threads;
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  for (std::size_t i = 0; i < std::min(cores, to_compile.size()); ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace stencil_tune
