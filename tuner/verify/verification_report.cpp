// What is said of a launch that was wrong.
#include "stencil_tune/error.hpp"
#include "tuner/verify/device/storage.h"
#include "tuner/verify/reference/reference.hpp"
#include "tuner/verify/verification.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <utility>

namespace stencil_tune {
namespace {

/// Where a place (cells from the field's beginning) lies.
std::string where(const Problem& problem, std::int64_t place) {
  const std::int64_t cells = problem.allocated_cells();
  if (place < 0) return fmt::format("{} cells before the array", -place);
  if (place >= cells) return fmt::format("{} cells after the array", place - cells + 1);
  const std::int64_t row = place / problem.pitch;
  return fmt::format("cell ({}, {}, {})", place % problem.pitch, row % problem.extents.n[1],
                     row / problem.extents.n[1]);
}

}  // namespace

std::string Verification::describe(const CheckedLaunch& launch, std::size_t output, const Stored& stored,
                                   const check::Report& report) {
  const Problem& problem = launch.problem;
  const std::string what = report.touched > 0   ? fmt::format("wrote {} cells that no step may write, first {}",
                                                              report.touched, where(problem, report.first_touched))
                           : report.changed > 0 ? fmt::format("changed {} cells of its input, first {}", report.changed,
                                                              where(problem, report.first_changed))
                                                : describe_mismatch(launch, output, stored, report);
  return fmt::format("on {} (pitch {}), {}, field '{}': {}", to_string(problem.extents), problem.pitch,
                     launch.how.numbers.exact ? "integers" : "random input",
                     problem.stencil.fields[static_cast<std::size_t>(stored.field)], what);
}

std::string Verification::describe_mismatch(const CheckedLaunch& launch, std::size_t output, const Stored& stored,
                                            const check::Report& report) {
  const auto& [problem, fields, how, steps, levels, slab] = launch;
  const Box& box = levels ? levels->after(steps)[static_cast<std::size_t>(stored.field)].computed.box : stored.box;
  const std::int64_t line = report.first_mismatch / problem.pitch;
  const std::int64_t x = report.first_mismatch % problem.pitch - box.low[0];
  const std::int64_t y = line % problem.extents.n[1] - box.low[1];
  const std::int64_t z = line / problem.extents.n[1] - box.low[2];
  const std::int64_t row = z * (box.high[1] - box.low[1]) + y;
  std::pair<double, double> right;
  if (levels) {
    const FieldContents& after = levels->after(steps)[static_cast<std::size_t>(stored.field)];
    right = after.computed.by->read(row * row_cells(box) + x);
  } else {
    // The reference of this one row again: of all slabs the last one is still there.
    scratch_->compute({problem, how.stages.front()[output], how.numbers.exact}, fields, {}, {row, 1});
    right = scratch_->read(x);
  }
  const double allowed =
      check::stored_error(right.first, right.second, rounding_of(problem, stored.field, how.numbers.exact));
  const ElementType type = storage_of(problem, stored.field);
  unsigned long long bits = 0;  // the first bytes hold the cell
  const DevicePointer field = fields.field(stored.place);
  driver_.copy_to_host(&bits, field + static_cast<std::size_t>(report.first_mismatch) * size_of(type), size_of(type),
                       kernels_.stream());
  driver_.synchronize_stream(kernels_.stream());
  const std::string after = levels ? fmt::format(" after {} fused step{}", steps, steps == 1 ? "" : "s") : "";
  return fmt::format("{} of {} cells are wrong{}, first {}: {:.17g} instead of {:.17g} +- {:.2g}", report.mismatches,
                     (slab ? within(box, *slab, problem.extents.rank) : box).cells(), after,
                     where(problem, report.first_mismatch), check::value_of_bits(bits, static_cast<int>(type)),
                     right.first, allowed);
}

}  // namespace stencil_tune
