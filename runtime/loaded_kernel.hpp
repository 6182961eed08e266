// One generated kernel, compiled once and loaded once a context.
#pragma once

#include "runtime/compiler.hpp"
#include "runtime/module.hpp"

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>

namespace stencil_tune {

/// Thread-safe. Modules are never unloaded before this object goes.
class LoadedKernel {
 public:
  /// The driver must outlive it. driver_version: "13.0".
  LoadedKernel(Driver& driver, std::shared_ptr<Compiler> compiler, KernelSource source, std::string architecture,
               std::string driver_version);
  LoadedKernel(const LoadedKernel&) = delete;
  LoadedKernel& operator=(const LoadedKernel&) = delete;
  ~LoadedKernel();

  /// Compiles if need be and loads into the current context. shared_bytes: dynamic shared memory of the launches.
  void prepare(std::size_t shared_bytes);

  /// The module in a context, null when it was not prepared there.
  const Module* find(std::uint64_t context_id) const;

 private:
  struct InContext {
    std::uint64_t context_id;
    Module module;
  };

  Driver& driver_;
  std::shared_ptr<Compiler> compiler_;
  KernelSource source_;
  std::string architecture_;
  std::string driver_version_;

  std::mutex preparing_;
  std::optional<CompiledKernel> compiled_;
  mutable std::shared_mutex mutex_;  ///< guards loaded_
  std::deque<InContext> loaded_;     ///< a deque, so that modules stay where launches found them
};

}  // namespace stencil_tune
