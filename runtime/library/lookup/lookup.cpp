#include "runtime/library/lookup/lookup.hpp"

#include "db/stored_code.hpp"
#include "db/winner_choice.hpp"
#include "generator/candidates/space.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

namespace stencil_tune {

namespace {

struct Contender {
  const WinnerRecord* winner;
  Tuning tuning;
  Match match = Match::exact;
  bool stale = false;
  bool other_stencil = false;  ///< another one of the same form won it
  double distance = 0;
  bool other_pitch = false;  ///< won at these extents, but with rows padded otherwise
  bool narrowed = false;     ///< its vectors are narrower than the winner's
  int other_objective = 0;   ///< how far its race's objective is from the one asked for
};

constexpr double kNarrowingPenalty = 0.48;  // ln(2)^2: one axis twice or half as long

bool serves(const ProblemKey& key, const Problem& problem) {
  const bool boundaries_equal =
      std::equal(key.boundaries.begin(), key.boundaries.begin() + problem.extents.rank, problem.boundaries.begin());
  return key.stage == problem.stage && key.type == problem.type && boundaries_equal &&
         (key.steps > 1 || problem.steps == 1 || problem.stage == kWholeStep) &&
         key.extents.rank == problem.extents.rank;
}

std::int64_t pitch_of(const ProblemKey& key) { return key.pitch == 0 ? key.extents.n[0] : key.pitch; }

/// What forbids the candidate here; nothing when it may run.
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

/// The candidate with the widest vectors that are legal here.
std::optional<Tuning> narrowed(const Problem& problem, const LookupTarget& target, Tuning tuning) {
  for (tuning.vector /= 2; tuning.vector >= 1; tuning.vector /= 2) {
    if (!objection(problem, target, tuning)) return tuning;
  }
  return std::nullopt;
}

Match match_of(const Contender& contender, const Problem& problem, const LookupTarget& target) {
  const TrialRecord& trial = contender.winner->trial;
  if (trial.predicted) return Match::predicted;
  if (trial.platform.gpu != target.gpu) return Match::same_architecture;
  const bool same_grid = trial.problem.extents == problem.extents && !contender.other_pitch;
  const bool same_steps = trial.problem.steps >= problem.steps;  // it won among all that the shorter run could fuse
  if (!same_grid || !same_steps || contender.narrowed) return Match::nearest_size;
  if (contender.other_stencil) return Match::same_form;
  return contender.stale ? Match::stale : Match::exact;
}

/// The candidate as it can run here, in `contender`; else what forbids it.
std::optional<std::string> fit(const Problem& problem, const LookupTarget& target, Contender& contender) {
  const auto forbidden = objection(problem, target, contender.tuning);
  if (!forbidden) return std::nullopt;
  const auto fitted = narrowed(problem, target, contender.tuning);
  if (!fitted) return forbidden;
  contender.tuning = *fitted;
  contender.narrowed = true;
  contender.distance += kNarrowingPenalty;
  return std::nullopt;
}

/// The winner as it can run here; nothing, with a note, when it cannot.
std::optional<Contender> contend(const Problem& problem, const std::string& stencil_key, const LookupTarget& target,
                                 const WinnerRecord& winner, std::vector<std::string>& notes) {
  const TrialRecord& trial = winner.trial;
  std::optional<std::string> forbidden;
  try {
    Contender contender{.winner = &winner, .tuning = parse_code(trial.code), .stale = is_stale(trial)};
    if (problem.steps == 1 && sweeps_per_launch(contender.tuning) > 1) return std::nullopt;  // it is for runs: no note
    contender.other_stencil = trial.problem.stencil_key != stencil_key;
    contender.distance = log_distance(trial.problem.extents, problem.extents);
    contender.other_pitch = trial.problem.extents == problem.extents && pitch_of(trial.problem) != problem.pitch;
    contender.other_objective = objective_distance(trial, target.objective);
    forbidden = fit(problem, target, contender);
    contender.match = match_of(contender, problem, target);
    if (!forbidden) return contender;
  } catch (const Error& error) {
    forbidden = error.what();
  }
  notes.push_back(fmt::format("passed over {} of {}: {}", trial.code, to_string(trial.problem.extents), *forbidden));
  return std::nullopt;
}

bool better(const Contender& a, const Contender& b) {
  const auto rank = [](const Contender& c) {
    return std::tuple(c.match, c.stale, c.other_stencil, c.distance, c.other_pitch, c.other_objective,
                      -c.winner->trial.rate, c.winner->trial.id);
  };
  return rank(a) < rank(b);
}

Evidence evidence_of(const Contender& contender, const Problem& problem, const LookupTarget& target,
                     std::vector<std::string> notes) {
  const TrialRecord& trial = contender.winner->trial;
  Evidence evidence{.match = contender.match,
                    .code = code(contender.tuning),
                    .tuned_code = trial.code,
                    .tuned_extents = trial.problem.extents,
                    .tuned_pitch = pitch_of(trial.problem),
                    .gpu = trial.platform.gpu,
                    .driver = trial.platform.driver,
                    .nvrtc = trial.platform.nvrtc,
                    .tuned_at = trial.created_at,
                    .gstencils = trial.rate,
                    .share = trial.share,
                    .notes = std::move(notes)};
  if (contender.other_stencil) {
    evidence.notes.push_back(fmt::format("tuned for {}, which has the same form", trial.problem.stencil_name));
  }
  if (contender.narrowed) {
    evidence.notes.push_back(fmt::format("{} is too wide for this grid: its vectors were narrowed", trial.code));
  }
  if (trial.problem.steps != problem.steps && problem.steps > 1) {
    evidence.notes.push_back(fmt::format("tuned for runs of {} steps", trial.problem.steps));
  }
  if (trial.session == kPretunedSession) {
    evidence.notes.emplace_back("it ships with stencil-tune and was not tuned here");
  }
  if (trial.session == kSiteSession) evidence.notes.emplace_back("it is of the site's database");
  if (!trial.predicted && !target.driver.empty() && trial.platform.driver != target.driver) {
    evidence.notes.push_back(fmt::format("tuned with driver {}, this one is {}", trial.platform.driver, target.driver));
  }
  if (contender.other_objective > 0) {
    evidence.notes.push_back(
        fmt::format("it won by {}: no winner by {} is as near", name(trial.objective), name(target.objective)));
  }
  if (contender.stale) evidence.notes.emplace_back("its template has changed since it was tuned: the rate may differ");
  return evidence;
}

Choice default_choice(const Problem& problem, const LookupTarget& target, std::vector<std::string> notes) {
  std::string reasons;
  for (const Family* family : families()) {
    const auto tuning = default_candidate(*family, problem, target.limits);
    if (!tuning || family->fuses_steps) continue;
    const auto forbidden = objection(problem, target, *tuning);
    const auto usable = forbidden ? narrowed(problem, target, *tuning) : tuning;
    if (usable) {
      return {*usable,
              {.match = Match::default_candidate, .code = code(*usable), .tuned_code = {}, .notes = std::move(notes)}};
    }
    reasons += fmt::format("\n  {}: {}", code(*tuning), *forbidden);
  }
  throw Error(ErrorCode::illegal_candidate,
              fmt::format("no kernel family can serve stencil '{}' in {} on a grid of {} with pitch {} on {}{}",
                          problem.stencil.name, name(problem.type), to_string(problem.extents), problem.pitch,
                          target.architecture, reasons));
}

}  // namespace

double log_distance(const Extents& a, const Extents& b) {
  double sum = 0;
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    const double ratio = std::log(static_cast<double>(a.n[axis]) / static_cast<double>(b.n[axis]));
    sum += ratio * ratio;
  }
  return sum;
}

