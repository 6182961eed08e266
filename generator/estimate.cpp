#include "generator/estimate.hpp"

#include "generator/tile.hpp"

#include <algorithm>

namespace stencil_tune {
namespace {

/// Register tiles along the kernel's axes; a walking thread has one plane of outputs.
struct RegisterTile {
  std::int64_t x, y, z;
};

/// Values of one input that a thread holds at once.
std::int64_t input_window(const Problem& problem, const Tuning& tuning, const RegisterTile& tile) {
  const KernelAxes axes = kernel_axes(problem, tuning);
  const auto span = [&](std::size_t axis) { return std::int64_t{axes.reach[axis].high} - axes.reach[axis].low; };
  const std::int64_t row = tile.x + span(0);
  const bool walks = tuning.family == Family::streaming;
  if (!walks || tuning.planes == Planes::shared) return row;

  const std::int64_t ahead = tuning.planes == Planes::registers ? tuning.prefetch : 0;
  const std::int64_t planes = span(2) + 1 + ahead;
  const std::int64_t column = saturating_product({tile.x, tile.y, planes});
  if (tuning.planes == Planes::mixed) return column + row;  // registers and ring keep what they load once
  if (problem.facts.star) return column + (1 + ahead) * (span(1) * tile.x + span(0) * tile.y);
  return saturating_product({row, tile.y + span(1), planes});
}

}  // namespace

std::int64_t live_registers(const Problem& problem, const Tuning& tuning) {
  const RegisterTile tile{tuning.register_x, tuning.register_y, tuning.register_z};
  const std::int64_t words = problem.type == ElementType::f64 ? 2 : 1;
  const auto inputs = static_cast<std::int64_t>(problem.facts.inputs.size());
  const auto outputs = static_cast<std::int64_t>(problem.facts.outputs.size());
  const std::int64_t held = saturating_product({tile.x, tile.y, tile.z, outputs});
  const std::int64_t read = saturating_product({inputs, input_window(problem, tuning, tile)});
  return saturating_product({words, saturating_sum(held, read)});
}

std::int64_t unrolled_work(const Problem& problem, const Tuning& tuning) {
  const auto taps = static_cast<std::int64_t>(problem.facts.taps.size());
  const std::int64_t update = std::max<std::int64_t>({taps, problem.facts.operations / 2, 1});
  return saturating_product({update, tuning.register_x, tuning.register_y, tuning.register_z, tuning.unroll});
}

}  // namespace stencil_tune
