// What ranks candidates.
#pragma once

#include "generator/candidates/tuning.hpp"

namespace stencil_tune {

/// Ranks candidates; a lower cost is better.
class CostModel {
 public:
  virtual ~CostModel() = default;
  virtual double cost(const Tuning& tuning) const = 0;  ///< predicted ms
};

}  // namespace stencil_tune