namespace {

/// A stale contender is compiled where it would win: it is fresh where its machine code is what was timed.
void renew_first(const Problem& problem, const LookupTarget& target, std::vector<Contender>& sorted) {
  if (!target.same_machine_code) return;
  for (Contender& contender : sorted) {
    if (!contender.stale || contender.other_stencil) return;
    const TrialRecord& trial = contender.winner->trial;
    if (!target.same_machine_code(trial, problem_of(trial.problem, problem.stencil))) continue;
    contender.stale = false;
    contender.match = match_of(contender, problem, target);
    return;
  }
}

std::optional<Choice> best_of(const Problem& problem, const LookupTarget& target, std::span<const WinnerRecord> winners,
                              std::vector<std::string>& notes) {
  const std::string key = stencil_key(problem.stencil), form = stencil_form(problem.stencil, problem.stage);
  std::vector<Contender> contenders;
  for (const WinnerRecord& winner : winners) {
    const TrialRecord& trial = winner.trial;
    const bool is_like = trial.problem.stencil_key == key || trial.problem.form == form;
    const bool considered =
        is_like && serves(trial.problem, problem) && trial.platform.architecture == target.architecture;
    if (!considered) continue;
    if (const auto contender = contend(problem, key, target, winner, notes)) contenders.push_back(*contender);
  }
  if (contenders.empty()) return std::nullopt;
  std::sort(contenders.begin(), contenders.end(), better);
  renew_first(problem, target, contenders);
  const auto best = std::min_element(contenders.begin(), contenders.end(), better);
  return Choice{best->tuning, evidence_of(*best, problem, target, notes)};
}

}  // namespace

Choice choose(const Problem& problem, const LookupTarget& target, std::span<const WinnerRecord> winners) {
  std::vector<std::string> notes;
  if (auto choice = best_of(problem, target, winners, notes)) return std::move(*choice);
  return default_choice(problem, target, std::move(notes));
}

std::optional<Choice> choose_winner(const Problem& problem, const LookupTarget& target,
                                    std::span<const WinnerRecord> winners) {
  std::vector<std::string> notes;
  return best_of(problem, target, winners, notes);
}

std::string_view name(Match match) noexcept {
  switch (match) {
    case Match::exact:
      return "exact";
    case Match::stale:
      return "stale";
    case Match::same_form:
      return "same form";
    case Match::nearest_size:
      return "nearest size";
    case Match::same_architecture:
      return "same architecture";
    case Match::predicted:
      return "predicted";
    case Match::default_candidate:
      return "default";
  }
  return {};
}

std::string Evidence::sentence() const {
  std::string text = fmt::format("{} (match: {})", code, name(match));
  const char* mark = match == Match::predicted ? "~" : "";
  if (!tuned_code.empty()) {
    text += fmt::format(": {} at {} on {}: {}{:.1f} GStencil/s, {}{:.0f} % of the copy ceiling, {}",
                        match == Match::predicted ? "predicted" : "tuned", to_string(tuned_extents), gpu, mark,
                        gstencils, mark, 100 * share, tuned_at);
  }
  for (const std::string& note : notes) text += "; " + note;
  return text;
}

}  // namespace stencil_tune
