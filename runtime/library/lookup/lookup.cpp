#include "runtime/library/lookup/lookup.hpp"

#include "db/stored_code.hpp"
#include "db/winner_choice.hpp"
#include "generator/candidates/space.hpp"
#include "runtime/library/lookup/by_model.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
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
  bool other_pitch = false;                ///< won at these extents, but with rows padded otherwise
  bool adapted = false;                    ///< its vectors are narrower than the winner's, or its rows come another way
  int other_objective = 0;                 ///< how far its race's objective is from the one asked for
  std::vector<std::string> passed_over{};  ///< by the model
  double fitted_rate = 0;  ///< what the model expects of a candidate that it made of the winner's; 0: it made none
};

constexpr double kAdaptingPenalty = 0.48;  // ln(2)^2: one axis twice or half as long

bool serves(const ProblemKey& key, const Problem& problem) {
  const bool boundaries_equal =
      std::equal(key.boundaries.begin(), key.boundaries.begin() + problem.extents.rank, problem.boundaries.begin());
  return key.stage == problem.stage && key.type == problem.type && boundaries_equal &&
         (key.steps > 1 || problem.steps == 1 || problem.stage == kWholeStep) &&
         key.extents.rank == problem.extents.rank;
}

std::int64_t pitch_of(const ProblemKey& key) { return key.pitch == 0 ? key.extents.n[0] : key.pitch; }

Match match_of(const Contender& contender, const Problem& problem, const LookupTarget& target) {
  const TrialRecord& trial = contender.winner->trial;
  if (trial.predicted) return Match::predicted;
  if (trial.platform.gpu != target.gpu) return Match::same_architecture;
  const bool same_grid = trial.problem.extents == problem.extents && !contender.other_pitch;
  const bool same_steps = trial.problem.steps >= problem.steps;  // it won among all that the shorter run could fuse
  if (!same_grid || !same_steps || contender.adapted) return Match::nearest_size;
  if (contender.other_stencil) return Match::same_form;
  return contender.stale ? Match::stale : Match::exact;
}

