#include "runtime/library/lookup/by_model.hpp"

#include "generator/candidates/families/families.hpp"
#include "generator/candidates/space.hpp"
#include "runtime/model/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace stencil_tune {
namespace {

constexpr std::size_t kWalks = 3;      // more starts, or one of each family, gained nothing in leave-one-out
constexpr int kMostRounds = 12;        // a walk's; most end after four
constexpr std::size_t kCompared = 4;   // candidates whose real registers count
constexpr double kContradicted = 0.9;  // share of the rate that guessed registers promise
constexpr double kLeastGain = 1.04;    // what a walk must gain over the best start; 1 to 1.06 did as well

/// The candidate with the widest vectors that are legal here.
std::optional<Tuning> narrowed(const Problem& problem, const LookupTarget& target, Tuning tuning) {
  for (tuning.vector /= 2; tuning.vector >= 1; tuning.vector /= 2) {
    if (!objection(problem, target, tuning)) return tuning;
  }
  return std::nullopt;
}

bool is_faster(const Predicted& a, const Predicted& b) { return a.prediction.gstencils > b.prediction.gstencils; }

/// With real registers and spills where the candidate was compiled before.
Prediction known_or_guessed(const PerformanceModel& model, const LookupTarget& target, const Tuning& tuning) {
  if (!target.compiled) return model.predict(tuning);
  return model.predict(tuning, target.compiled({model.problem(), tuning}));
}

/// The best of the first few up to one that real registers do not contradict.
Predicted best_as_compiled(const PerformanceModel& model, const LookupTarget& target,
                           std::span<const Predicted> sorted) {
  std::optional<Predicted> best;
  std::vector<std::pair<Tuning, std::string>> contradicted;
  for (const Predicted& guessed : sorted.first(std::min(kCompared, sorted.size()))) {
    const Predicted real{guessed.tuning, guessed.start, known_or_guessed(model, target, guessed.tuning)};
    const double kept = real.prediction.gstencils / guessed.prediction.gstencils;
    if (!best || is_faster(real, *best)) best = real;
    if (kept > kContradicted) break;
    contradicted.emplace_back(
        real.tuning, fmt::format("passed over {}: with the {} registers that the compiler gives it the model expects "
                                 "{:.0f} % of its rate",
                                 code(real.tuning), real.prediction.registers, 100 * kept));
  }
  for (const auto& [tuning, note] : contradicted) {
    if (tuning != best->tuning) best->passed_over.push_back(note);
  }
  return *best;
}

/// From neighbour to neighbour, each time to the best.
Predicted end_of_walk(const PerformanceModel& model, const LookupTarget& target, Predicted best, Walk walk) {
  const Space space(model.problem(), target.limits, *best.tuning.family);
  for (int round = 0; round < kMostRounds; ++round) {
    const Predicted before = best;
    for (const Tuning& tuning : space.neighbours(before.tuning)) {
      if (walk == Walk::same_steps && sweeps_per_launch(tuning) != sweeps_per_launch(before.tuning)) continue;
      const Predicted beside{tuning, before.start, model.predict(tuning)};
      if (is_faster(beside, best) && !objection(model.problem(), target, tuning)) best = beside;
    }
    if (best.tuning == before.tuning) break;
  }
  return best;
}

DeviceModel device_of(const LookupTarget& target) {
  if (target.device) return *target.device;
  for (const DeviceModel& model : device_models()) {
    if (model.gpu == target.gpu) return model;
  }
  return model_of_architecture(target.architecture);
}

}  // namespace

std::optional<std::string> objection(const Problem& problem, const LookupTarget& target, const Tuning& tuning) {
  const Candidate candidate(problem, tuning);
  if (const auto violation = first_violation(candidate, target.limits)) {
    return fmt::format("{}: {}", violation->constraint, violation->message);
  }
  const std::size_t needed = required_alignment(candidate);
  if (target.alignment % needed != 0) {
    return fmt::format("alignment: its vectors need addresses that are multiples of {} bytes, {} are promised", needed,
                       target.alignment);
  }
  return std::nullopt;
}

std::optional<Tuning> adapted(const Problem& problem, const LookupTarget& target, const Tuning& tuning) {
  std::vector<Tuning> forms = with_other_copies(tuning);
  forms.insert(forms.begin(), tuning);
  for (const Tuning& form : forms) {
    if (!objection(problem, target, form)) return form;
    if (const auto narrow = narrowed(problem, target, form)) return narrow;
  }
  return std::nullopt;
}

double expected_rate(const Problem& problem, const LookupTarget& target, const Tuning& tuning) {
  return known_or_guessed(PerformanceModel(problem, target.limits, device_of(target)), target, tuning).gstencils;
}

std::optional<Predicted> best_by_model(const Problem& problem, const LookupTarget& target,
                                       std::span<const Tuning> starts, Walk walk) {
  const PerformanceModel model(problem, target.limits, device_of(target));
  std::vector<Predicted> ranked;
  for (std::size_t i = 0; i < starts.size(); ++i) ranked.push_back({starts[i], i, model.predict(starts[i])});
  std::erase_if(ranked, [](const Predicted& start) { return !(start.prediction.gstencils > 0); });
  if (ranked.empty()) return std::nullopt;
  std::stable_sort(ranked.begin(), ranked.end(), is_faster);
  const double best_start = ranked.front().prediction.gstencils;
  const std::size_t walks = walk == Walk::nowhere ? 0 : std::min(kWalks, ranked.size());
  for (std::size_t i = 0; i < walks; ++i) {
    Predicted end = end_of_walk(model, target, ranked[i], walk);
    if (end.prediction.gstencils > kLeastGain * best_start) ranked.push_back(std::move(end));
  }
  std::stable_sort(ranked.begin(), ranked.end(), is_faster);
  return best_as_compiled(model, target, ranked);
}

}  // namespace stencil_tune
