#include "tuner/search/optima.hpp"

#include "generator/kernel_source/source.hpp"
#include "tuner/search/candidate_set.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>

namespace stencil_tune {
namespace {

constexpr std::size_t kWalks = 60;       // walks of each template
constexpr std::size_t kMostWalks = 600;  // walks of a template whose best optimum is near the best of all
constexpr double kNearBest = 1.03;       // times the least cost

/// Walks of one template from its part of the sample: a few first, more if they pay.
class Walks {
 public:
  Walks(const SearchSpace& space, const CostModel& model, Thinking& thinking)
      : space_(space), cost_([&model](const Tuning& tuning) { return model.cost(tuning); }), thinking_(thinking) {}

  void add(const Tuning& start) { starts_.push_back(start); }

  /// Goes on until so many walks were made in all, or the time is over and one was.
  void walk(std::size_t most) {
    for (; made_ < std::min(most, starts_.size()) && !(lowest_ && thinking_.is_over()); ++made_) {
      descend(starts_[made_]);
    }
  }

  /// Nothing before the first walk.
  const std::optional<Tuning>& lowest() const { return lowest_; }
  double least() const { return least_; }

 private:
  // A walk ends where it joins an earlier one, or when the time is over.
  void descend(Tuning at) {
    while (walked_.add(at)) {
      const auto lower = thinking_.is_over() ? std::nullopt : step_down(space_, at, cost_);
      if (!lower) {
        if (const double cost = cost_(at); cost < least_) lowest_ = at, least_ = cost;
        return;
      }
      at = *lower;
    }
  }

  const SearchSpace& space_;
  Cost cost_;
  Thinking& thinking_;
  std::vector<Tuning> starts_;
  std::size_t made_ = 0;
  CandidateSet walked_;
  std::optional<Tuning> lowest_;
  double least_ = std::numeric_limits<double>::infinity();
};

}  // namespace

std::optional<Tuning> step_down(const SearchSpace& space, const Tuning& at, const Cost& cost) {
  std::optional<Tuning> lowest;
  double least = cost(at);
  for (const Tuning& neighbour : space.neighbours(at)) {
    if (template_of(neighbour) != template_of(at)) continue;
    if (const double its_cost = cost(neighbour); its_cost < least) lowest = neighbour, least = its_cost;
  }
  return lowest;
}

std::vector<Tuning> optima_of_templates(const SearchSpace& space, const CostModel& model,
                                        const std::vector<Tuning>& sample, Thinking& thinking) {
  std::map<std::string_view, Walks> walks;
  for (const Tuning& tuning : sample) {
    if (!std::isfinite(model.cost(tuning))) continue;
    walks.try_emplace(template_of(tuning), space, model, thinking).first->second.add(tuning);
  }
  double least = std::numeric_limits<double>::infinity();
  for (auto& [file, of_template] : walks) {
    of_template.walk(kWalks);
    least = std::min(least, of_template.least());
  }
  std::vector<Tuning> optima;
  for (auto& [file, of_template] : walks) {
    if (of_template.least() <= kNearBest * least) of_template.walk(kMostWalks);
    if (of_template.lowest()) optima.push_back(*of_template.lowest());
  }
  return optima;
}

}  // namespace stencil_tune
