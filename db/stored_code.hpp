// The candidates of stored trials: whether they still run, and whether their figures are of today's kernel.
#pragma once

#include "db/records.hpp"
#include "generator/stencil/problem.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace stencil_tune {

/// The problem that was tuned; `stencil` is the one with its key. Throws as make_problem does.
Problem problem_of(const ProblemKey& key, Stencil stencil);

/// What keeps a stored candidate from running, "CODE: reason" and printable; nothing where it can run. Its row is then
/// passed over, wherever trials and winners are read, and said so: one such row never makes a command or a lookup fail.
///   * The code does not parse: a value was retired since, or a newer version wrote it.
///   * It breaks a constraint of the problem on the trial's architecture.
std::optional<std::string> objection_to(const TrialRecord& trial, const Problem& problem);

/// The same where the problem is not at hand: constraints are judged for built-in stencils alone.
std::optional<std::string> objection_to(const TrialRecord& trial);

/// The first of the two alone, for many rows: whether the code parses.
bool is_readable(const TrialRecord& trial);

/// The text of its candidate's template has changed since: unless its kernel compiles to the same machine code
/// (runtime/library/lookup/same_machine_code.hpp), its figures must be taken again before they are trusted.
/// Trials whose code does not parse are never stale: they have no template. Nor are those of kernels, which are other
/// kernels once their source has changed.
bool is_stale(const TrialRecord& trial);

}  // namespace stencil_tune
