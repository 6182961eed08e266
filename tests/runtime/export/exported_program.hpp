// An exported file with its self-check, run without a GPU: its launchers, NAME_advance and main are the file's own, its
// kernels run on the host executor.
#pragma once

#include "tests/runtime/export/export_cases.hpp"

#include <functional>
#include <string>

namespace stencil_tune {

struct ProgramResult {
  int status = 0;       ///< what main returned
  std::string said{};   ///< on standard output and standard error
  std::string fault{};  ///< the first fault of a kernel; empty where there is none
};

struct ExportedProgram {
  ExportCase exported;
  /// Changes the text of the kernels, or of all else, before they are compiled.
  std::function<std::string(std::string)> change_kernels{}, change_others{};
};

/// Compiles and runs it. Found from the repository's root.
ProgramResult run(const ExportedProgram& program);

}  // namespace stencil_tune
