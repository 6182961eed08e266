// What a Library is made of; tests make one of other parts.
#pragma once

#include "db/records.hpp"
#include "runtime/compiler.hpp"
#include "runtime/device.hpp"
#include "runtime/driver.hpp"
#include "runtime/kernel_state.hpp"
#include "runtime/loaded_kernel.hpp"
#include "runtime/lookup.hpp"
#include "stencil_tune/library.hpp"

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace stencil_tune {

struct LibraryParts {
  std::function<Driver&()> driver;                      ///< called at the first lookup
  std::function<std::shared_ptr<Compiler>()> compiler;  ///< called at the first lookup
  /// Winners that may serve a problem on an architecture; choose() judges them.
  std::function<std::vector<WinnerRecord>(const Problem&, const std::string& architecture)> winners;
  std::function<void()> reload = [] {};
  std::string note{};  ///< for all evidence: why nothing is known, or nothing is cached
};

/// The parts of the machine itself. Opens the database.
LibraryParts open_parts(const LibraryOptions& options);

struct Library::Impl {
  explicit Impl(LibraryParts library_parts) : parts(std::move(library_parts)) {}

  std::shared_ptr<Kernel::State> find_or_make(const Request& request);
  void reload();

 private:
  std::shared_ptr<Kernel::State> make(const Request& request, const DeviceFacts& facts);
  StageKernel make_stage(const Request& request, int stage, const DeviceFacts& facts);
  std::shared_ptr<LoadedKernel> share_loaded(KernelSource source, const DeviceFacts& facts);
  const DeviceFacts& facts_of(int device);
  void drop_unused();

  LibraryParts parts;
  std::mutex mutex_;
  Driver* driver_ = nullptr;
  std::shared_ptr<Compiler> compiler_;
  std::map<int, DeviceFacts> devices_;
  std::unordered_map<std::string, std::shared_ptr<Kernel::State>> kernels_;  ///< by request_digest()
  std::unordered_map<std::string, std::shared_ptr<LoadedKernel>> loaded_;    ///< by device and source text
};

/// Equal for requests that have the same kernel: everything in them but names.
std::string request_digest(const Request& request, int device);

}  // namespace stencil_tune
