// Iterated local search: a walk to ever better neighbours; where none is better, the next one starts a few random steps
// away from where the last good one ended.
#include "tuner/search/strategies/descent.hpp"
#include "tuner/search/strategies/make.hpp"

namespace stencil_tune {
namespace {

constexpr std::size_t kFewestSteps = 2;
constexpr std::size_t kMostSteps = 4;
constexpr double kAcceptWithin = 1.02;  // times the best time: where a walk ends there, the next starts near it

class LocalSearch : public Descent {
 public:
  using Descent::Descent;

  std::string_view name() const override { return "local"; }

 private:
  Configuration next_start(Configuration end, double time_ms) override {
    if (time_ms <= known().best_time() * kAcceptWithin) incumbent_ = end;
    return walk(incumbent_, kFewestSteps + below(kMostSteps - kFewestSteps + 1));
  }

  Configuration incumbent_ = 0;
};

}  // namespace

std::unique_ptr<TableSearch> make_local_search(const ConfigurationTable& table, std::uint64_t seed) {
  return std::make_unique<LocalSearch>(table, seed);
}

}  // namespace stencil_tune
