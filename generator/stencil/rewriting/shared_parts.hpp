// Parts of an update that are read at several cells, as fields of their own.
//
//     uh_next = ... fu[x+1] - fu[x-1] ...  with fu = uh*uh/h + 0.5*g*h*h written out at each of its reads
//
// becomes a step of two stages, of which the first reads nothing beside its cell:
//
//     stage 0  "part 0" = uh*uh/h + 0.5*g*h*h
//     stage 1  uh_next = ... "part 0"[x+1] - "part 0"[x-1] ...
//
// A part is what costs something (a quotient, a function or two products of field values), reads all its fields at one
// and the same offset, and is read at two or more different offsets by one stage. Beyond an edge such a part has the
// value at the cell that the boundary reads in place: clamp, reflect and periodic map all its reads to one cell.
//
// Quotients by one denominator share its reciprocal (shared_reciprocals.hpp): fluxes divide by the same depth.
#pragma once

#include "generator/stencil/problem.hpp"

#include <memory>

namespace stencil_tune {

/// The same step with the largest such parts as fields after the stencil's own, each written by a stage before the one
/// that reads it, and with shared reciprocals. Nothing where there are none.
std::shared_ptr<const StepForm> with_parts_once(const Stencil& stencil);

}  // namespace stencil_tune
