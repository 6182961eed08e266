// One way to run a stencil for a check: which numbers go in, and the programs that say what must come out.
#pragma once

#include "runtime/cuda/module.hpp"
#include "tuner/verify/check_numbers.hpp"
#include "tuner/verify/reference_program.hpp"

#include <optional>
#include <vector>

namespace stencil_tune {

struct CheckCase {
  CheckNumbers numbers;
  std::vector<ReferenceProgram> programs;  ///< one per output
  std::vector<DeviceBuffer> instructions;  ///< the same on the device
  std::optional<DeviceBuffer> weights;     ///< error_weights() on the device, where there are any
  int weight_count = 0;
};

CheckCase make_case(Driver& driver, const Problem& problem, CheckNumbers numbers);

}  // namespace stencil_tune
