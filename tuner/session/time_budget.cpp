#include "tuner/session/time_budget.hpp"

#include <algorithm>

namespace stencil_tune {
namespace {

constexpr double kRaceShare = 0.12;  // of the budget is kept for the race
constexpr double kLongestRaceS = 8;
constexpr double kRemainderShare = 0.08;  // of the budget of a run, for the kernels of the steps that are left over
constexpr double kLongestRemaindersS = 5;
constexpr double kLongestBeyondBudgetS = 20;
constexpr double kShortestDeadlineS = 5;  // a loaded machine compiles a plain kernel in that time

}  // namespace

bool TimeBudget::may_go_beyond() const {
  const double begun_late = std::max(search_s(), ready_s_);
  return elapsed_s() < begun_late + deadline_within(budget_s_, kLongestBeyondBudgetS);
}

double TimeBudget::search_s() const {
  const double race = std::min(kRaceShare * budget_s_, kLongestRaceS);
  return budget_s_ - race - (is_run_ ? std::min(kRemainderShare * budget_s_, kLongestRemaindersS) : 0);
}

double deadline_within(double budget_s, double usual_s) {
  return std::min(usual_s, std::max(budget_s, kShortestDeadlineS));
}

}  // namespace stencil_tune
