#include "tuner/session/trials/contenders.hpp"

#include <algorithm>
#include <set>

namespace stencil_tune {
namespace {

constexpr double kClose = 1.15;  // times as long as the fastest
// Clocks under load fell by no more than 28 % (H200, 700 W, f64, 2026-11-23): one that is further behind cannot win.
constexpr double kInReach = 1.4;
constexpr std::size_t kMostClose = 24;  // some 35 s of racing under load

}  // namespace

void Contenders::add(const std::string& code, CompiledKernel kernel, double time_ms, bool is_sure) {
  const auto place = std::upper_bound(contenders_.begin(), contenders_.end(), time_ms,
                                      [](double time, const Contender& other) { return time < other.time_ms; });
  contenders_.insert(place, {time_ms, code, subject_.kinds(code), std::move(kernel), is_sure});
  mark_leaders();
  std::size_t rank = 0;
  std::erase_if(contenders_, [&](const Contender& contender) {
    const std::size_t ahead = rank++;
    if (ahead < most_ || contender.is_sure) return false;
    if (!under_load_) return true;
    return !(ahead < kMostClose && is_close(contender, kClose)) && !(contender.leads && is_close(contender, kInReach));
  });
}

void Contenders::mark_leaders() {
  std::set<std::string> kinds;
  for (Contender& contender : contenders_) {
    const std::size_t before = kinds.size();
    kinds.insert(contender.kinds.begin(), contender.kinds.end());
    contender.leads = kinds.size() > before;
  }
}

Contenders::Choice Contenders::choose(int most_under_load) const {
  using Wanted = std::function<bool(std::size_t rank, const Contender&)>;
  const Wanted in_order[] = {
      [](std::size_t rank, const Contender& contender) { return rank < 1 || contender.is_sure; },
      [this](std::size_t, const Contender& contender) { return contender.leads && is_close(contender, kInReach); },
      [this](std::size_t, const Contender& contender) { return is_close(contender, kClose); },
  };
  std::vector<std::size_t> chosen;
  const auto add = [&](std::size_t most, const Wanted& wanted) {
    for (std::size_t i = 0; i < contenders_.size() && chosen.size() < most; ++i) {
      const bool is_new = std::find(chosen.begin(), chosen.end(), i) == chosen.end();
      if (is_new && wanted(i, contenders_[i])) chosen.push_back(i);
    }
  };
  if (under_load_) {
    for (const Wanted& wanted : in_order) add(static_cast<std::size_t>(std::max(0, most_under_load)), wanted);
  }
  const int under_load = static_cast<int>(chosen.size());
  add(contenders_.size(),
      [this](std::size_t rank, const Contender& contender) { return rank < most_ || contender.is_sure; });
  return {chosen, under_load};
}

bool Contenders::any(const Condition& condition) const {
  return std::any_of(contenders_.begin(), contenders_.end(),
                     [&](const Contender& contender) { return condition(contender.code); });
}

void Contenders::keep(const Condition& condition) {
  std::erase_if(contenders_, [&](const Contender& contender) { return !condition(contender.code); });
  mark_leaders();
}

std::vector<std::string> Contenders::finalists(int most_under_load) const {
  std::vector<std::string> codes;
  for (const std::size_t place : choose(most_under_load).places) codes.push_back(contenders_[place].code);
  return codes;
}

Finalists Contenders::take(int most_under_load) {
  const Choice choice = choose(most_under_load);
  Finalists finalists{{}, choice.under_load};
  for (const std::size_t place : choice.places) {
    finalists.candidates.emplace_back(contenders_[place].code, std::move(contenders_[place].kernel));
  }
  contenders_.clear();
  return finalists;
}

}  // namespace stencil_tune
