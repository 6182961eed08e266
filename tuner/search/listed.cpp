#include "generator/candidates/constraints.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/search/candidate_set.hpp"
#include "tuner/search/search.hpp"

#include <fmt/format.h>

#include <deque>

namespace stencil_tune {
namespace {

class Listed : public Strategy {
 public:
  Listed(const Space& space, const std::vector<Tuning>& candidates) {
    for (const Tuning& tuning : candidates) {
      if (const auto violation = first_violation({space.problem(), tuning}, space.limits())) {
        throw Error(ErrorCode::illegal_candidate,
                    fmt::format("{}: {}: {}", code(tuning), violation->constraint, violation->message));
      }
      candidates_.push_back(tuning);
    }
  }

  std::string_view name() const override { return "listed"; }

  std::optional<Tuning> propose() override {
    while (!candidates_.empty()) {
      const Tuning tuning = candidates_.front();
      candidates_.pop_front();
      if (taken_.add(tuning)) return tuning;
    }
    return std::nullopt;
  }

  void report(const Tuning& tuning, double /*time_ms*/) override { taken_.add(tuning); }

 private:
  std::deque<Tuning> candidates_;
  CandidateSet taken_;
};

}  // namespace

std::unique_ptr<Strategy> make_listed(const Space& space, const std::vector<Tuning>& candidates) {
  return std::make_unique<Listed>(space, candidates);
}

}  // namespace stencil_tune
