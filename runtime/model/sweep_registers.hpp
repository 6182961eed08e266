// Registers that a thread of a kernel of one step needs, guessed before it is compiled.
#pragma once

#include "runtime/model/work.hpp"

namespace stencil_tune {

/// By the cells that a thread's register tile reads or the sums under way, in place of what was counted input by input:
/// each sets Work::live_values and, where it knows, Work::other_registers.
void guess_registers_of_tile(const Candidate& candidate, const RegisterConstants& c, Work& work);
void guess_registers_of_walk(const Candidate& candidate, const RegisterConstants& c, Work& work);

}  // namespace stencil_tune
