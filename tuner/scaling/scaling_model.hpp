// How fast a grid over many GPUs will be: the local kernel's rate, and what its halos take on the links.
//
//     time of k steps = k * cells that a rank updates in its array / rate + exchange
//     exchange        = latency + bytes / bandwidth, of the slower of the links that a rank uses; packing where it is
//     needed
//
// The slowest rank counts. Halos come first, then the steps: nothing is overlapped. No GPU.
#pragma once

#include "generator/cut/exchange_options.hpp"
#include "generator/stencil/problem.hpp"
#include "stencil_tune/decomposition.hpp"

#include <vector>

namespace stencil_tune {

/// What joins the GPUs: within a node, and from node to node. Ranks are numbered node by node.
struct Links {
  int node = 8;                    ///< GPUs of a node
  double node_gbs = 395;           ///< 1e9 bytes/s that a GPU sends: measured between two H200 joined by 18 NVLinks
  double node_latency_us = 18;     ///< latency of an exchange: what the same two took for 1 MiB (21 us), less its bytes
  double network_gbs = 50;         ///< for each GPU of a node: a link of 400 Gbit/s
  double network_latency_us = 25;  ///< assumed, not measured
  double copy_gbs = 4240;          ///< 1e9 bytes/s that packing reads and writes: a plain copy's on an H200
};

struct ScalingPoint {
  int ranks = 1;
  Cut cut{1, 1, 1};
  Extents part{};  ///< own cells of the rank that has most
  LocalKernel kernel{};
  int per_exchange = 1;  ///< steps
  double exchange_us = 0;
  double step_us = 0;    ///< a step of the whole, exchanges shared out
  double gstencils = 0;  ///< rate of all GPUs, in cells of the grid that steps update
};

/// whole: one step, whose extents may be those of a part (weak scaling): the grid's count. grid: cut for halos of so
/// many steps.
ScalingPoint predict_scaling(const Problem& whole, const Decomposition& grid, const LocalKernel& kernel,
                             int per_exchange, const Links& links);

/// For parts of these extents: the cut of so many ranks whose parts receive least, on the grid that is as many times as
/// large along each axis. Throws Error(invalid_argument) where no part is as thick as the halo.
Decomposition grow(const Extents& part, const Boundaries& boundaries, int ranks, const HaloLayers& halo);

}  // namespace stencil_tune
