#include "tuner/search/candidate_set.hpp"
#include "tuner/search/scan.hpp"
#include "tuner/search/search.hpp"

namespace stencil_tune {
namespace {

// Draws that all were known before the rest of the space is scanned in order.
constexpr int kMostRepeats = 200;

class Random : public Strategy {
 public:
  Random(const Space& space, std::uint64_t seed) : space_(space), scan_(space), random_(seed) {}

  std::string_view name() const override { return "random"; }

  std::optional<Tuning> propose() override {
    for (; repeats_ < kMostRepeats; ++repeats_) {
      const auto tuning = space_.sample(random_);
      if (!tuning) break;
      if (!taken_.add(*tuning)) continue;
      repeats_ = 0;
      return tuning;
    }
    while (auto tuning = scan_.next()) {
      if (taken_.add(*tuning)) return tuning;
    }
    return std::nullopt;
  }

  void report(const Tuning& tuning, double /*time_ms*/) override { taken_.add(tuning); }

 private:
  const Space& space_;
  Scan scan_;
  std::mt19937_64 random_;
  CandidateSet taken_;
  int repeats_ = 0;
};

}  // namespace

std::unique_ptr<Strategy> make_random(const Space& space, std::uint64_t seed) {
  return std::make_unique<Random>(space, seed);
}

}  // namespace stencil_tune
