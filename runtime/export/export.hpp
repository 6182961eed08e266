// A candidate as a plain CUDA source file that owes this project nothing: what Kernel::export_cuda and `export` write.
#pragma once

#include "generator/candidates/tuning.hpp"
#include "generator/stencil/problem.hpp"
#include "stencil_tune/export.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace stencil_tune {

/// The kernel, what it uses of the templates, and
///
///     cudaError_t NAME(inputs..., outputs..., nx[, ny[, nz]][, stride_y[, stride_z]], coefficients, stream)
///
/// or, of kernels that make whole steps of a system of fields, all fields in the definition's order and then spare
/// buffers in place of inputs and outputs. For any extents and strides the candidate can serve; it returns
/// cudaErrorInvalidValue for others. Throws Error(invalid_argument) for a name that is no C identifier or is a keyword,
/// Error(illegal_candidate) for a candidate that breaks a constraint for the problem on the architecture.
///
/// single_steps: the candidate for the steps that runs leave over, one each. The file then has NAME_advance too, which
/// makes any number of steps. With several stages the candidate makes whole steps itself. Where both kernels use the
/// same text of the templates, as kernels of one family mostly do, it stands in the file once.
ExportedFiles export_kernel(const Problem& problem, const Tuning& tuning, const ExportOptions& options,
                            const std::optional<Tuning>& single_steps = {});

/// What makes the steps that runs of fused ones leave over: the same kernel for one step, where steps have several
/// stages; else a plain kernel. Nothing for one sweep, which is no run.
std::optional<Tuning> single_steps_of(const Problem& problem, const Tuning& tuning, const std::string& architecture);

/// A C identifier for any text: "3D heat!" -> "s3D_heat_". Words that mean something already get a trailing underscore.
std::string export_name(std::string_view text);

/// The text without line breaks, backslashes and anything but printable ASCII: safe in a // comment.
std::string comment_text(std::string_view text);

}  // namespace stencil_tune
