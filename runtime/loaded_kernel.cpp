#include "runtime/loaded_kernel.hpp"

#include "runtime/nvrtc_api.hpp"
#include "stencil_tune/error.hpp"

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
  const std::scoped_lock preparing(preparing_);
  if (find(context) != nullptr) return;
  if (!compiled_) {
    require_driver_accepts(compiler_->version(), driver_version_);
    compiled_ = compiler_->compile(source_, architecture_);
  }
  Module module(driver_, *compiled_);
  module.allow_shared(shared_bytes);
  const std::unique_lock lock(mutex_);
  loaded_.push_back({context, std::move(module)});
}

const Module* LoadedKernel::find(std::uint64_t context_id) const {
  const std::shared_lock lock(mutex_);
  for (const InContext& each : loaded_) {
    if (each.context_id == context_id) return &each.module;
  }
  return nullptr;
}

}  // namespace stencil_tune
