// Whether checks are sharp: of the corpus and of built-in stencils, for every element type.
#pragma once

#include "stencil_tune/grid.hpp"
#include "stencil_tune/stencil.hpp"

#include <string>
#include <vector>

namespace stencil_tune {

struct SharpnessCase {
  Stencil stencil;
  int stage = 0;
  ElementType type = ElementType::f32;
  int sweeps = 1;
};

/// Of the corpus, all stages, and of built-ins up to that order. More than one sweep of those alone whose sweeps can be
/// fused, as long as a tile can hold the halo.
std::vector<SharpnessCase> sharpness_cases(int highest_order, const std::vector<int>& sweeps);

struct Sharpened {
  int cases = 0;
  std::vector<std::string> lines;  ///< a table, one line each
  std::vector<std::string> blunt;  ///< those lines that are not sharp and should be
};

Sharpened sharpen(const std::vector<SharpnessCase>& cases, Boundary boundary);

}  // namespace stencil_tune