/// The candidate as it can run here, in `contender`; else what forbids it.
std::optional<std::string> fit(const Problem& problem, const LookupTarget& target, Contender& contender) {
  const auto fitted = adapted(problem, target, contender.tuning);
  if (!fitted) return objection(problem, target, contender.tuning);
  if (*fitted == contender.tuning) return std::nullopt;
  contender.tuning = *fitted;
  contender.adapted = true;
  contender.distance += kAdaptingPenalty;
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

/// What it may cost that the kernel was not timed for just this, and what mends it.
std::string loss_of(Match match, const Problem& problem) {
  const std::string command = tuning_command(problem);
  switch (match) {
    case Match::exact:
    case Match::same_form:
      return {};
    case Match::stale:
      return fmt::format("its template has changed since it was timed: `{}` times it anew", command);
    case Match::nearest_size:
    case Match::same_architecture:
      return fmt::format("it was never timed {}: `{}` may find a faster one",
                         match == Match::nearest_size ? "on this grid for as many steps" : "on this GPU model",
                         command);
    case Match::predicted:
      return fmt::format("it was never timed, and the performance model may be off: `{}` finds the fastest", command);
    case Match::default_candidate:
      break;
  }
  return fmt::format("nothing like it was ever timed, and tuning often finds what is twice as fast: `{}`", command);
}

Evidence evidence_of(const Contender& contender, const Problem& problem, const LookupTarget& target,
                     std::vector<std::string> notes) {
  const TrialRecord& trial = contender.winner->trial;
  Evidence evidence{.match = contender.match,
                    .code = code(contender.tuning),
                    .loss = loss_of(contender.match, problem),
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
  if (contender.adapted) {
    evidence.notes.push_back(
        fmt::format("{} cannot run on this grid: its vectors were narrowed, or its rows come another "
                    "way",
                    trial.code));
  }
  if (contender.fitted_rate > 0) {
    evidence.notes.push_back(fmt::format("the performance model fitted {} to this grid and expects ~{:.0f} GStencil/s",
                                         trial.code, contender.fitted_rate));
  }
  evidence.notes.insert(evidence.notes.end(), contender.passed_over.begin(), contender.passed_over.end());
  if (trial.problem.steps != problem.steps && problem.steps > 1) {
    evidence.notes.push_back(fmt::format("tuned for runs of {} steps", trial.problem.steps));
  }
  if (trial.session == kPretunedSession) {
    evidence.notes.emplace_back("it ships with stencil-tune and was not tuned here");
  }
  if (trial.session.starts_with(kRaceSession)) {
    evidence.notes.push_back(
        fmt::format("it won a {}: `{}` searches for a faster one", trial.session, tuning_command(problem)));
  }
  if (trial.session == kSiteSession) evidence.notes.emplace_back("it is of the site's database");
  if (!trial.predicted && !target.driver.empty() && trial.platform.driver != target.driver) {
    evidence.notes.push_back(fmt::format("tuned with driver {}, this one is {}", trial.platform.driver, target.driver));
  }
  if (contender.other_objective > 0) {
    evidence.notes.push_back(
        fmt::format("it won by {}: no winner by {} is as near", name(trial.objective), name(target.objective)));
  }
  if (contender.stale && contender.match != Match::stale) {
    evidence.notes.emplace_back("its template has changed since it was tuned: the rate may differ");
  }
  return evidence;
}

Choice default_choice(const Problem& problem, const LookupTarget& target, std::vector<std::string> notes) {
  std::string reasons;
  for (const Family* family : families()) {
    const auto tuning = default_candidate(*family, problem, target.limits);
    if (!tuning || family->fuses_steps) continue;
    if (const auto usable = adapted(problem, target, *tuning)) {
      return {*usable,
              {.match = Match::default_candidate,
               .code = code(*usable),
               .loss = loss_of(Match::default_candidate, problem),
               .notes = std::move(notes)}};
    }
    reasons += fmt::format("\n  {}: {}", code(*tuning), objection(problem, target, *tuning).value_or(""));
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

/// What the model makes of all winners whose match is the best one's: where those won on other grids alone it fits them
/// to this one, among other stencils' of the same form it chooses.
Contender by_model(const Problem& problem, const LookupTarget& target, std::span<const Contender> contenders,
                   const Contender& best) {
  const bool same_form = best.match == Match::same_form;
  const bool elsewhere =
      best.match == Match::nearest_size || (best.match == Match::same_architecture && best.distance > 0);
  if (!same_form && !elsewhere) return best;
  std::vector<const Contender*> equals;
  std::vector<Tuning> starts;
  for (const Contender& contender : contenders) {
    const bool is_equal = contender.match == best.match && contender.stale == best.stale &&
                          (elsewhere || contender.other_objective == best.other_objective);
    if (!is_equal || std::find(starts.begin(), starts.end(), contender.tuning) != starts.end()) continue;
    equals.push_back(&contender);
    starts.push_back(contender.tuning);
  }
  const auto predicted = best_by_model(problem, target, starts, same_form ? Walk::nowhere : Walk::same_steps);
  if (!predicted) return best;
  Contender chosen = *equals[predicted->start];
  if (predicted->tuning != chosen.tuning) chosen.fitted_rate = predicted->prediction.gstencils;
  chosen.tuning = predicted->tuning;
  chosen.passed_over = predicted->passed_over;
  return chosen;
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
  const Contender chosen = by_model(problem, target, contenders, *best);
  return Choice{chosen.tuning, evidence_of(chosen, problem, target, notes)};
}

/// The winner's candidate as it can run here, with fewer fused steps where it has to.
std::optional<Tuning> start_of(const Problem& problem, const LookupTarget& target, const TrialRecord& trial) try {
  Tuning tuning = parse_code(trial.code);
  if (!tuning.family->fuses_steps) return adapted(problem, target, tuning);
  for (tuning.steps = std::min(tuning.steps, problem.steps); tuning.steps >= 1; tuning.steps /= 2) {
    if (const auto start = adapted(problem, target, tuning)) return start;
  }
  return std::nullopt;
} catch (const Error&) {  // a code of another version
  return std::nullopt;
}

}  // namespace

std::optional<Choice> predict_choice(const Problem& problem, const LookupTarget& target,
                                     std::span<const WinnerRecord> all) {
  std::vector<Tuning> starts;
  std::vector<const TrialRecord*> origins;
  const auto add_winners = [&](bool of_the_width) {
    for (const WinnerRecord& winner : all) {
      const ProblemKey& key = winner.trial.problem;
      const bool is_like = key.kind == SubjectKind::stencil && key.extents.rank == problem.extents.rank &&
                           (size_of(key.type) == size_of(problem.type)) == of_the_width;
      if (winner.trial.predicted || !is_like) continue;
      const auto start = start_of(problem, target, winner.trial);
      if (!start || std::find(starts.begin(), starts.end(), *start) != starts.end()) continue;
      starts.push_back(*start);
      origins.push_back(&winner.trial);
    }
  };
  add_winners(true);
  if (starts.empty()) add_winners(false);
  const auto best = best_by_model(problem, target, starts, Walk::anywhere);
  if (!best) return std::nullopt;
  Evidence evidence{.match = Match::predicted,
                    .code = code(best->tuning),
                    .loss = loss_of(Match::predicted, problem),
                    .tuned_code = code(best->tuning),
                    .tuned_extents = problem.extents,
                    .tuned_pitch = problem.pitch,
                    .gpu = target.gpu.empty() ? target.architecture : target.gpu,
                    .gstencils = best->prediction.gstencils,
                    .share = best->prediction.share,
                    .notes = best->passed_over};
  const TrialRecord& origin = *origins[best->start];
  evidence.notes.push_back(fmt::format("nothing like it has won: made of {}, which won for {} in {} at {}", origin.code,
                                       origin.problem.stencil_name, name(origin.problem.type),
                                       to_string(origin.problem.extents)));
  return Choice{best->tuning, std::move(evidence)};
}

std::string tuning_command(const Problem& problem) {
  constexpr std::string_view kOfNames = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  std::string stencil = problem.stencil.name;  // a one-liner's: its text, or what parse_stencil() calls it
  if (stencil == "expression") stencil = "...";
  const bool is_text = stencil.find_first_not_of(kOfNames) != std::string::npos;
  std::string command =
      fmt::format("stencil-tune {} --dims {}", is_text ? "--expr '" + stencil + "'" : "--stencil " + stencil,
                  to_string(problem.extents));
  if (problem.pitch != problem.extents.n[0]) command += fmt::format(" --pitch {}", problem.pitch);
  if (problem.type != ElementType::f32) command += fmt::format(" --type {}", name(problem.type));
  if (const std::string boundary = to_string(problem.boundaries, problem.extents.rank); boundary != "hold") {
    command += " --boundary " + boundary;
  }
  if (problem.steps > 1) command += fmt::format(" --steps {}", problem.steps);
  return command;
}

Choice choose(const Problem& problem, const LookupTarget& target, std::span<const WinnerRecord> winners,
              std::span<const WinnerRecord> all) {
  std::vector<std::string> notes;
  if (auto choice = best_of(problem, target, winners, notes)) return std::move(*choice);
  if (auto choice = predict_choice(problem, target, all)) {
    choice->evidence.notes.insert(choice->evidence.notes.end(), notes.begin(), notes.end());
    return std::move(*choice);
  }
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
  if (!loss.empty()) text += ": " + loss;
  if (!tuned_code.empty()) {
    text += fmt::format("{} {} at {} on {}: {}{:.1f} GStencil/s, {}{:.0f} % of the copy ceiling",
                        loss.empty() ? ":" : ";", match == Match::predicted ? "predicted" : "tuned",
                        to_string(tuned_extents), gpu, mark, gstencils, mark, 100 * share);
    if (!tuned_at.empty()) text += ", " + tuned_at;
  }
  for (const std::string& note : notes) text += "; " + note;
  return text;
}

}  // namespace stencil_tune
