// Compiles text to a shared object with the machine's C++ compiler.
#pragma once

#include "generator/kernel_source/source.hpp"
#include "runtime/process/patience.hpp"

#include <filesystem>
#include <span>
#include <string>

namespace stencil_tune {

/// Writes the files and the translation unit into the folder and compiles them; returns the shared object's path.
/// Throws Error(missing_library) without a compiler, Error(compile_failed) with the compiler's log, Error(timeout) when
/// patience is over before it is done.
std::filesystem::path compile_for_host(const std::string& translation_unit, std::span<const TemplateFile> files,
                                       const std::filesystem::path& folder, const Patience& patience);

}  // namespace stencil_tune
