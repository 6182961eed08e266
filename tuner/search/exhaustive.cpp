#include "tuner/search/candidate_set.hpp"
#include "tuner/search/scan.hpp"
#include "tuner/search/search.hpp"

#include <utility>

namespace stencil_tune {
namespace {

class Exhaustive : public Strategy {
 public:
  Exhaustive(const Space& space, Thinking thinking) : legal_(space), scan_(legal_), thinking_(std::move(thinking)) {}

  std::string_view name() const override { return "exhaustive"; }

  std::optional<Tuning> propose() override {
    thinking_.begin();
    while (auto tuning = scan_.next(thinking_)) {
      if (taken_.add(*tuning)) return tuning;
    }
    return std::nullopt;
  }

  bool has_more() const override { return !scan_.is_done(); }

  void report(const Tuning& tuning, double /*time_ms*/) override { taken_.add(tuning); }

 private:
  LegalCandidates legal_;
  Scan scan_;
  CandidateSet taken_;
  Thinking thinking_;
};

}  // namespace

std::unique_ptr<Strategy> make_exhaustive(const Space& space, Thinking thinking) {
  return std::make_unique<Exhaustive>(space, std::move(thinking));
}

}  // namespace stencil_tune
