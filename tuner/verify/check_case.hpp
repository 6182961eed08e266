// One way to run a stencil for a check: which numbers go in, and the programs that say what must come out.
#pragma once

#include "runtime/cuda/module.hpp"
#include "tuner/verify/reference_program.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace stencil_tune {

struct CheckCase {
  check::Input input = check::Input::signed_unit;
  bool exact = false;  ///< results must agree to the bit
  std::vector<double> coefficients;
  std::vector<ReferenceProgram> programs;  ///< one per output
  std::vector<DeviceBuffer> instructions;  ///< the same on the device
};

/// Random input and coefficients; results are right within their bounds.
CheckCase random_case(Driver& driver, const Problem& problem);

/// Small integers and dyadic coefficients; nothing where the stencil does not compute exactly on any.
std::optional<CheckCase> exact_case(Driver& driver, const Problem& problem);

/// The seed of a field's input: each has its own.
std::uint64_t input_seed(std::uint64_t session_seed, int field);

/// The input that the device's fill kernel makes, on the host: laid out as the field, 0 in the padding.
std::vector<double> host_input(const Problem& problem, std::uint64_t session_seed, int field, check::Input input);

/// The updates that the problem's stage makes.
const std::vector<Update>& updates_of(const Problem& problem);

}  // namespace stencil_tune
