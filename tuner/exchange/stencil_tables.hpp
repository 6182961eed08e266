// A stencil's trials as a table of parameters and back.
//
// Parameters are called as families call them, with _ for spaces ("coarsening_depth"); the first is the family. Those
// that a candidate does not use stand at kNoValue. A kernel of the user's own has its definition's parameters. A
// table's origin says what was tuned and with which templates:
//   {"problem": {columns of a problem}, "platform": {driver, ...}, "templates": {"streaming": signature, ...},
//    "parameters": [those of a kernel of the user's own, in its definition's order]}
#pragma once

#include "db/records.hpp"
#include "generator/candidates/tuning.hpp"
#include "tuner/exchange/trial_table.hpp"

#include <map>
#include <optional>
#include <span>
#include <string>

namespace stencil_tune {

/// All parameters of all families, by name.
std::map<std::string, std::string> parameter_values(const Tuning& tuning);

/// The trials of one problem on one GPU; codes that do not parse, and trials whose check would not have noticed a wrong
/// kernel, are left out. Throws Error(invalid_argument) where nothing is left.
TrialTable stencil_table(std::span<const TrialRecord> trials);

struct StencilTrials {
  std::vector<TrialRecord> trials;     ///< none is raced: the next session races the best of them
  std::map<std::string, int> refused;  ///< why a row is no trial of this version, and how many
};

/// The table's rows as trials of the problem that its origin names, or else of `like`'s problem. Those without an
/// origin are stale: which kernel was measured is not known. Throws Error(invalid_argument): neither is there; the
/// table is of another GPU than `like`; the origin is damaged.
StencilTrials stencil_trials(const TrialTable& table, const std::optional<TrialRecord>& like);

}  // namespace stencil_tune
