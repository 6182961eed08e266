#include "tuner/session/zone_tuning.hpp"

#include "generator/cut/zones.hpp"
#include "tuner/session/divided_budget.hpp"
#include "tuner/session/trials/trial_record.hpp"
#include "tuner/subject/stencil_subject.hpp"
#include "tuner/terminal/counted.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace stencil_tune {
namespace {

constexpr int kMostRounds = 3;       // numbers of steps that are tried
constexpr double kLeastRoundS = 90;  // seconds of one: wide kernels compile for 5 to 10 s each
constexpr int kFirstSteps = 2;
constexpr double kSmallZone = 0.004;  // share of the cells below which a zone is not tuned
constexpr double kLayerWeight = 6;    // a cell in a layer beside one inside: slower, and less is known of it

double cells_of(const Problem& problem) { return static_cast<double>(updated_box(problem).cells()); }

/// Those that are worth a session.
std::vector<ZonedSteps::Part> parts_of(const Problem& step, int steps) {
  const std::vector<Zone> all = zones(step, steps);
  std::vector<ZonedSteps::Part> parts;
  for (const Problem& problem : zone_problems(all)) {
    if (cells_of(problem) < kSmallZone * cells_of(step)) continue;
    ZonedSteps::Part part{.name = "", .zones = 0, .problem = problem, .winner = std::nullopt};
    for (const Zone& zone : all) {
      if (zone.problem.extents != problem.extents || zone.problem.stencil.fields != problem.stencil.fields) continue;
      part.name = zone.name;
      ++part.zones;
    }
    parts.push_back(part);
  }
  return parts;
}

/// Its share of a round, among those of the others.
double weight_of(const ZonedSteps::Part& part) {
  return part.zones * cells_of(part.problem) * (part.name == "inside" ? 1 : kLayerWeight);
}

int rounds_within(double budget_s) {
  return static_cast<int>(std::clamp(budget_s / kLeastRoundS, 1.0, static_cast<double>(kMostRounds)));
}

/// More steps while they are faster, else one. 0: those around the best are known.
int next_steps(const Problem& step, const std::vector<ZonedSteps>& known) {
  std::set<int> tried;
  int best = kFirstSteps;
  double best_rate = 0;
  for (const ZonedSteps& each : known) {
    tried.insert(each.steps);
    const auto trial = in_zones(step, each);
    if (!trial || trial->rate <= best_rate) continue;
    best = each.steps;
    best_rate = trial->rate;
  }
  if (known.empty()) return std::min(kFirstSteps, step.steps);
  for (const int steps : {best + 1, best - 1, 1}) {
    if (steps >= 1 && steps <= step.steps && !tried.contains(steps)) return steps;
  }
  return 0;
}

}  // namespace

bool has_zones(const Problem& step) { return step.step.obstacle.empty() && !zones(step, 1).empty(); }

std::vector<ZonedSteps> tune_in_zones(const Problem& step, const Target& target, const TuningSettings& settings,
                                      Database& database, SessionObserver& observer) {
  std::vector<ZonedSteps> all;
  DividedBudget budgets(settings);
  const int rounds = rounds_within(settings.session.budget_s);
  for (int round = 0; round < rounds && !*settings.stop; ++round) {
    ZonedSteps zoned;
    zoned.steps = next_steps(step, all);
    if (zoned.steps == 0) break;
    zoned.parts = parts_of(step, zoned.steps);
    if (zoned.parts.empty()) break;
    const TuningSettings of_round = budgets.next(1.0 / rounds);
    DividedBudget budget(of_round);
    double weights = 0;
    for (const ZonedSteps::Part& part : zoned.parts) weights += weight_of(part);
    Target of_steps = target;
    of_steps.limits.least_fused_steps = zoned.steps;
    for (ZonedSteps::Part& part : zoned.parts) {
      if (*settings.stop) break;
      observer.waiting(fmt::format("tuning {} of zone {}", counted(zoned.steps, "step"), part.name));
      const TuningSettings of_part = budget.next(weight_of(part) / weights);
      part.winner = tune_stencil(part.problem, of_steps, of_part, database, observer).result.winner;
    }
    all.push_back(std::move(zoned));
  }
  return all;
}

std::optional<TrialRecord> in_zones(const Problem& step, const ZonedSteps& zoned) {
  double time = 0, cells = 0, unknown_cells = 0;
  std::optional<TrialRecord> whole;
  for (const ZonedSteps::Part& part : zoned.parts) {
    if (!part.winner || !(part.winner->rate > 0)) return std::nullopt;
    time += part.zones * cells_of(part.problem) / part.winner->rate;
    cells += part.zones * cells_of(part.problem);
    const std::string code = fmt::format("{} {}", part.name, part.winner->code);
    if (!whole) {
      whole = part.winner;
      whole->code = fmt::format("{} in zones: {}", counted(zoned.steps, "step"), code);
    } else {
      whole->code += ", " + code;
      whole->registers = std::max(whole->registers, part.winner->registers);
      whole->spill_bytes = std::max(whole->spill_bytes, part.winner->spill_bytes);
      whole->shared_bytes = std::max(whole->shared_bytes, part.winner->shared_bytes);
    }
  }
  if (!whole) return std::nullopt;
  for (const Zone& zone : zones(step, zoned.steps)) unknown_cells += cells_of(zone.problem);
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
  std::optional<TrialRecord> best;
  for (const ZonedSteps& zoned : all) {
    auto trial = in_zones(step, zoned);
    if (trial && (!best || trial->rate > best->rate)) best = std::move(trial);
  }
  return best;
}

}  // namespace stencil_tune
