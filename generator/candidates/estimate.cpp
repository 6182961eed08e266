#include "generator/candidates/estimate.hpp"

#include "generator/candidates/temporal.hpp"
#include "generator/candidates/tile.hpp"
#include "generator/kernel/plane_sums.hpp"

#include <algorithm>

namespace stencil_tune {
namespace {

/// Register tiles along the kernel's axes; a walking thread has one plane of outputs.
struct RegisterTile {
  std::int64_t x, y, z;
};

/// The planes that a group's levels hold in registers of the field that is advanced, one plane that passes through, and
/// one of each constant field.
std::int64_t values_of_levels(const Problem& problem, const Tuning& tuning, const RegisterTile& tile) {
  const TemporalShape shape = temporal_shape(problem, tuning);
  const auto constants = static_cast<std::int64_t>(problem.facts.inputs.size()) - 1;
  const std::int64_t planes =
      saturating_sum(saturating_product({shape.levels, std::max(0, shape.held - tuning.shared_planes)}), 1 + constants);
  return saturating_product({tile.x, tile.y, planes});
}

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

/// Sums of the outputs within reach, late cells, and two rows on their way from the plane to the sums.
std::int64_t values_with_sums(const Problem& problem, const Tuning& tuning, const RegisterTile& tile) {
  const KernelAxes axes = kernel_axes(problem, tuning);
  const auto span = [&](std::size_t axis) { return std::int64_t{axes.reach[axis].high} - axes.reach[axis].low; };
  const std::int64_t early = early_inputs(problem.facts);
  const std::int64_t late = static_cast<std::int64_t>(problem.facts.inputs.size()) - early;
  const std::int64_t pending = saturating_product({count_sums(problem), span(2), tile.x, tile.y});
  const std::int64_t rows = saturating_product({2, early, tile.x + span(0)});
  return saturating_sum(saturating_sum(pending, rows), saturating_product({late, tile.x, tile.y}));
}

/// Steps in the body of a loop with sums (plane_sums.cuh).
std::int64_t steps_of_loop(const Problem& problem, const Tuning& tuning) {
  if (tuning.sums_loop == SumsLoop::step) return 1;
  const Reach reach = kernel_axes(problem, tuning).reach[2];
  return std::int64_t{reach.high} - reach.low + 1;
}

}  // namespace

std::int64_t live_registers(const Problem& problem, const Tuning& tuning) {
  const RegisterTile tile{tuning.register_x, tuning.register_y, tuning.register_z};
  const std::int64_t words = problem.type == ElementType::f64 ? 2 : 1;
  if (tuning.keeps == Keeps::sums && tuning.family == Family::streaming) {
    return saturating_product({words, values_with_sums(problem, tuning, tile)});
  }
  const auto inputs = static_cast<std::int64_t>(problem.facts.inputs.size());
  const auto outputs = static_cast<std::int64_t>(problem.facts.outputs.size());
  const std::int64_t held = saturating_product({tile.x, tile.y, tile.z, outputs});
  const std::int64_t read = tuning.family == Family::temporal
                                ? values_of_levels(problem, tuning, tile)
                                : saturating_product({inputs, input_window(problem, tuning, tile)});
  return saturating_product({words, saturating_sum(held, read)});
}

std::int64_t unrolled_work(const Problem& problem, const Tuning& tuning) {
  const auto taps = static_cast<std::int64_t>(problem.facts.taps.size());
  const auto update = std::max<std::int64_t>({taps, problem.facts.operations / 2, 1});
  const bool sums = tuning.keeps == Keeps::sums && tuning.family == Family::streaming;
  const std::int64_t unrolled = sums ? steps_of_loop(problem, tuning) : tuning.unroll;
  const std::int64_t sweeps = tuning.family == Family::temporal ? temporal_shape(problem, tuning).levels : 1;
  return saturating_product({update, tuning.register_x, tuning.register_y, tuning.register_z, unrolled, sweeps});
}

}  // namespace stencil_tune
