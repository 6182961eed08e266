// A genetic algorithm: children take each parameter from one of two parents, each the best of a few drawn, and
// sometimes a random value. The best of a generation live on. What is not legal becomes the nearest that is.
#include "tuner/search/strategies/make.hpp"
#include "tuner/search/strategies/table_strategy.hpp"

#include <algorithm>
#include <utility>

namespace stencil_tune {
namespace {

constexpr std::size_t kPopulation = 16;
constexpr std::size_t kElite = 4;
constexpr std::size_t kTournament = 3;
constexpr double kMutations = 1.2;  // mutated parameters of a child, on average

struct Member {
  double time_ms;
  Configuration configuration;

  friend auto operator<=>(const Member&, const Member&) = default;
};

class Genetic : public OneByOne {
 public:
  using OneByOne::OneByOne;

  std::string_view name() const override { return "genetic"; }

 private:
  Configuration next() override {
    if (parents_.empty()) return anywhere();
    const auto mother = table().places(parent()), father = table().places(parent());
    std::vector<ValueIndex> child;
    for (std::size_t i = 0; i < mother.size(); ++i) {
      child.push_back(below(2) == 0 ? mother[i] : father[i]);
      if (uniform() * static_cast<double>(mother.size()) < kMutations) {
        child.back() = static_cast<ValueIndex>(below(table().parameters()[i].values.size()));
      }
    }
    return table().nearest(child);
  }

  void told(Configuration configuration, double time_ms) override {
    children_.push_back({time_ms, configuration});
    if (children_.size() < kPopulation) return;
    std::sort(children_.begin(), children_.end());
    parents_ = std::exchange(children_, {});
    children_.assign(parents_.begin(), parents_.begin() + kElite);
  }

  void stuck() override {
    parents_.clear();
    children_.clear();
  }

  Configuration parent() {
    std::size_t best = below(parents_.size());  // they are sorted
    for (std::size_t i = 1; i < kTournament; ++i) best = std::min(best, below(parents_.size()));
    return parents_[best].configuration;
  }

  std::vector<Member> parents_;
  std::vector<Member> children_;
};

}  // namespace

std::unique_ptr<TableSearch> make_genetic(const ConfigurationTable& table, std::uint64_t seed) {
  return std::make_unique<Genetic>(table, seed);
}

}  // namespace stencil_tune
