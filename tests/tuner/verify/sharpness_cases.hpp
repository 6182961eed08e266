// Cases whose checks should be sharp: the corpus and built-in stencils, for every element type.
#pragma once

#include "stencil_tune/grid.hpp"
#include "stencil_tune/stencil.hpp"
#include "tuner/verify/sharpness.hpp"

#include <string>
#include <vector>

namespace stencil_tune {

struct SharpnessCase {
  Stencil stencil;
  int stage = 0;  ///< or kWholeStep
  ElementType type = ElementType::f32;
  int sweeps = 1;
};

/// "yee3d             step  f32   2 sweeps"
std::string title(const SharpnessCase& c);

/// Cases of the corpus, all stages and whole steps of systems, and of built-ins up to that order. Only those have more
/// than one sweep whose sweeps can be fused, as long as a tile can hold the halo and the compiler the code.
std::vector<SharpnessCase> sharpness_cases(int highest_order, const std::vector<int>& sweeps);

Sharpness sharpness_of(const SharpnessCase& c, Boundary boundary);

/// Not sharp, and should be.
bool is_blunt(const SharpnessCase& c, Boundary boundary, const Sharpness& sharpness);

/// "1.0000  2 and 3 sweeps are equal in 60 % of the cells"
std::string to_text(const Sharpness& sharpness);

}  // namespace stencil_tune
