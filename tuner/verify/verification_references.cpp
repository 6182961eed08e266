// What a launch is compared with, and how far that can be trusted.
#include "generator/candidates/family.hpp"
#include "generator/stencil/buffers.hpp"
#include "generator/stencil/stage_problems.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/verify/awkward.hpp"
#include "tuner/verify/reference/reference.hpp"
#include "tuner/verify/verification.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace stencil_tune {
namespace {

constexpr std::int64_t kSpotChecks = 97;  // cells of each output that the CPU computes too

/// Whether these are most of the cells that the reference holds.
bool most(std::uint64_t cells, const DeviceReference& reference) {
  return cells > static_cast<std::uint64_t>(reference.capacity()) / 2;
}

}  // namespace

const CheckCase& Verification::case_of(int steps) {
  if (steps == 1) return single_;
  auto known = numbers_.find(steps);
  if (known == numbers_.end()) known = numbers_.emplace(steps, sharp_numbers(problem_, steps)).first;
  const CheckNumbers& numbers = known->second.numbers;
  if (!fused_case_ || !same_numbers(fused_case_->numbers, numbers)) {
    levels_.reset();
    levels_case_ = nullptr;
    fused_case_ = make_case(driver_, stages_, numbers);
  }
  return *fused_case_;
}

StepReferences& Verification::whole_levels(int steps) {
  const CheckCase& how = case_of(steps);
  if (levels_case_ != &how) {
    levels_.reset();
    levels_.emplace(stages_, fields_, how, whole_pool_);
    levels_case_ = &how;
  }
  return *levels_;
}

void Verification::compute_whole() {
  prepare_fields({problem_, fields_, single_});
  const Box box = updated_box(problem_);
  const auto& outputs = single_.stages.front();
  for (std::size_t output = 0; output < outputs.size(); ++output) {
    whole_->compute({problem_, outputs[output]}, fields_, {}, {0, row_count(box)},
                    static_cast<std::int64_t>(output) * box.cells());
  }
  const std::uint64_t unbounded = whole_->unbounded();
  if (most(unbounded, *whole_)) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("stencil '{}' cannot be verified: for {} of {} cells the result may be anything (a division "
                    "by what may be 0, a root of what may be negative, or an overflow)",
                    problem_.stencil.name, unbounded, whole_->capacity()));
  }
}

Sharpness Verification::sharpness(const Launcher& candidate) {
  const int steps = sweeps_per_launch(candidate.tuning());
  case_of(steps);
  Sharpness result = numbers_.at(steps).sharpness;
  std::uint64_t unbounded = 0, cells = 0;
  if (in_slabs_) {
    unbounded = unbounded_;
    cells = seen_;
  } else if (has_levels(steps)) {
    const std::vector<FieldContents>& after = whole_levels(steps).after(steps);
    for (const int field : kernel_outputs(problem_, steps)) {
      const FieldContents& stored = after[static_cast<std::size_t>(field)];
      unbounded += stored.computed.by->unbounded();
      cells += static_cast<std::uint64_t>(stored.computed.box.cells());
    }
  } else if (whole_) {
    unbounded = whole_->unbounded();
    cells = static_cast<std::uint64_t>(whole_->capacity());
  }
  if (unbounded == 0) return result;
  // After many sweeps rounding alone may have changed everything, where neighbours drive each other apart.
  if (unbounded > cells / 2) result.share = 0;
  result.note +=
      fmt::format("{}{} of the grid's {} cells may hold anything", result.note.empty() ? "" : "; ", unbounded, cells);
  return result;
}

/// The device's reference and the CPU's are written independently: where they differ, neither can be trusted. Stage by
/// stage, each from what is in memory.
void Verification::agree_with_cpu() {
  const Extents extents = awkward_extents(problem_, {1, 1, 1}).front();
  const Problem small =
      make_problem(problem_.stencil, problem_.type, problem_.boundaries, extents, 0, 1, problem_.stage);
  const std::vector<Problem> stages = stage_problems(small);
  const check::Rounding rounding = rounding_of(small.type);
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const Problem& stage = stages[s];
    prepare_fields({stage, small_fields_, single_});
    const std::vector<std::vector<double>> inputs = host_inputs(stage, seed_, single_.numbers.input);
    const Box box = updated_box(stage);
    const std::int64_t width = box.high[0] - box.low[0];
    const std::int64_t height = box.high[1] - box.low[1];
    for (std::size_t output = 0; output < single_.stages[s].size(); ++output) {
      scratch_->compute({stage, single_.stages[s][output]}, small_fields_, {}, {0, row_count(box)});
      const ReferenceExpression expression = reference_expression(stage, output);
      for (std::int64_t i = 0; i < box.cells(); i += std::max<std::int64_t>(1, box.cells() / kSpotChecks)) {
        const std::int64_t row = i / width;
        const std::array<std::int64_t, kMaxRank> cell{box.low[0] + i % width, box.low[1] + row % height,
                                                      box.low[2] + row / height};
        const check::Bounded expected =
            evaluate_cell(stage, expression, inputs, single_.numbers.coefficients, cell, rounding);
        const double tolerance = check::tolerance(expected, rounding);
        const double found = scratch_->read(i).first;
        const bool both_nan = std::isnan(found) && std::isnan(expected.value);
        if (std::isinf(tolerance) || both_nan || std::fabs(found - expected.value) <= tolerance) continue;
        throw Error(
            ErrorCode::internal,
            fmt::format("the reference of stencil '{}' is {:.17g} on the device and {:.17g} +- {:.2g} on the CPU at "
                        "cell ({}, {}, {}) of {}; please report this",
                        small.stencil.name, found, expected.value, tolerance, cell[0], cell[1], cell[2],
                        to_string(extents)));
      }
    }
  }
}

}  // namespace stencil_tune
