// Candidates that nobody timed for a problem: what won elsewhere, made legal and carried on by the performance model.
#pragma once

#include "runtime/library/lookup/lookup.hpp"
#include "runtime/model/prediction.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace stencil_tune {

constexpr double kTrusted = 0.7;  // share of a predicted rate that counts beside measured ones: few miss theirs by more

/// What forbids the candidate here; nothing when it may run.
std::optional<std::string> objection(const Problem& problem, const LookupTarget& target, const Tuning& tuning);

/// The candidate as it may run here: as it is, else with the widest vectors that are legal, else with rows that come
/// another way (with_other_copies). Nothing where none of these may.
std::optional<Tuning> adapted(const Problem& problem, const LookupTarget& target, const Tuning& tuning);

/// GStencil/s that the model expects of the candidate; 0 where it cannot run.
double expected_rate(const Problem& problem, const LookupTarget& target, const Tuning& tuning);

struct Predicted {
  Tuning tuning;
  std::size_t start = 0;  ///< which one it comes from
  Prediction prediction;
  std::vector<std::string> passed_over{};  ///< what came before it, and why it does not
};

/// How far candidates may go from what won.
enum class Walk {
  nowhere,
  same_steps,  ///< as many steps in a launch as the start makes
  anywhere,
};

/// What the model has as the fastest: one of the starts, which are all legal here, or what a walk from the best of them
/// to ever better neighbours ends at. The walk has to gain a little, since the starts are known to be good somewhere.
/// Nothing where no start can run.
///
/// Registers are guessed. One of the best few that was compiled before, and of which the model expects less by a tenth
/// or more with its real registers and spills, has to be the best with these.
///
/// Leave-one-out over bench/results/h200 decided how (2026-11-30; bench/README.md): starts are ranked by the model
/// alone. A distance between stencils' forms, on its own or beside the model, chose worse.
/// Recorded candidates decided that real registers count.
std::optional<Predicted> best_by_model(const Problem& problem, const LookupTarget& target,
                                       std::span<const Tuning> starts, Walk walk);

}  // namespace stencil_tune
