// Where a cost has its least values: walks downhill from neighbour to neighbour.
#pragma once

#include "generator/candidates/space.hpp"
#include "tuner/search/search.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

namespace stencil_tune {

using Cost = std::function<double(const Tuning&)>;

/// The neighbour of least cost among those of the same kind of kernel (template); nothing when none costs less than the
/// candidate itself.
std::optional<Tuning> step_down(const Space& space, const Tuning& at, const Cost& cost);

/// The model's local optima of each kind that walks from a sample lead to, the best first and none near a better one.
/// The sample is in the order of the model's cost, and of each kind the walks begin at its best. Kinds whose optima are
/// near the best of all are walked from more places: on a rugged landscape few walks miss the best ones.
std::map<std::string_view, std::vector<Tuning>> optima_apart(const Space& space, const CostModel& model,
                                                             const std::vector<Tuning>& sample);

}  // namespace stencil_tune
