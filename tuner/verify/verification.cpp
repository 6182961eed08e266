#include "tuner/verify/verification.hpp"

#include "generator/candidates/constraints.hpp"
#include "generator/candidates/family.hpp"
#include "generator/kernel/launch.hpp"
#include "generator/stencil/buffers.hpp"
#include "generator/stencil/stage_problems.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/verify/awkward.hpp"
#include "tuner/verify/device/storage.h"
#include "tuner/verify/reference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <span>

namespace stencil_tune {
namespace {

constexpr std::int64_t kSmallRoom = 2 * kMostAwkwardCells;  // cells: awkward grids with padded rows too
constexpr double kShareOfFreeMemory = 0.9;
constexpr std::int64_t kSpotChecks = 97;  // cells of each output that the CPU computes too

/// Where a place (cells from the field's beginning) lies.
std::string where(const Problem& problem, std::int64_t place) {
  const std::int64_t cells = problem.allocated_cells();
  if (place < 0) return fmt::format("{} cells before the array", -place);
  if (place >= cells) return fmt::format("{} cells after the array", place - cells + 1);
  const std::int64_t row = place / problem.pitch;
  return fmt::format("cell ({}, {}, {})", place % problem.pitch, row % problem.extents.n[1],
                     row / problem.extents.n[1]);
}

template <class T>
T from_bytes(const std::array<std::byte, 8>& bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

double cell_value(const std::array<std::byte, 8>& bytes, ElementType type) {
  switch (type) {
    case ElementType::f64:
      return from_bytes<double>(bytes);
    case ElementType::f32:
      return from_bytes<float>(bytes);
    case ElementType::f16:
      return check::from_f16(from_bytes<unsigned short>(bytes));
    case ElementType::bf16:
      return check::from_bf16(from_bytes<unsigned short>(bytes));
  }
  return 0;
}

/// Of the cells that the reference holds.
bool most(std::uint64_t cells, const DeviceReference& reference) {
  return cells > static_cast<std::uint64_t>(reference.capacity()) / 2;
}

CompiledKernel compile_checks(const std::string& architecture, const Problem& problem, const CheckCase& how) {
  return open_check_compiler()->compile(verification_source(problem.type, how.slots()), architecture);
}

/// All that any stage reads or writes, and what launches of the problem touch.
std::vector<int> all_places(const Problem& problem, std::span<const Problem> stages) {
  const std::vector<int> in_use = places_in_use(problem);
  std::set<int> places(in_use.begin(), in_use.end());
  for (const Problem& stage : stages) {
    places.insert(stage.facts.inputs.begin(), stage.facts.inputs.end());
    places.insert(stage.facts.outputs.begin(), stage.facts.outputs.end());
  }
  return {places.begin(), places.end()};
}

bool contains(const std::vector<int>& fields, int field) {
  return std::find(fields.begin(), fields.end(), field) != fields.end();
}

}  // namespace

Verification::Verification(Driver& driver, const std::string& architecture, const Limits& limits,
                           const Problem& problem, const FieldSet& fields, std::uint64_t seed, CUstream_st* stream)
    : driver_(driver),
      problem_(problem),
      fields_(fields),
      limits_(limits),
      seed_(seed),
      stages_(stage_problems(problem)),
      numbers_{{1, sharp_numbers(problem, 1)}},
      single_(make_case(driver, stages_, numbers_.at(1).numbers)),
      kernels_(driver, compile_checks(architecture, problem, single_), stream),
      small_fields_(driver, problem.type, all_places(problem, stages_), kSmallRoom),
      report_(driver, sizeof(check::Report)),
      small_pool_(kernels_, kSmallRoom),
      whole_pool_(kernels_, most_updated_cells(stages_)) {
  if (auto exact = exact_numbers(problem)) exact_ = make_case(driver, stages_, std::move(*exact));
  const Box box = updated_box(problem);
  const auto outputs = static_cast<std::int64_t>(problem.facts.outputs.size());
  const std::int64_t all = outputs * box.cells();
  const auto room = static_cast<std::int64_t>(kShareOfFreeMemory * static_cast<double>(driver.free_memory()) /
                                              DeviceReference::kBytesPerCell) -
                    kSmallRoom;
  fits_ = all <= room;
  if (fits_ && !has_levels(1)) whole_.emplace(kernels_, all);
  scratch_.emplace(kernels_, std::max({kSmallRoom, row_cells(box), fits_ ? 0 : std::min(room, all)}));
  agree_with_cpu();
  if (whole_) compute_whole();
}

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
    levels_.emplace(kernels_, stages_, fields_, how, whole_pool_);
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
  if (has_levels(steps)) {
    const std::vector<FieldContents>& after = whole_levels(steps).after(steps);
    for (const int field : kernel_outputs(problem_, steps)) {
      const FieldContents& stored = after[static_cast<std::size_t>(field)];
      unbounded += stored.computed->unbounded();
      cells += static_cast<std::uint64_t>(stored.box.cells());
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

std::vector<Verification::Stored> Verification::stored_by(const CheckedLaunch& launch) const {
  const auto& [problem, fields, how, steps, levels] = launch;
  const std::vector<int> places = launch_buffers(problem, steps).outputs;
  const std::vector<int> names = kernel_outputs(problem, steps);
  std::vector<Stored> stored;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Box box = levels ? levels->after(steps)[static_cast<std::size_t>(names[i])].box : updated_box(problem);
    stored.push_back({names[i], places[i], box});
  }
  return stored;
}

void Verification::fill(const CheckedLaunch& launch, int place) {
  const Problem& problem = launch.problem;
  kernels_.fill({device_pointer(launch.fields.field(place)), layout_of(problem, updated_box(problem)),
                 input_seed(seed_, place), launch.how.numbers.input});
}

void Verification::prepare_fields(const CheckedLaunch& launch) {
  const auto& [problem, fields, how, steps, levels] = launch;
  const std::int64_t whole = problem.allocated_cells() + 2 * fields.guard_cells();
  for (int place : launch_buffers(problem, steps).outputs) {
    kernels_.poison({device_pointer(fields.whole(place)), whole});
  }
  for (int field : kernel_inputs(problem, steps)) {
    kernels_.poison({device_pointer(fields.whole(field)), whole});
    fill(launch, field);
  }
}

void Verification::clear_report() {
  // "First" places start beyond every other one.
  constexpr long long kBeyond = std::numeric_limits<long long>::max();
  static constexpr check::Report kNothing{0, 0, 0, kBeyond, kBeyond, kBeyond};
  driver_.copy_to_device(report_.address(), &kNothing, sizeof kNothing, kernels_.stream());
}

void Verification::compare_stored(const CheckedLaunch& launch, std::size_t output, const Stored& stored) {
  const auto& [problem, fields, how, steps, levels] = launch;
  const DevicePointer field = fields.field(stored.place);
  const bool exact = how.numbers.exact;
  const std::int64_t rows = row_count(stored.box);
  if (levels) {
    const FieldContents& expected = levels->after(steps)[static_cast<std::size_t>(stored.field)];
    return expected.computed->compare(problem, stored.box, exact, field, {0, rows}, 0, report_.address());
  }
  if (whole_ && &problem == &problem_) {
    return whole_->compare(problem, stored.box, exact, field, {0, rows},
                           static_cast<std::int64_t>(output) * stored.box.cells(), report_.address());
  }
  const std::int64_t most = std::max<std::int64_t>(1, scratch_->capacity() / row_cells(stored.box));
  for (std::int64_t first = 0; first < rows; first += most) {
    const Slab slab{first, std::min(most, rows - first)};
    scratch_->compute({problem, how.stages.front()[output], exact}, fields, {}, slab);
    scratch_->compare(problem, stored.box, exact, field, slab, 0, report_.address());
  }
}

/// Of a field that the launch stored: its held layers, padding and guard bands.
void Verification::look_at_other_cells(const CheckedLaunch& launch, const Stored& stored) {
  const auto& [problem, fields, how, steps, levels] = launch;
  auto* report = device_pointer<check::Report>(report_.address());
  void* const field = device_pointer(fields.field(stored.place));
  const check::Layout layout = layout_of(problem, stored.box);
  if (contains(kernel_inputs(problem, steps), stored.place)) {  // for its layers' sake
    kernels_.unchanged(
        {field, report, layout, fields.guard_cells(), input_seed(seed_, stored.place), how.numbers.input, 1, 0});
  } else {
    kernels_.untouched({field, report, layout, fields.guard_cells()});
  }
}

void Verification::look_at_inputs(const CheckedLaunch& launch, const std::vector<Stored>& stored) {
  const auto& [problem, fields, how, steps, levels] = launch;
  for (const int input : kernel_inputs(problem, steps)) {
    const bool written = std::any_of(stored.begin(), stored.end(), [&](const Stored& s) { return s.place == input; });
    if (written) continue;
    kernels_.unchanged({device_pointer(fields.field(input)), device_pointer<check::Report>(report_.address()),
                        layout_of(problem, updated_box(problem)), fields.guard_cells(), input_seed(seed_, input),
                        how.numbers.input, 0, 0});
  }
}

std::optional<std::string> Verification::check(const Launcher& candidate, const CheckedLaunch& launch) {
  const auto& [problem, fields, how, steps, levels] = launch;
  prepare_fields(launch);
  // The reference first: it reads the inputs, which a wrong kernel may change.
  const std::vector<Stored> stored = stored_by(launch);
  candidate.step(problem, fields, how.numbers.coefficients, kernels_.stream());
  for (std::size_t output = 0; output < stored.size(); ++output) {
    clear_report();
    compare_stored(launch, output, stored[output]);
    look_at_other_cells(launch, stored[output]);
    if (output == 0) look_at_inputs(launch, stored);
    const auto found = read_device<check::Report>(kernels_, report_.address());
    if (found.mismatches + found.touched + found.changed > 0) return describe(launch, output, stored[output], found);
  }
  return std::nullopt;
}

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
  const auto& [problem, fields, how, steps, levels] = launch;
  const Box& box = stored.box;
  if (levels) {
    return fmt::format("{} of {} cells are wrong after {} fused step{}, first {}", report.mismatches, box.cells(),
                       steps, steps == 1 ? "" : "s", where(problem, report.first_mismatch));
  }
  const std::int64_t line = report.first_mismatch / problem.pitch;
  const std::int64_t y = line % problem.extents.n[1] - box.low[1];
  const std::int64_t z = line / problem.extents.n[1] - box.low[2];
  // The reference of this one row again: of all slabs the last one is still there.
  scratch_->compute({problem, how.stages.front()[output], how.numbers.exact}, fields, {},
                    {z * (box.high[1] - box.low[1]) + y, 1});
  const auto [expected, error] = scratch_->read(report.first_mismatch % problem.pitch - box.low[0]);
  const double allowed = check::stored_error(expected, error, rounding_of(problem.type, how.numbers.exact));
  std::array<std::byte, 8> bytes{};
  const DevicePointer field = fields.field(stored.place);
  driver_.copy_to_host(bytes.data(), field + static_cast<std::size_t>(report.first_mismatch) * size_of(problem.type),
                       size_of(problem.type), kernels_.stream());
  driver_.synchronize_stream(kernels_.stream());
  return fmt::format("{} of {} cells are wrong, first {}: {:.9g} instead of {:.9g} +- {:.2g}", report.mismatches,
                     box.cells(), where(problem, report.first_mismatch), cell_value(bytes, problem.type), expected,
                     allowed);
}

std::optional<std::string> Verification::check_small(const Launcher& candidate, const Extents& extents,
                                                     std::int64_t pitch) {
  const Problem small = make_problem(problem_.stencil, problem_.type, problem_.boundaries, extents, pitch,
                                     problem_.steps, problem_.stage);
  if (small.allocated_cells() > kSmallRoom || updated_box(small).cells() == 0) return std::nullopt;
  if (!is_legal({small, candidate.tuning()}, limits_)) return std::nullopt;  // never launched there by anyone
  const int steps = sweeps_per_launch(candidate.tuning());
  const std::vector<Problem> stages = stage_problems(small);
  const auto check_with = [&](const CheckCase& how) {
    StepReferences levels(kernels_, stages, small_fields_, how, small_pool_, Keep::last);
    return check(candidate, {small, small_fields_, how, steps, has_levels(steps) ? &levels : nullptr});
  };
  if (auto wrong = check_with(case_of(steps))) return wrong;
  return exact_ && steps == 1 ? check_with(*exact_) : std::nullopt;
}

std::optional<std::string> Verification::verify(const Launcher& candidate) {
  if (auto wrong = verify_launches(candidate, 1)) return wrong;
  const std::int64_t line = 128 / static_cast<std::int64_t>(size_of(problem_.type));
  for (const Extents& extents : awkward_extents(problem_, output_tile({problem_, candidate.tuning()}))) {
    const std::int64_t dense = extents.n[0];
    const std::int64_t padded = (dense + line - 1) / line * line;
    if (auto wrong = check_small(candidate, extents, dense)) return wrong;
    if (padded == dense) continue;
    if (auto wrong = check_small(candidate, extents, padded)) return wrong;
  }
  return std::nullopt;
}

std::optional<std::string> Verification::verify_launches(const Launcher& candidate, int launches) {
  const int steps = sweeps_per_launch(candidate.tuning());
  if (has_levels(steps) && !fits_) {
    throw Error(ErrorCode::exceeds_device_memory,
                "its grid is too large for the device to hold the reference of several steps or stages");
  }
  const CheckedLaunch each{problem_, fields_, case_of(steps), steps,
                           has_levels(steps) ? &whole_levels(steps) : nullptr};
  for (int launch = 0; launch < launches; ++launch) {
    if (auto wrong = check(candidate, each)) return wrong;
  }
  return std::nullopt;
}

void Verification::fill_for_timing() {
  const LaunchBuffers buffers = launch_buffers(problem_, is_whole_step(problem_) ? problem_.steps : 1);
  const std::vector<int> classes = layer_classes(problem_, buffers);
  for (int place : places_in_use(problem_)) {
    const auto index = static_cast<std::size_t>(place);
    kernels_.fill({device_pointer(fields_.field(place)), layout_of(problem_, updated_box(problem_)),
                   input_seed(seed_, index < classes.size() ? classes[index] : place), random_numbers(problem_).input});
  }
}

}  // namespace stencil_tune
