#include "tuner/session/zone_tuning.hpp"

#include "db/stored_code.hpp"
#include "db/winner_store.hpp"
#include "generator/candidates/space.hpp"
#include "generator/cut/zones.hpp"
#include "runtime/library/lookup/site_winners.hpp"
#include "tuner/session/divided_budget.hpp"
#include "tuner/session/trials/trial_record.hpp"
#include "tuner/subject/stencil_subject.hpp"
#include "tuner/terminal/counted.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <span>

namespace stencil_tune {
namespace {

constexpr int kMostRounds = 3;          // numbers of steps whose largest zone is tuned
constexpr double kLeastLargestS = 16;   // seconds of the largest zone for one of them
constexpr double kLargestShare = 0.4;   // the largest zones' share of the budget
constexpr std::size_t kManyFields = 4;  // that steps change; of more two steps are begun with in planes too
constexpr double kTinyZone = 0.00005;   // share of the cells below which a zone is not tuned
constexpr double kSmallShare = 0.2;     // the small ones' share of the budget
constexpr double kLeastSmallS = 10;     // seconds of one: its first candidates compile for as long as others'
constexpr double kEqualShare = 0.7;     // what all zones of a round share alike; the rest goes by their cells
/// Zones that run at once while one is timed: others fill what the last blocks of a launch leave idle.
constexpr double kLeastBeside = 2, kMostBeside = 16;
constexpr double kLayerWeight = 6;  // a cell in a layer beside one inside: slower, and less is known of it

double cells_of(const Problem& problem) { return static_cast<double>(updated_box(problem).cells()); }

/// How many steps a launch of these zones makes.
int steps_of_launch(const ZonedSteps& zoned) { return std::max(zoned.steps, 1); }

/// Those that are worth a session.
std::vector<ZonedSteps::Part> parts_of(const Problem& step, int steps) {
  std::vector<ZonedSteps::Part> parts;
  for (const std::vector<Zone>& all : zone_passes(step, steps)) {
    const std::size_t first = parts.size();
    const double in_layers = cells_of(step) - cells_of(all.front().problem);
    for (const Problem& problem : zone_problems(all)) {
      if (cells_of(problem) < kTinyZone * cells_of(step)) continue;
      const double beside = std::clamp(std::round(in_layers / cells_of(problem)), kLeastBeside, kMostBeside);
      ZonedSteps::Part part{
          .name = "", .zones = 0, .problem = problem, .beside = static_cast<int>(beside), .winner = std::nullopt};
      for (const Zone& zone : all) {
        if (zone.problem.extents != problem.extents || zone.problem.stencil.fields != problem.stencil.fields) continue;
        part.name = zone.name;
        ++part.zones;
      }
      parts.push_back(part);
    }
    if (parts.size() > first) parts[first].is_largest = true;
  }
  return parts;
}

bool is_small(const Problem& step, const ZonedSteps::Part& part) {
  return cells_of(part.problem) < kSmallZone * cells_of(step);
}

double weight_of(const ZonedSteps::Part& part) {
  return part.zones * cells_of(part.problem) * (part.is_largest ? 1 : kLayerWeight);
}

/// Zones in layers run beside others, and are too small to heat a GPU: they race in bursts, which leaves their search
/// the time that a race under load takes.
Objective objective_of(const ZonedSteps::Part& part, Objective asked) {
  return asked == Objective::time && !part.is_largest ? Objective::burst : asked;
}

/// One after the other, each with its share of the budget.
void tune_parts(std::span<ZonedSteps::Part* const> parts, const Target& target, const TuningSettings& settings,
                Database& database, SessionObserver& observer) {
  DividedBudget budget(settings);
  double weights = 0;
  for (const ZonedSteps::Part* part : parts) weights += weight_of(*part);
  for (ZonedSteps::Part* part : parts) {
    if (*settings.stop) return;
    observer.waiting(fmt::format("tuning {} of zone {}", counted(target.limits.least_fused_steps, "step"), part->name));
    const double by_cells = weight_of(*part) / weights, equal = 1.0 / static_cast<double>(parts.size());
    TuningSettings of_part = budget.next(kEqualShare * equal + (1 - kEqualShare) * by_cells);
    of_part.beside = part->beside;
    of_part.session.objective = objective_of(*part, settings.session.objective);
    of_part.session.bursts_alone = of_part.session.objective == Objective::burst;
    part->winner = tune_stencil(part->problem, target, of_part, database, observer).result.winner;
  }
}

int rounds_within(double budget_s) {
  return static_cast<int>(std::clamp(kLargestShare * budget_s / kLeastLargestS, 1.0, static_cast<double>(kMostRounds)));
}

/// What a grid may reach with so many steps at once, by its largest zone alone: with each step zones in layers see more
/// of what lies around them.
double promise_of(const Problem& step, const ZonedSteps& zoned) {
  if (zoned.parts.empty() || !zoned.parts.front().winner) return 0;
  const ZonedSteps::Part& largest = zoned.parts.front();
  const double in_layers = 1 - cells_of(largest.problem) / cells_of(step);
  return largest.winner->rate / (1 + zoned.steps * in_layers);
}

auto most_promising(const Problem& step, const std::vector<ZonedSteps>& all) {
  return std::max_element(all.begin(), all.end(), [&](const ZonedSteps& a, const ZonedSteps& b) {
    return promise_of(step, a) < promise_of(step, b);
  });
}

/// What earlier sessions found for numbers of steps of which they tuned all zones.
std::vector<ZonedSteps> found_before(const Problem& step, const Target& target, Objective objective,
                                     Database& database) {
  std::vector<ZonedSteps> found;
  for (int steps = kByStages; steps <= std::min(kMostStepsInZones, step.steps); ++steps) {
    ZonedSteps zoned{.steps = steps, .parts = parts_of(step, steps)};
    for (ZonedSteps::Part& part : zoned.parts) {
      const Objective raced_by =
          race_objective(objective_of(part, objective), steps_of_launch(zoned), target.predicted());
      const auto winner = WinnerStore(database).find(problem_key(part.problem), target.gpu(), raced_by);
      if (winner) part.winner = winner->trial;
    }
    if (in_zones(step, zoned)) found.push_back(std::move(zoned));
  }
  return found;
}

/// all.end() where none has a winner for each zone.
template <class All>
auto fastest(const Problem& step, All& all) {
  auto best = all.end();
  double best_rate = 0;
  for (auto each = all.begin(); each != all.end(); ++each) {
    const auto trial = in_zones(step, *each);
    if (!trial || trial->rate <= best_rate) continue;
    best = each;
    best_rate = trial->rate;
  }
  return best;
}

/// What made the inside of a grid of another size fastest; two, or four in planes of few fields.
int first_steps(const Problem& step, const Target& target, Database& database) {
  const Problem inside = zones(step, 1).front().problem;
  const ProblemKey key = problem_key(inside);
  const WinnerQuery alike{
      .stencil_key = key.stencil_key, .stage = key.stage, .type = key.type, .gpu = target.gpu(), .count_trials = false};
  int first = step.extents.rank == 3 || inside.step.state.size() > kManyFields ? 2 : 4;
  double best_rate = 0;
  for (const WinnerRecord& winner : winners_of_all_layers(&database, alike)) {
    if (winner.trial.rate <= best_rate || !is_readable(winner.trial)) continue;
    best_rate = winner.trial.rate;
    first = sweeps_per_launch(parse_code(winner.trial.code));
  }
  return std::min({first, step.steps, kMostStepsInZones});
}

void put(ZonedSteps zoned, std::vector<ZonedSteps>& all) {
  std::erase_if(all, [&](const ZonedSteps& known) { return known.steps == zoned.steps; });
  all.push_back(std::move(zoned));
}

}  // namespace

bool have_kernels(const Problem& step, int steps, Limits limits) {
  limits.least_fused_steps = steps;
  const std::vector<Problem> problems = zone_problems(zones(step, steps));
  return !problems.empty() && std::all_of(problems.begin(), problems.end(), [&](const Problem& problem) {
    std::mt19937_64 random(1);
    return Space(problem, limits).sample(random).has_value();
  });
}

std::optional<int> next_steps(int first, int most, const Problem& step, const std::vector<ZonedSteps>& tried) {
  const bool has_best = !tried.empty() && promise_of(step, *most_promising(step, tried)) > 0;
  const int best = has_best ? most_promising(step, tried)->steps : std::min(first, most);
  for (const int steps : {has_best ? best + 1 : best, best - 1, 1}) {
    const bool is_known =
        std::any_of(tried.begin(), tried.end(), [&](const auto& each) { return each.steps == steps; });
    if (steps >= 1 && steps <= most && !is_known) return steps;
  }
  return std::nullopt;
}

bool has_zones(const Problem& step) {
  return is_whole_step(step) && !zone_passes(step, step.step.obstacle.empty() ? 1 : kByStages).empty();
}

std::vector<ZonedSteps> tune_in_zones(const Problem& step, const Target& target, const TuningSettings& settings,
                                      Database& database, SessionObserver& observer) {
  std::vector<ZonedSteps> all = found_before(step, target, settings.session.objective, database), tried;
  DividedBudget budgets(settings);
  const int first = first_steps(step, target, database);
  int most = step.step.obstacle.empty() ? std::min(step.steps, kMostStepsInZones) : 0;
  const int rounds = rounds_within(settings.session.budget_s);
  const auto tune = [&](ZonedSteps& zoned, const auto& is_wanted, const TuningSettings& of_them, double least_s) {
    std::vector<ZonedSteps::Part*> parts;
    for (ZonedSteps::Part& part : zoned.parts) {
      if (is_wanted(part)) parts.push_back(&part);
    }
    const double fitting = std::max(1.0, of_them.session.budget_s / least_s);
    if (static_cast<double>(parts.size()) > fitting) parts.resize(static_cast<std::size_t>(fitting));
    Target of_steps = target;
    of_steps.limits.least_fused_steps = steps_of_launch(zoned);
    tune_parts(parts, of_steps, of_them, database, observer);
  };
  const auto small = [&](const ZonedSteps::Part& part) { return !part.is_largest && is_small(step, part); };
  const auto largest = [](const ZonedSteps::Part& part) { return part.is_largest; };
  const auto large = [&](const ZonedSteps::Part& part) { return !part.is_largest && !is_small(step, part); };
  for (int round = 0; round < rounds && !*settings.stop; ++round) {
    std::optional<int> steps = next_steps(first, most, step, tried);
    while (steps && !have_kernels(step, *steps, target.limits)) {
      most = *steps - 1;
      steps = next_steps(first, most, step, tried);
    }
    if (!steps) break;
    ZonedSteps zoned{.steps = *steps, .parts = parts_of(step, *steps)};
    if (zoned.parts.empty()) break;
    tune(zoned, largest, budgets.next(kLargestShare / rounds), 0);
    tried.push_back(std::move(zoned));
  }
  ZonedSteps by_stages{.steps = kByStages, .parts = parts_of(step, kByStages)};
  if (tried.empty() && !by_stages.parts.empty() && !*settings.stop) {
    tune(by_stages, largest, budgets.next(kLargestShare), 0);
    tried.push_back(std::move(by_stages));
  }
  const auto chosen = most_promising(step, tried);
  if (chosen != tried.end() && promise_of(step, *chosen) > 0) {
    ZonedSteps zoned = *chosen;
    tune(zoned, large, budgets.next(1 - kLargestShare - kSmallShare), 0);
    put(std::move(zoned), all);
  }
  if (const auto best = fastest(step, all); best != all.end())
    tune(*best, small, budgets.next(kSmallShare), kLeastSmallS);
  return all;
}

std::string said(int steps) { return steps == kByStages ? "stages" : counted(steps, "step"); }

std::optional<TrialRecord> in_zones(const Problem& step, const ZonedSteps& zoned) {
  double time = 0, cells = 0, unknown_cells = 0;
  std::optional<TrialRecord> whole;
  for (const ZonedSteps::Part& part : zoned.parts) {
    const bool is_known = part.winner && part.winner->rate > 0;
    if (!is_known && is_small(step, part)) continue;
    if (!is_known) return std::nullopt;
    time += part.zones * cells_of(part.problem) / part.winner->rate;
    cells += part.zones * cells_of(part.problem);
    const std::string code = fmt::format("{} {}", part.name, part.winner->code);
    if (!whole) {
      whole = part.winner;
      whole->code = fmt::format("{} in zones: {}", said(zoned.steps), code);
    } else {
      whole->code += ", " + code;
      whole->registers = std::max(whole->registers, part.winner->registers);
      whole->spill_bytes = std::max(whole->spill_bytes, part.winner->spill_bytes);
      whole->shared_bytes = std::max(whole->shared_bytes, part.winner->shared_bytes);
    }
  }
  if (!whole) return std::nullopt;
  for (const std::vector<Zone>& pass : zone_passes(step, zoned.steps)) {
    for (const Zone& zone : pass) unknown_cells += cells_of(zone.problem);
  }
  unknown_cells -= cells;
  time += kUnknownZoneSlowdown * unknown_cells * time / cells;
  whole->id = 0;
  whole->problem = problem_key(step);
  whole->plan.clear();
  whole->timing = {.median_ms = time / 1e6, .low_ms = time / 1e6, .high_ms = time / 1e6, .samples = 0};
  whole->sustained_rate = whole->watts = whole->nanojoules = 0;  // nobody measured those of all zones together
  whole->rate = kernel_rate(StencilSubject(step), whole->timing);
  const double rate_gbs = minimal_traffic_bytes(step) / whole->timing.median_ms / 1e6;
  whole->share = whole->ceiling_gbs > 0 ? rate_gbs / whole->ceiling_gbs : 0;
  return whole;
}

std::optional<TrialRecord> in_zones(const Problem& step, const std::vector<ZonedSteps>& all) {
  const auto best = fastest(step, all);
  return best == all.end() ? std::nullopt : in_zones(step, *best);
}

}  // namespace stencil_tune
