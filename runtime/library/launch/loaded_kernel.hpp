// One generated kernel, compiled once and loaded once a context.
#pragma once

#include "runtime/compile/compiler.hpp"
#include "runtime/cuda/module.hpp"

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace stencil_tune {

/// Thread-safe. Modules are never unloaded before this object goes.
class LoadedKernel {
 public:
  /// The driver must outlive it. driver_version: "13.0".
  LoadedKernel(Driver& driver, std::shared_ptr<Compiler> compiler, KernelSource source, std::string architecture,
               std::string driver_version);
  LoadedKernel(const LoadedKernel&) = delete;
  LoadedKernel& operator=(const LoadedKernel&) = delete;
  ~LoadedKernel();  ///< waits for what still compiles in the background

  /// Compiles if need be and loads into the current context. shared_bytes: dynamic shared memory of the launches.
  void prepare(std::size_t shared_bytes);

  /// Loads into the current context what needs no compiler any more. False when it needs one.
  bool prepare_without_compiling(std::size_t shared_bytes);

  /// prepare() in a thread of its own, which takes the current context along; once a context. What fails there fails
  /// again, and says why, in the next prepare().
  void prepare_in_background(std::size_t shared_bytes);

  /// Another kernel for the same GPU, by the same compiler.
  std::shared_ptr<LoadedKernel> beside(KernelSource source) const {
    return std::make_shared<LoadedKernel>(driver_, compiler_, std::move(source), architecture_, driver_version_);
  }

  /// The module in a context, null when it was not prepared there.
  const Module* find(std::uint64_t context_id) const;

 private:
  struct InContext {
    std::uint64_t context_id;
    Module module;
  };

  void load(std::uint64_t context_id, std::size_t shared_bytes);

  Driver& driver_;
  std::shared_ptr<Compiler> compiler_;
  KernelSource source_;
  std::string architecture_;
  std::string driver_version_;

  std::mutex preparing_;
  std::optional<CompiledKernel> compiled_;
  mutable std::shared_mutex mutex_;  ///< guards loaded_
  std::deque<InContext> loaded_;     ///< a deque, so that modules stay where launches found them

  std::mutex starting_;  ///< guards what follows
  std::vector<std::uint64_t> started_for_;
  std::vector<std::thread> background_;
};

struct KernelToPrepare {
  LoadedKernel* kernel;
  std::size_t shared_bytes;  ///< LoadedKernel::prepare()'s
};

/// Prepares all of them, of which some may be the same. Those that need the compiler are compiled beside each other,
/// one a core. Throws what stopped the first of those that failed.
void prepare_beside_each_other(Driver& driver, std::span<const KernelToPrepare> kernels);

}  // namespace stencil_tune
