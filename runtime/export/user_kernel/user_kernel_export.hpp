// A configuration of a kernel of the user's own as a CUDA file that needs nothing else.
#pragma once

#include "generator/template_file.hpp"
#include "generator/user_kernel/configuration.hpp"

#include <span>
#include <string>
#include <vector>

namespace stencil_tune {

struct UserKernelExportOptions {
  std::string name;                     ///< name of the launcher, a C identifier
  std::vector<std::string> provenance;  ///< a line of comment each
  bool with_main = false;               ///< adds a check against the reference, and a benchmark
};

/// The parameters as constants, the user's source, and the launcher:
///     cudaError_t NAME(arrays and numbers of the definition, its sizes, cudaStream_t stream)
/// What the definition computes from sizes is no parameter: neither the grid nor such values.
/// Throws Error(invalid_argument) for a name that is none, and for with_main where the reference is a function or
/// stands in another file.
std::string export_user_kernel(const UserKernel& kernel, const ParameterValues& values,
                               const UserKernelExportOptions& options);

/// "self_check/user_kernel_run.cuh"
std::span<const TemplateFile> user_kernel_check_files();

}  // namespace stencil_tune
