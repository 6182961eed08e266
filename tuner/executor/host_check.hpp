// Are candidates right? Runs their kernels on the host executor and compares every cell with the reference.
#pragma once

#include "generator/candidates/tuning.hpp"
#include "generator/kernel_source/source.hpp"
#include "generator/stencil/problem.hpp"
#include "runtime/process/patience.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace stencil_tune {

/// One kernel and the grids it is tried on: problems that differ in extents and pitch alone.
struct HostCase {
  Tuning tuning;
  std::vector<Problem> problems;
  std::optional<Problem> generated_for;  ///< what the kernel is generated for, when not for the first of them
};

struct HostVerdict {
  Tuning tuning;
  bool right = false;
  std::string message;             ///< what was wrong first, where, and how the threads ran
  std::int64_t cells_checked = 0;  ///< compared with the reference; 0 when no grid had anything to update
};

/// Each grid is updated three times, with threads in ascending, descending and random order, on arrays that lie against
/// guard pages; once it is a part of the updated box only, with NaN and infinities among the cells, and once (where the
/// stencil has such) on numbers whose result is known to the bit. Several fused steps are checked on numbers that would
/// show a wrong kernel (tuner/verify/sharpness.hpp); where there are none, the verdict is that they cannot be verified.
/// Cells outside the box must stay as they were, row padding and inputs too. All kernels are compiled together. Throws
/// what HostLibrary's constructor throws, Error(timeout) also while they run, and Error(invalid_argument) for a stencil
/// whose results may be anything in most cells.
std::vector<HostVerdict> check_cases_on_host(std::span<const HostCase> cases,
                                             std::span<const TemplateFile> files = template_files(),
                                             const Patience& patience = {});

/// The same for many candidates on one small grid; verdicts in the order of the candidates.
std::vector<HostVerdict> check_on_host(const Problem& problem, std::span<const Tuning> tunings,
                                       const Patience& patience = {});

}  // namespace stencil_tune
