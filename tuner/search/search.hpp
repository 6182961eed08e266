// Search strategies: which candidate to try next.
#pragma once

#include "runtime/model/cost_model.hpp"
#include "tuner/search/search_space.hpp"
#include "tuner/search/strategy.hpp"
#include "tuner/search/thinking.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace stencil_tune {

/// A strategy for stencils' kernels; those for any table of configurations are in strategies/.
using Strategy = SearchStrategy<Tuning>;

std::unique_ptr<Strategy> make_exhaustive(const Space& space, Thinking thinking = {});
/// These candidates in this order, and no others. Throws Error(illegal_candidate) naming the constraint.
std::unique_ptr<Strategy> make_listed(const Space& space, const std::vector<Tuning>& candidates);
/// The default: iterated local search that starts at the model's optima of every template.
std::unique_ptr<Strategy> make_local(const Space& space, const CostModel& model, std::uint64_t seed,
                                     Thinking thinking = {});
/// The same among the candidates of another space.
std::unique_ptr<Strategy> make_local(std::shared_ptr<const SearchSpace> space, const CostModel& model,
                                     std::uint64_t seed, Thinking thinking = {});

}  // namespace stencil_tune
