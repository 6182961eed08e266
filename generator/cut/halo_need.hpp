// How far a part of a grid must see beyond its own cells to make some steps by itself.
#pragma once

#include "generator/stencil/problem.hpp"
#include "stencil_tune/decomposition.hpp"

#include <vector>

namespace stencil_tune {

struct HaloNeed {
  /// [field of the stencil]: layers that must be right before the first step. A field that is written before it is
  /// read, or that is read in its own cells alone, has none.
  std::vector<HaloLayers> fields;
  /// Layers that the arrays need, all alike: as far as any field is needed between the steps and stages, and what
  /// boundary hold keeps from being written at an array's ends.
  HaloLayers arrays{};
  HaloLayers asked{};  ///< how far beyond its own cells updates ask whether one lies in a layer
};

/// What `steps` whole steps need, after which a part's own cells must be right, of some fields so many layers more.
/// What a step computes wrongly at an array's end, where the neighbour's cells begin, comes nearer with each stage by
/// as much as that reads.
HaloNeed halo_need(const Problem& problem, int steps, std::vector<HaloLayers> wanted = {});

/// All that must be right in halos before the first step: fields that a step changes and the next one reads, those that
/// no step changes, and those whose held layers alone are read.
std::vector<int> fields_with_halos(const Problem& problem);

/// Whether a part may have a halo along the axis when it makes so many steps by itself. Not across a periodic edge
/// where updates ask for coordinates: those of halo cells go on counting there. Nor along an axis with layers, whose
/// places parts do not know. Nor where they ask how far beyond that
/// edge a cell lies: parts know of their own ends alone.
bool may_cut(const Problem& problem, std::size_t axis, int steps);

}  // namespace stencil_tune
