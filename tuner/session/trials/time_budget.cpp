#include "tuner/session/trials/time_budget.hpp"

#include <algorithm>

namespace stencil_tune {
namespace {

constexpr double kRaceShare = 0.06;  // share of the budget kept for the race in bursts: 2 to 3 s of 60
constexpr double kLongestRaceS = 8;
constexpr double kLoadShare = 0.2;  // share of the budget where finalists race under load: five of them in 60 s
constexpr double kLongestLoadS = 20;
constexpr double kRemainderShare = 0.08;  // share of a run's budget for the kernels of the steps that are left over
constexpr double kLongestRemaindersS = 5;
constexpr double kGraceShare = 0.08, kLeastGraceS = 4;  // a tenth or 5 s, less what starting and reporting take
constexpr double kShortestDeadlineS = 5;                // a loaded machine compiles a plain kernel in that time
constexpr double kShortestCompileS = 30;  // eight fused levels took 16 compilers side by side up to 20 s (2026-11-23)
constexpr double kLongestWaitS = 20;

}  // namespace

bool TimeBudget::may_wait_for_compilers() const {
  return elapsed_s() < std::min(search_s() + kLongestWaitS, latest_race_s());
}

double TimeBudget::search_s() const {
  const double budget_s = plan_.budget_s;
  const double remainders = plan_.is_run ? std::min(kRemainderShare * budget_s, kLongestRemaindersS) : 0;
  const double load = plan_.least_load_s > 0 ? std::min(kLoadShare * budget_s, kLongestLoadS) : 0;
  return budget_s - remainders - burst_race_s() - load;
}

double TimeBudget::burst_race_s() const { return std::min(kRaceShare * plan_.budget_s, kLongestRaceS); }

double TimeBudget::latest_race_s() const { return plan_.most_s - burst_race_s() - plan_.least_load_s; }

double grace_s(double budget_s) { return std::max(kGraceShare * budget_s, kLeastGraceS); }

double compile_deadline_s(double budget_s, double usual_s) {
  return std::min(usual_s, std::max(budget_s, kShortestCompileS));
}

double deadline_within(double budget_s, double usual_s) {
  return std::min(usual_s, std::max(budget_s, kShortestDeadlineS));
}

}  // namespace stencil_tune
