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
constexpr double kLongestBeyondBudgetS = 20;
constexpr double kShareOfSearch = 0.5;  // share of the search's time that is left at the least when the device is ready
constexpr double kShortestReferenceS = 30;
constexpr double kShortestDeadlineS = 5;  // a loaded machine compiles a plain kernel in that time
constexpr double kShortestCompileS = 30;  // eight fused levels took 16 compilers side by side up to 20 s (2026-11-23)
constexpr double kLongestWaitS = 20;
constexpr double kUsualCompileS = 60, kUsualRunS = 20;

}  // namespace

void TimeBudget::device_is_ready() {
  const double latest = (1 - kShareOfSearch) * search_s();
  late_s_ = std::max(0.0, elapsed_s() - latest);
}

bool TimeBudget::may_go_beyond() const {
  return elapsed_s() < search_s() + deadline_within(budget_s_, kLongestBeyondBudgetS);
}

bool TimeBudget::may_wait_for_compilers() const {
  const double wait = compile_deadline_s(budget_s_, kUsualCompileS) - deadline_within(budget_s_, kUsualRunS);
  return elapsed_s() < search_s() + std::min(wait, kLongestWaitS);
}

double TimeBudget::search_s() const {
  const double remainders = is_run_ ? std::min(kRemainderShare * budget_s_, kLongestRemaindersS) : 0;
  const double load = under_load_ ? std::min(kLoadShare * budget_s_, kLongestLoadS) : 0;
  return whole_s() - remainders - burst_race_s() - load;
}

double TimeBudget::burst_race_s() const { return std::min(kRaceShare * budget_s_, kLongestRaceS); }

double compile_deadline_s(double budget_s, double usual_s) {
  return std::min(usual_s, std::max(budget_s, kShortestCompileS));
}

double reference_deadline_s(double budget_s, double usual_s) {
  return std::min(usual_s, std::max(budget_s, kShortestReferenceS));
}

double deadline_within(double budget_s, double usual_s) {
  return std::min(usual_s, std::max(budget_s, kShortestDeadlineS));
}

}  // namespace stencil_tune
