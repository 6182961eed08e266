// Random search of stencils' candidates: what other searches are compared with, and what sessions of tests run.
#pragma once

#include "tuner/search/candidate_set.hpp"
#include "tuner/search/scan.hpp"
#include "tuner/search/search.hpp"

namespace stencil_tune {

class RandomSearch : public Strategy {
 public:
  RandomSearch(const Space& space, std::uint64_t seed) : legal_(space), scan_(legal_), random_(seed) {}

  std::string_view name() const override { return "random"; }

  std::optional<Tuning> propose() override {
    for (; repeats_ < kMostRepeats; ++repeats_) {
      const auto tuning = legal_.sample(random_);
      if (!tuning) break;
      if (!taken_.add(*tuning)) continue;
      repeats_ = 0;
      return tuning;
    }
    while (auto tuning = scan_.next(thinking_)) {
      if (taken_.add(*tuning)) return tuning;
    }
    return std::nullopt;
  }

  void report(const Tuning& tuning, double /*time_ms*/) override { taken_.add(tuning); }

 private:
  // Draws that all were known before the rest of the space is scanned in order.
  static constexpr int kMostRepeats = 200;

  LegalCandidates legal_;
  Scan scan_;
  Thinking thinking_;
  std::mt19937_64 random_;
  CandidateSet taken_;
  int repeats_ = 0;
};

inline std::unique_ptr<Strategy> make_random(const Space& space, std::uint64_t seed) {
  return std::make_unique<RandomSearch>(space, seed);
}

}  // namespace stencil_tune
