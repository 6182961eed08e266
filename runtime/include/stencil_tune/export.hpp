// A kernel as a plain CUDA source file that owes this project nothing.
#pragma once

#include <string>
#include <vector>

namespace stencil_tune {

/// How a kernel is written out.
struct ExportOptions {
  std::string name{};  ///< the launcher's, a C identifier. Kernel::export_cuda(): empty for one after the stencil
  /// The architecture that is compiled for, "sm_90". Empty: what a Kernel was looked up for, else sm_90.
  std::string architecture{};
  /// Lines for the comment, made harmless before they are written. Kernel::export_cuda(): empty for its evidence.
  std::vector<std::string> provenance{};
  bool with_main = false;     ///< adds a self-check against a plain CPU loop, and a benchmark
  bool split_header = false;  ///< declares the launcher in NAME.h, which the source includes
};

/// What was written.
struct ExportedFiles {
  std::string source{};  ///< NAME.cu
  std::string header{};  ///< NAME.h; empty unless split
};

}  // namespace stencil_tune
