// An update carried out plane by plane: each plane, once it is there, adds what it has to the sums of all outputs that
// read it, and is then done with.
//
//     out = 2*p[0,0,0] - old[0,0,0] + v[0,0,0] * (c*p[-1,0,0] + ... + c*p[0,0,1])
//         = sum[0] - old[0,0,0] + v[0,0,0] * sum[1]
//
// A sum is a largest part of the expression that adds up, with weights that read nothing, what each plane can compute
// by itself: cells, and also products and other functions of cells of one plane. Inputs that are read at the cell alone
// (old, v) are late: they are read when the output is finished, and never wait in a sum.
#pragma once

#include "generator/kernel/update_text.hpp"
#include "generator/stencil/problem.hpp"

#include <string>

namespace stencil_tune {

/// Whether the input (an index into facts.inputs) is read at the cell alone.
bool is_late(const StageFacts& facts, std::size_t input);

/// Inputs that are not late: those whose planes are needed with their halo.
int early_inputs(const StageFacts& facts);

/// How many sums an output cell needs; 0: every input is late, there is nothing to sum up.
int count_sums(const Problem& problem);

/// `kSums`, and the functions `add_plane` and `finish` that templates/plane_sums.cuh calls: members of the generated
/// stencil. `axes` says which kernel axis each grid axis becomes; planes are stacked along z.
std::string plane_sums_text(const Problem& problem, const AxisMap& axes);

}  // namespace stencil_tune
