// The kernels that the tests run: candidates, stencils, element types, boundaries, and the grids they are tried on.
#pragma once

#include "generator/candidates/tuning.hpp"
#include "generator/stencil/problem.hpp"
#include "tuner/executor/host_check.hpp"

#include <optional>
#include <string>
#include <vector>

namespace stencil_tune {

/// How a family moves its cells.
std::vector<Tuning> kernel_forms();

/// A candidate of that form with one output a thread, or few; nothing when none is legal.
std::optional<Tuning> plainest(const Tuning& form, const Problem& problem);

/// The stencil on a grid of 64 cells along each axis.
Problem problem_of(const Stencil& stencil, ElementType type, const Boundaries& boundaries);

/// Built-ins of every rank and shape, and what built-ins never are: lopsided, of several fields, nonlinear.
std::vector<Stencil> covering_stencils();
Stencil lopsided_stencil();   ///< taps reach further to one side, off the axes too
Stencil two_field_stencil();  ///< two inputs with different reach, two outputs
Stencil nonlinear_stencil();  ///< select, minimum, maximum, absolute, square root
Stencil functions_stencil();  ///< sin, cos, tan, tanh, log, pow of what is read, in 2D
Stencil placed_stencil();     ///< coordinates of the cell and of others, and the step's number

/// Uniform ones first, then mixed ones.
std::vector<Boundaries> covering_boundaries();

/// The problem on awkward grids: one cell, fewer cells than the reach, primes, less than a tile, whole tiles; rows
/// dense or padded. Under hold the grids are larger by what is held. Only those that the tuning is legal on.
std::vector<Problem> awkward_grids(const Problem& problem, const Tuning& tuning);

/// A case whose kernel uses 64-bit indices: generated for a grid far larger than those it runs on.
HostCase wide_index_case(HostCase narrow);

/// Every pair of (form, block, register tile, depth, stencil, element type, boundary, block rasterization, cluster,
/// tiles a block, hints, index width) that is legal.
std::vector<HostCase> pairwise_cases();

/// Every form with its plainest tile x every built-in up to order 8 (star) or 4 (box) x type x uniform boundary.
std::vector<HostCase> all_cases();

/// "streaming.bx32... on star3d2r f32 periodic": for test output.
std::string describe(const HostCase& host_case);

inline Boundaries on_all_sides(Boundary boundary) { return {boundary, boundary, boundary}; }

}  // namespace stencil_tune
