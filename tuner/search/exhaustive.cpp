#include "tuner/search/candidate_set.hpp"
#include "tuner/search/scan.hpp"
#include "tuner/search/search.hpp"

namespace stencil_tune {
namespace {

class Exhaustive : public Strategy {
 public:
  explicit Exhaustive(const Space& space) : legal_(space), scan_(legal_) {}

  std::string_view name() const override { return "exhaustive"; }

  std::optional<Tuning> propose() override {
    while (auto tuning = scan_.next()) {
      if (taken_.add(*tuning)) return tuning;
    }
    return std::nullopt;
  }

  void report(const Tuning& tuning, double /*time_ms*/) override { taken_.add(tuning); }

 private:
  LegalCandidates legal_;
  Scan scan_;
  CandidateSet taken_;
};

}  // namespace

std::unique_ptr<Strategy> make_exhaustive(const Space& space) { return std::make_unique<Exhaustive>(space); }

}  // namespace stencil_tune
