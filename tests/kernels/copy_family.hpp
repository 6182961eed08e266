// A small kernel family that is no part of stencil-tune: a plain copy. It joins through two tables alone.
#pragma once

#include "generator/candidates/family.hpp"
#include "generator/stencil/problem.hpp"

namespace stencil_tune {

/// Serves stencils whose update is the cell itself; a thread copies `copies` of a row's cells, one after the other.
const Family& copy_family();

/// To the table of families and to that of their models.
void add_copy_family();

/// u_next = u, on a grid of that size.
Problem copy_problem(const Extents& extents, ElementType type);

}  // namespace stencil_tune
