#include "tuner/scaling/scaling_model.hpp"

#include "generator/cut/halo_need.hpp"
#include "generator/cut/part_problem.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace stencil_tune {
namespace {

constexpr double kLaunchUs = 3.5;  // to launch a small kernel: measured on an H200

/// Bytes that a rank sends in an exchange.
struct Sent {
  double in_node = 0;
  double to_others = 0;

  double all() const { return in_node + to_others; }
};

std::int64_t length_sent(const Decomposition& grid, const Box& own, const HaloLayers& layers, std::size_t axis,
                         int direction) {
  if (direction == 0 || grid.cut()[axis] == 1) return own.high[axis] - own.low[axis];
  return direction > 0 ? layers[axis].low : layers[axis].high;
}

std::int64_t cells_sent(const Decomposition& grid, int rank, const Direction& direction, const HaloLayers& layers) {
  const Box own = grid.owned(rank);
  std::int64_t cells = 1;
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    cells *= length_sent(grid, own, layers, axis, direction[axis]);
  }
  return cells;
}

Sent sent_by(const Problem& whole, const Decomposition& grid, int rank, const HaloNeed& need, const Links& links) {
  Sent sent;
  for (int number = 0; number < 27; ++number) {
    const Direction direction{number % 3 - 1, number / 3 % 3 - 1, number / 9 - 1};
    const auto peer = direction == Direction{0, 0, 0} ? std::nullopt : grid.neighbour(rank, direction);
    if (!peer) continue;
    std::int64_t cells = 0;
    for (const int field : whole.step.state) {
      cells += cells_sent(grid, rank, direction, need.fields[static_cast<std::size_t>(field)]);
    }
    const double bytes = static_cast<double>(cells) * static_cast<double>(size_of(whole.type));
    (*peer / links.node == rank / links.node ? sent.in_node : sent.to_others) += bytes;
  }
  return sent;
}

/// Faces lie together in memory where the slowest axis alone is cut.
bool is_packed(const Decomposition& grid) {
  const auto slowest = static_cast<std::size_t>(grid.grid().rank) - 1;
  return grid.cut()[slowest] != grid.ranks();
}

double exchange_us(const Sent& sent, bool packed, const Links& links) {
  if (sent.all() == 0) return 0;
  const double in_node = sent.in_node > 0 ? links.node_latency_us + sent.in_node / links.node_gbs / 1e3 : 0;
  const double to_others = sent.to_others > 0 ? links.network_latency_us + sent.to_others / links.network_gbs / 1e3 : 0;
  const double packing = packed ? 2 * (kLaunchUs + 2 * sent.all() / links.copy_gbs / 1e3) : 0;
  return std::max(in_node, to_others) + packing;
}

}  // namespace

ScalingPoint predict_scaling(const Problem& whole, const Decomposition& grid, const LocalKernel& kernel,
                             int per_exchange, const Links& links) {
  const HaloNeed need = halo_need(whole, per_exchange);
  ScalingPoint point{.ranks = grid.ranks(), .cut = grid.cut(), .kernel = kernel, .per_exchange = per_exchange};
  const Lengths held = layers_held_in_arrays(whole, grid);
  double slowest_us = 0;
  for (int rank = 0; rank < grid.ranks(); ++rank) {
    const double exchange = exchange_us(sent_by(whole, grid, rank, need, links), is_packed(grid), links);
    const double us =
        per_exchange * cells_updated(lengths_of(grid.array(rank)), held) / kernel.gstencils / 1e3 + exchange;
    if (us <= slowest_us) continue;
    slowest_us = us;
    point.exchange_us = exchange;
  }
  point.part = {grid.grid().rank, lengths_of(grid.owned(0))};
  point.step_us = slowest_us / per_exchange;
  point.gstencils = cells_updated(grid.grid().n, layers_held(whole)) / point.step_us / 1e3;
  return point;
}

Decomposition grow(const Extents& part, const Boundaries& boundaries, int ranks, const HaloLayers& halo) {
  std::optional<Decomposition> best;
  std::int64_t least = 0;
  for (int x = 1; x <= ranks; ++x) {
    for (int y = 1; x * y <= ranks; ++y) {
      const Cut cut{x, y, ranks / (x * y)};
      const bool fits_rank = (part.rank > 2 || cut[2] == 1) && (part.rank > 1 || y == 1);
      if (x * y * cut[2] != ranks || !fits_rank) continue;
      Extents whole = part;
      bool thick = true;
      for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
        whole.n[axis] *= cut[axis];
        thick = thick && (cut[axis] == 1 || part.n[axis] >= std::max(halo[axis].low, halo[axis].high));
      }
      if (!thick) continue;
      Decomposition grid(whole, boundaries, cut, halo);
      const std::int64_t received = grid.most_received();
      if (best && received >= least) continue;
      best = std::move(grid);
      least = received;
    }
  }
  if (best) return *best;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("parts of {} are thinner than their halo: exchange more often", to_string(part)));
}

}  // namespace stencil_tune
