// Whether a stored trial still speaks for the kernel that it timed, although its template's text has changed.
#pragma once

#include "db/records.hpp"
#include "generator/stencil/problem.hpp"
#include "runtime/compile/compiler.hpp"

#include <functional>
#include <memory>

namespace stencil_tune {

/// Compiles the trial's candidate and compares machine code with what was timed: a renamed local changes none. False
/// where that tells nothing: the trial says no machine code, another NVRTC version made it, or its kernel does not
/// compile any more. `problem` is the trial's. Takes as long as compiling, which a binary cache then spares the launch.
bool has_same_machine_code(const TrialRecord& trial, const Problem& problem, Compiler& compiler);

/// Gives the trial today's signature where has_same_machine_code() holds; returns whether it does. Where no compiler
/// opens, it does not.
bool renew_signature(TrialRecord& trial, const Problem& problem,
                     const std::function<std::unique_ptr<Compiler>()>& open_compiler);

}  // namespace stencil_tune
