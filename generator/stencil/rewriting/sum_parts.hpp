// The parts of an update that can be added up plane by plane: the part of the analysis that needs no kernel.
//
//     out = 2*p[0,0,0] - old[0,0,0] + v[0,0,0] * (c*p[-1,0,0] + ... + c*p[0,0,1])
//         = sum[0] - old[0,0,0] + v[0,0,0] * sum[1]
//
// A sum is a largest part of the expression that adds up, with weights that read nothing, what each plane can compute
// by itself: cells, and also products and other functions of cells of one plane. Inputs that are read at the cell alone
// (old, v) are late: they are read when the output is finished, and never wait in a sum.
#pragma once

#include "generator/stencil/problem.hpp"
#include "generator/stencil/rewriting/linear.hpp"

#include <map>
#include <vector>

namespace stencil_tune {

/// The update's expressions taken apart. Nodes belong to `builder`, where each sum is one more field, read at the cell.
struct SumParts {
  StencilBuilder builder;
  std::vector<std::map<int, std::vector<LinearTerm>>> sums;  ///< [sum][plane]: early inputs' terms
  std::vector<Update> finish;
};

/// `walked_axis`: the grid axis along which planes are stacked.
SumParts split_into_sums(const Problem& problem, std::size_t walked_axis);

/// The value itself where the weight is -1, which stands for 1.
NodeId times_weight(StencilBuilder& builder, NodeId weight, NodeId value);

/// Whether the input (an index into facts.inputs) is read at the cell alone.
bool is_late(const StageFacts& facts, std::size_t input);

/// Inputs that are not late: those whose planes are needed with their halo.
int early_inputs(const StageFacts& facts);

/// How many sums an output cell needs; 0: every input is late, there is nothing to sum up. It takes the whole
/// expression apart: Problem::sums has it for every candidate.
int count_sums(const Problem& problem);

}  // namespace stencil_tune
