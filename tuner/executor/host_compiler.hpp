// Compiles text to a shared object with the machine's C++ compiler.
#pragma once

#include "generator/kernel/source.hpp"

#include <filesystem>
#include <span>
#include <string>

namespace stencil_tune {

/// A folder of its own under the system's temporary folder, removed with all it holds.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

/// Writes the files and the translation unit into the folder and compiles them; returns the shared object's path.
/// Throws Error(missing_library) without a compiler, Error(compile_failed) with the compiler's log.
std::filesystem::path compile_for_host(const std::string& translation_unit, std::span<const TemplateFile> files,
                                       const std::filesystem::path& folder);

}  // namespace stencil_tune
