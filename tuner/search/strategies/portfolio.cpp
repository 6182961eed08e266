// A portfolio: of several searches, that one proposes which finds improvements. All of them learn from all reports.
//
// Each has a rate of improvements of the best time per proposal, of which older ones count less and less. The one with
// the highest rate is next. Those that were not asked lately are thought well of, so that each has its turn when the
// others no longer find anything. The model's rate begins high: while little is known, it needs the fewest evaluations
// by far, and what the others find then is chance.
#include "tuner/search/strategies/make.hpp"
#include "tuner/search/strategies/table_strategy.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stencil_tune {
namespace {

constexpr double kKept = 0.98;     // share of a rate's counts that stays from one report to the next
constexpr double kHopes = 0.1;     // rate of one that was not asked; it counts as one proposal
constexpr double kHeadStart = 20;  // proposals that the model is thought to have improved the best time by
constexpr int kTries = 3;          // proposals of one search that are looked at, where another made the same before

struct Member {
  std::unique_ptr<TableSearch> search;
  double proposals = 0;
  double improvements = 0;

  double rate() const { return (improvements + kHopes) / (proposals + 1); }
};

class Portfolio : public TableSearch {
 public:
  Portfolio(const ConfigurationTable& table, std::uint64_t seed) : known_(table), random_(seed) {
    members_.push_back({make_bayesian(table, random_()), kHeadStart, kHeadStart});
    members_.push_back({make_local_search(table, random_())});
  }

  std::string_view name() const override { return "portfolio"; }

  std::optional<Configuration> propose() override {
    const auto slower = [](const Member& a, const Member& b) { return a.rate() < b.rate(); };
    const auto member = std::max_element(members_.begin(), members_.end(), slower);
    std::optional<Configuration> chosen;
    for (int tries = 0; tries < kTries && !chosen; ++tries) {
      chosen = member->search->propose();
      if (chosen && known_.taken(*chosen)) chosen.reset();
    }
    if (!chosen) chosen = known_.draw(random_);
    if (!chosen) return std::nullopt;
    known_.take(*chosen);
    proposed_by_.emplace(*chosen, &*member);
    return chosen;
  }

  void report(const Configuration& configuration, double time_ms) override {
    const bool improves = time_ms < known_.best_time();
    known_.learn(configuration, time_ms);
    for (Member& member : members_) {
      member.search->report(configuration, time_ms);
      member.proposals *= kKept;
      member.improvements *= kKept;
    }
    const auto by = proposed_by_.extract(configuration);
    if (by.empty()) return;
    by.mapped()->proposals += 1;
    by.mapped()->improvements += improves ? 1 : 0;
  }

 private:
  KnownTimes known_;
  std::mt19937_64 random_;
  std::vector<Member> members_;
  std::unordered_map<Configuration, Member*> proposed_by_;  // while their reports are on the way
};

}  // namespace

std::unique_ptr<TableSearch> make_portfolio(const ConfigurationTable& table, std::uint64_t seed) {
  return std::make_unique<Portfolio>(table, seed);
}

}  // namespace stencil_tune
