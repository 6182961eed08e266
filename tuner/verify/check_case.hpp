// One way to run a stencil for a check: which numbers go in, and the programs that say what must come out.
#pragma once

#include "runtime/cuda/module.hpp"
#include "tuner/verify/check_numbers.hpp"
#include "tuner/verify/reference/reference_program.hpp"

#include <optional>
#include <vector>

namespace stencil_tune {

/// What one output of a stage must be.
struct OutputCase {
  int field = 0;  ///< that is written
  ReferenceProgram program;
  DeviceBuffer instructions;            ///< the same on the device
  std::optional<DeviceBuffer> weights;  ///< error_weights() on the device, where there are any
  int weight_count = 0;
};

struct CheckCase {
  CheckNumbers numbers;
  std::vector<std::vector<OutputCase>> stages;  ///< those of the problem; each has its outputs in order of update

  int slots() const;  ///< slots that the programs need
};

/// stages: stage_problems() of the problem.
CheckCase make_case(Driver& driver, const std::vector<Problem>& stages, CheckNumbers numbers);

}  // namespace stencil_tune
