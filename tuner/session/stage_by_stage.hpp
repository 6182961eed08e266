// A step of several stages, made by the kernels of its stages one after the other: what whole steps are compared with,
// and what makes them where nothing is faster.
#pragma once

#include "db/records.hpp"
#include "generator/stencil/problem.hpp"

#include <span>

namespace stencil_tune {

/// As a trial of the step, which no database has: times add up, registers and shared memory are those of the kernel
/// that needs most. `stages`: one of each stage, in order, all of one platform.
TrialRecord stage_by_stage(const Problem& step, std::span<const TrialRecord> stages);

/// How many kernels make the step of such a trial, one after the other; 1 of any other.
int passes_of(const TrialRecord& trial);

}  // namespace stencil_tune
