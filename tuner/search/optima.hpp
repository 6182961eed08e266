// Optima of a cost: walks downhill from neighbour to neighbour.
#pragma once

#include "tuner/search/search.hpp"
#include "tuner/search/search_space.hpp"

#include <functional>
#include <optional>
#include <vector>

namespace stencil_tune {

using Cost = std::function<double(const Tuning&)>;

/// The neighbour of least cost among those of the same template; nothing when none costs less than the candidate
/// itself.
std::optional<Tuning> step_down(const SearchSpace& space, const Tuning& at, const Cost& cost);

/// The model's optimum of each template (by template_of()), as found by walks from a sample, in no order. The sample is
/// in the order of the model's cost, and the walks of a template begin at its best candidates. Templates whose optima
/// are near the best of all get more walks: on a rugged landscape a few miss it. When the time is over, walks end where
/// they are; each template has begun one.
std::vector<Tuning> optima_of_templates(const SearchSpace& space, const CostModel& model,
                                        const std::vector<Tuning>& sample, Thinking& thinking);

}  // namespace stencil_tune
