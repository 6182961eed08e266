#include "tuner/commands/tune/dry_run.hpp"

#include "db/trial_store.hpp"
#include "generator/candidates/textbook/textbook.hpp"
#include "tuner/session/final_table.hpp"
#include "tuner/subject/stencil_subject.hpp"
#include "tuner/terminal/counted.hpp"
#include "tuner/terminal/text_table.hpp"
#include "tuner/terminal/wrap.hpp"

#include <fmt/format.h>

#include <cmath>
#include <random>
#include <set>

namespace stencil_tune {
namespace {

constexpr std::uint64_t kMostCounted = 200'000;  // points; so many are drawn from a larger space
constexpr int kOfTheSearch = 5;                  // candidates of the search that are named

/// Sets legal and estimated.
void count_legal(DryRun& run, const Space& space) {
  const std::uint64_t points = space.size();
  run.estimated = points > kMostCounted;
  std::mt19937_64 random(1);
  std::uint64_t legal = 0;
  const std::uint64_t looked_at = std::min(points, kMostCounted);
  for (std::uint64_t i = 0; i < looked_at; ++i) {
    if (space.at(run.estimated ? random() % points : i)) ++legal;
  }
  const double share = looked_at == 0 ? 0 : static_cast<double>(legal) / static_cast<double>(looked_at);
  run.legal = std::round(share * static_cast<double>(points));
}

/// "about 30,000": an estimate is worth one digit.
std::string legal_text(const DryRun& run) {
  if (!run.estimated) return fmt::format("{:.0f}", run.legal);
  if (run.legal == 0) return "few";
  const double unit = std::pow(10, std::floor(std::log10(run.legal)));
  std::string digits = fmt::format("{:.0f}", std::round(run.legal / unit) * unit);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return "about " + digits;
}

std::string limit_text(const SessionOptions& session) {
  std::string text = std::isfinite(session.budget_s) ? fmt::format("{:g} s at the most", session.budget_s)
                                                     : "until every candidate was tried";
  if (session.max_trials > 0) text += fmt::format(", {} at the most", counted(session.max_trials, "new trial"));
  return text;
}

class Order {
 public:
  Order(DryRun& run, const PerformanceModel& model) : run_(run), model_(model) {}

  bool add(const Tuning& tuning, const std::string& why) {
    if (!seen_.insert(code(tuning)).second) return false;
    run_.first.push_back({code(tuning), why, model_.predict(tuning).gstencils});
    return true;
  }

 private:
  DryRun& run_;
  const PerformanceModel& model_;
  std::set<std::string> seen_;
};

}  // namespace

DryRun dry_run(const Problem& problem, const Target& target, const TuningSettings& settings, Database* database) {
  DryRun run;
  const StencilSearch search(problem, target, settings, database);
  count_legal(run, search.space);
  if (database != nullptr) {
    const auto known = TrialStore(*database).known(problem_key(problem), target.gpu(), target.predicting_model());
    run.known = static_cast<int>(known.size());
  }

  Order order(run, search.model);
  for (const Tuning& tuning : search.warm_starts) {
    order.add(tuning, tuning == search.drawn ? "fuses steps" : "won elsewhere");
  }
  for (const Baseline& baseline : textbook_baselines(problem, target.limits)) {
    if (baseline.tuning && !settings.session.race_against) order.add(*baseline.tuning, std::string(baseline.name));
  }
  for (int named = 0; named < kOfTheSearch;) {
    const auto tuning = search.strategy->propose();
    if (!tuning) break;
    if (order.add(*tuning, settings.candidates.empty() ? "the search" : "asked for")) ++named;
  }
  return run;
}

std::string dry_run_text(const DryRun& run, const Problem& problem, const Target& target,
                         const TuningSettings& settings, const Terminal& terminal) {
  std::string text = describe(problem) + "\n";
  text += fmt::format("would {} {} ({}); nothing is compiled or stored now\n",
                      target.predicted() ? "predict for" : "tune on", target.gpu(), target.architecture);
  text += fmt::format("candidates: {} legal ones", legal_text(run));
  if (!settings.candidates.empty()) text += fmt::format(", of which {} were asked for", settings.candidates.size());
  if (run.known > 0) text += fmt::format("; {} known, which are not repeated", counted(run.known, "trial"));
  text += fmt::format("\ntime: {}\nfirst:\n", limit_text(settings.session));
  std::vector<std::vector<std::string>> rows;
  for (const DryRun::First& each : run.first) {
    rows.push_back({each.why, fmt::format("~{:.1f}", each.gstencils), each.code});
  }
  return wrap_lines(text, terminal.columns, "  ") +
         text_table({{"why", false}, {"GStencil/s"}, {"code", false}}, rows, {"  ", terminal, {}});
}

nlohmann::ordered_json dry_run_json(const DryRun& run, const Problem& problem, const Target& target,
                                    const TuningSettings& settings) {
  nlohmann::ordered_json json{{"stencil", problem.stencil.name},
                              {"dims", to_string(problem.extents)},
                              {"gpu", target.gpu()},
                              {"would_predict", target.predicted()},
                              {"legal_candidates", static_cast<std::uint64_t>(run.legal)},
                              {"legal_candidates_are_estimated", run.estimated},
                              {"known_trials", run.known},
                              {"first", nlohmann::ordered_json::array()}};
  if (std::isfinite(settings.session.budget_s)) json["budget_s"] = settings.session.budget_s;
  if (settings.session.max_trials > 0) json["max_trials"] = settings.session.max_trials;
  for (const DryRun::First& each : run.first) {
    json["first"].push_back({{"code", each.code}, {"why", each.why}, {"predicted_gstencils", each.gstencils}});
  }
  return json;
}

}  // namespace stencil_tune
