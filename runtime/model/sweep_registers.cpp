#include "runtime/model/sweep_registers.hpp"

#include <array>
#include <cmath>

namespace stencil_tune {
namespace {

/// A thread's register tile, and how far beyond it the stencil reads on each axis, both sides together.
struct RegisterTile {
  double x, y, z;
  std::array<double, kMaxRank> span{};
  bool star;
  double inputs;

  RegisterTile(const Candidate& candidate, double register_z)
      : x(candidate.tuning().register_x),
        y(candidate.tuning().register_y),
        z(register_z),
        star(candidate.problem().facts.star),
        inputs(static_cast<double>(candidate.problem().facts.inputs.size())) {
    for (std::size_t a = 0; a < kMaxRank; ++a) span[a] = candidate.shape().axes.reach_width(a);
  }

  double outputs() const { return x * y * z; }
  /// Cells of an input that it reads, in all planes.
  double window() const {
    if (!star) return (x + span[0]) * (y + span[1]) * (z + span[2]);
    return outputs() + span[0] * y * z + span[1] * x * z + span[2] * x * y;
  }
  /// Cells of an input that it reads in one plane.
  double plane() const { return star ? x * y + span[0] * y + span[1] * x : (x + span[0]) * (y + span[1]); }
};

void guess_registers_of_sums(const RegisterTile& tile, const Candidate& candidate, const RegisterConstants& c,
                             Work& work) {
  const Tuning& tuning = candidate.tuning();
  const bool ring = tuning.planes == Planes::ring;
  const double sums = tile.outputs() * (1 + tile.span[2]);
  if (tuning.sums_loop == SumsLoop::step) {  // what they need, not what they take if they may
    const double held = candidate.shape().uses_tensor_maps ? c.step_tma : ring ? c.step_copies : c.step_registers;
    work.live_values = sums + held * tile.inputs * tile.plane();
    return;
  }
  work.live_values = (ring ? c.sums_ring : c.sums_registers) * sums +
                     (ring ? c.cells_ring : c.cells_registers) * tile.inputs * tile.plane();
  work.other_registers = ring ? c.other_ring : c.other_registers;
}

}  // namespace

void guess_registers_of_tile(const Candidate& candidate, const RegisterConstants& c, Work& work) {
  const RegisterTile tile(candidate, candidate.tuning().register_z);
  work.live_values = c.direct_window * tile.inputs * tile.window() + tile.outputs();
  work.other_registers = c.direct_other;
}

void guess_registers_of_walk(const Candidate& candidate, const RegisterConstants& c, Work& work) {
  const Tuning& tuning = candidate.tuning();
  const RegisterTile tile(candidate, 1);
  if (tuning.keeps == Keeps::sums) return guess_registers_of_sums(tile, candidate, c, work);
  if (tuning.planes == Planes::registers) {
    work.live_values =
        tile.inputs * (c.registers_window * tile.window() + c.registers_prefetch * tuning.prefetch * tile.x * tile.y);
    work.other_registers = c.registers_other;
  } else if (tuning.planes == Planes::ring) {
    work.live_values = c.ring_window * tile.inputs * tile.window();
    work.other_registers = c.ring_other;
  } else {
    work.live_values = c.shared_window * tile.inputs * tile.window() +
                       tile.outputs() * (c.shared_results + c.shared_unroll * std::log2(tuning.unroll));
    work.other_registers = c.shared_other;
  }
}

}  // namespace stencil_tune
