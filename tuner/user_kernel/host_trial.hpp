// Configurations of a kernel on the CPU: whether they are right, on small sizes.
#pragma once

#include "generator/user_kernel/configuration.hpp"
#include "runtime/process/patience.hpp"

#include <optional>
#include <string>
#include <vector>

namespace stencil_tune {

/// The kernel with sizes so small that the CPU runs it in no time: the first of some odd and even ones that leave a
/// legal configuration, none above what was asked for. Nothing where none does.
std::optional<UserKernel> with_small_sizes(const UserKernel& kernel);

/// Runs the configuration and the reference on the host executor. What is wrong, in a sentence; nothing where it is
/// right. Throws Error: missing_library without a host compiler, compile_failed where it cannot compile the source,
/// timeout.
std::optional<std::string> wrong_on_host(const UserKernel& kernel, const ParameterValues& values,
                                         const Patience& patience);

}  // namespace stencil_tune
