// How big a candidate's code will be, estimated from the taps alone: what keeps a template bomb from being compiled.
#pragma once

#include "generator/candidates/tuning.hpp"
#include "generator/stencil/problem.hpp"

#include <cstdint>

namespace stencil_tune {

/// 32-bit registers that a thread's values need at the same time, addresses and coefficients not counted:
///   outputs         register tile x outputs of the stage
///   input window    direct, tiled, streaming shared: the row being read, with its x halo (rows are used as they come)
///                   streaming regs, star: own column over all planes, the other rows of the current plane and its halo
///                   streaming regs, otherwise: every row within reach, with its halo, over all planes
///                   streaming with sums: what outputs within reach have so far, late cells, two rows
///                   streaming mixed: own column over all planes, and one row of the current plane with its halo
/// times the inputs; f64 counts double. An upper bound where the compiler reorders, hence only good for legality.
std::int64_t live_registers(const Problem& problem, const Tuning& tuning);

/// Updates' worth of straight-line code: taps (or pairs of operations, where there are more) of all outputs that one
/// iteration of the innermost rolled loop updates.
std::int64_t unrolled_work(const Problem& problem, const Tuning& tuning);

}  // namespace stencil_tune
