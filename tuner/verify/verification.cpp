#include "tuner/verify/verification.hpp"

#include "generator/candidates/constraints.hpp"
#include "generator/candidates/family.hpp"
#include "generator/kernel/launch.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/verify/awkward.hpp"
#include "tuner/verify/device/storage.h"
#include "tuner/verify/reference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

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
  int slots = 1;
  for (const ReferenceProgram& program : how.programs) slots = std::max(slots, program.slots);
  return open_check_compiler()->compile(verification_source(problem.type, slots), architecture);
}

}  // namespace

Verification::Verification(Driver& driver, const std::string& architecture, const Limits& limits,
                           const Problem& problem, const FieldSet& fields, std::uint64_t seed, CUstream_st* stream)
    : driver_(driver),
      problem_(problem),
      fields_(fields),
      limits_(limits),
      seed_(seed),
      numbers_{{1, sharp_numbers(problem, 1)}},
      single_(make_case(driver, problem, numbers_.at(1).numbers)),
      kernels_(driver, compile_checks(architecture, problem, single_), stream),
      small_fields_(driver, problem, kSmallRoom),
      report_(driver, sizeof(check::Report)) {
  if (auto exact = exact_numbers(problem)) exact_ = make_case(driver, problem, std::move(*exact));
  const std::int64_t row = row_cells(problem);
  const auto outputs = static_cast<std::int64_t>(single_.programs.size());
  const std::int64_t all = outputs * row * row_count(problem);
  const auto room = static_cast<std::int64_t>(kShareOfFreeMemory * static_cast<double>(driver.free_memory()) /
                                              DeviceReference::kBytesPerCell) -
                    kSmallRoom;
  if (all <= room) whole_.emplace(kernels_, all);
  scratch_.emplace(kernels_, std::max({kSmallRoom, row, whole_ ? 0 : std::min(room, all)}));
  agree_with_cpu();
  if (whole_) compute_whole();
  if (problem.steps > 1 && advances_one_field(problem)) earlier_.emplace(kernels_, kSmallRoom);
}

const CheckCase& Verification::case_of(int sweeps) {
  if (sweeps == 1) return single_;
  auto known = numbers_.find(sweeps);
  if (known == numbers_.end()) known = numbers_.emplace(sweeps, sharp_numbers(problem_, sweeps)).first;
  const CheckNumbers& numbers = known->second.numbers;
  if (!fused_case_ || !same_numbers(fused_case_->numbers, numbers)) {
    fused_.reset();
    fused_case_ = make_case(driver_, problem_, numbers);
  }
  return *fused_case_;
}

SweepReferences& Verification::fused_references(int sweeps) {
  const CheckCase& how = case_of(sweeps);
  if (!fused_) fused_.emplace(kernels_, problem_, fields_, how, row_cells(problem_) * row_count(problem_));
  return *fused_;
}

void Verification::compute_whole() {
  prepare_fields({problem_, fields_, single_});
  const Slab slab{0, row_count(problem_)};
  const std::int64_t cells = slab.rows * row_cells(problem_);
  for (std::size_t output = 0; output < single_.programs.size(); ++output) {
    whole_->compute(problem_, fields_, single_, output, slab, static_cast<std::int64_t>(output) * cells);
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
  const int sweeps = sweeps_per_launch(candidate.tuning());
  case_of(sweeps);
  Sharpness result = numbers_.at(sweeps).sharpness;
  if (!whole_) return result;
  const DeviceReference& reference = sweeps > 1 ? fused_references(sweeps).after(sweeps) : *whole_;
  const std::uint64_t unbounded = reference.unbounded();
  if (unbounded == 0) return result;
  // After many sweeps rounding alone may have changed everything, where neighbours drive each other apart.
  if (most(unbounded, reference)) result.share = 0;
  result.note += fmt::format("{}{} of the grid's {} cells may hold anything", result.note.empty() ? "" : "; ",
                             unbounded, reference.capacity());
  return result;
}

/// The device's reference and the CPU's are written independently: where they differ, neither can be trusted.
void Verification::agree_with_cpu() {
  const Extents extents = awkward_extents(problem_, {1, 1, 1}).front();
  const Problem small =
      make_problem(problem_.stencil, problem_.type, problem_.boundaries, extents, 0, 1, problem_.stage);
  prepare_fields({small, small_fields_, single_});
  const std::vector<std::vector<double>> inputs = host_inputs(small, seed_, single_.numbers.input);
  const check::Rounding rounding = rounding_of(small.type);
  const Box box = updated_box(small);
  const std::int64_t width = box.high[0] - box.low[0];
  const std::int64_t height = box.high[1] - box.low[1];
  for (std::size_t output = 0; output < single_.programs.size(); ++output) {
    scratch_->compute(small, small_fields_, single_, output, {0, row_count(small)});
    const ReferenceExpression expression = reference_expression(small, output);
    for (std::int64_t i = 0; i < box.cells(); i += std::max<std::int64_t>(1, box.cells() / kSpotChecks)) {
      const std::int64_t row = i / width;
      const std::array<std::int64_t, kMaxRank> cell{box.low[0] + i % width, box.low[1] + row % height,
                                                    box.low[2] + row / height};
      const check::Bounded expected =
          evaluate_cell(small, expression, inputs, single_.numbers.coefficients, cell, rounding);
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

void Verification::prepare_fields(const CheckedLaunch& launch) {
  const auto& [problem, fields, how, sweeps] = launch;
  const std::int64_t whole = problem.allocated_cells() + 2 * fields.guard_cells();
  for (int field : problem.facts.outputs) kernels_.poison({device_pointer(fields.whole(field)), whole});
  for (int field : problem.facts.inputs) {
    kernels_.poison({device_pointer(fields.whole(field)), whole});
    kernels_.fill(
        {device_pointer(fields.field(field)), layout_of(problem), input_seed(seed_, field), how.numbers.input});
  }
}

void Verification::clear_report() {
  // "First" places start beyond every other one.
  constexpr long long kBeyond = std::numeric_limits<long long>::max();
  static constexpr check::Report kNothing{0, 0, 0, kBeyond, kBeyond, kBeyond};
  driver_.copy_to_device(report_.address(), &kNothing, sizeof kNothing, kernels_.stream());
}

void Verification::compare_output(const CheckedLaunch& launch, std::size_t output) {
  const auto& [problem, fields, how, sweeps] = launch;
  const DevicePointer field = fields.field(updates_of(problem)[output].output);
  const std::int64_t row = row_cells(problem);
  const std::int64_t rows = row_count(problem);
  if (sweeps > 1) return compare_fused(launch);
  if (whole_ && &problem == &problem_) {
    whole_->compare(problem, how, field, {0, rows}, static_cast<std::int64_t>(output) * row * rows, report_.address());
    return;
  }
  const std::int64_t most = std::max<std::int64_t>(1, scratch_->capacity() / row);
  for (std::int64_t first = 0; first < rows; first += most) {
    const Slab slab{first, std::min(most, rows - first)};
    scratch_->compute(problem, fields, how, output, slab);
    scratch_->compare(problem, how, field, slab, 0, report_.address());
  }
}

/// Sweep after sweep from the inputs that the kernel had; nothing is written to the fields.
void Verification::compare_fused(const CheckedLaunch& launch) {
  const auto& [problem, fields, how, sweeps] = launch;
  const DevicePointer field = fields.field(updates_of(problem).front().output);
  const Slab all{0, row_count(problem)};
  if (&problem == &problem_) {
    fused_references(sweeps).after(sweeps).compare(problem, how, field, all, 0, report_.address());
    return;
  }
  DeviceReference* now = &*scratch_;
  DeviceReference* earlier = &*earlier_;
  now->compute(problem, fields, how, 0, all);
  for (int done = 1; done < sweeps; ++done) {
    std::swap(now, earlier);
    now->compute(problem, fields, how, 0, all, 0, earlier);
  }
  now->compare(problem, how, field, all, 0, report_.address());
}

std::optional<std::string> Verification::check(const Launcher& candidate, const CheckedLaunch& launch) {
  const auto& [problem, fields, how, sweeps] = launch;
  prepare_fields(launch);
  // The reference first: it reads the inputs, which a wrong kernel may change.
  if (sweeps > 1 && &problem == &problem_) fused_references(sweeps).after(sweeps);
  candidate.step(problem, fields, how.numbers.coefficients, kernels_.stream());
  const check::Layout layout = layout_of(problem);
  auto* report = device_pointer<check::Report>(report_.address());
  for (std::size_t output = 0; output < how.programs.size(); ++output) {
    clear_report();
    compare_output(launch, output);
    const int written = updates_of(problem)[output].output;
    kernels_.untouched({device_pointer(fields.field(written)), report, layout, fields.guard_cells()});
    for (int field : output == 0 ? problem.facts.inputs : std::vector<int>{}) {
      kernels_.unchanged({device_pointer(fields.field(field)), report, layout, fields.guard_cells(),
                          input_seed(seed_, field), how.numbers.input});
    }
    const auto found = read_device<check::Report>(kernels_, report_.address());
    if (found.mismatches + found.touched + found.changed > 0) return describe(launch, output, found);
  }
  return std::nullopt;
}

std::string Verification::describe(const CheckedLaunch& launch, std::size_t output, const check::Report& report) {
  const auto& [problem, fields, how, sweeps] = launch;
  const auto field = static_cast<std::size_t>(updates_of(problem)[output].output);
  const std::string what = report.touched > 0   ? fmt::format("wrote {} cells that no step may write, first {}",
                                                              report.touched, where(problem, report.first_touched))
                           : report.changed > 0 ? fmt::format("changed {} cells of its input, first {}", report.changed,
                                                              where(problem, report.first_changed))
                                                : describe_mismatch(launch, output, report);
  return fmt::format("on {} (pitch {}), {}, field '{}': {}", to_string(problem.extents), problem.pitch,
                     how.numbers.exact ? "integers" : "random input", problem.stencil.fields[field], what);
}

std::string Verification::describe_mismatch(const CheckedLaunch& launch, std::size_t output,
                                            const check::Report& report) {
  const auto& [problem, fields, how, sweeps] = launch;
  const Box box = updated_box(problem);
  if (sweeps > 1) {
    return fmt::format("{} of {} cells are wrong after {} fused steps, first {}", report.mismatches, box.cells(),
                       sweeps, where(problem, report.first_mismatch));
  }
  const std::int64_t line = report.first_mismatch / problem.pitch;
  const std::int64_t y = line % problem.extents.n[1] - box.low[1];
  const std::int64_t z = line / problem.extents.n[1] - box.low[2];
  // The reference of this one row again: of all slabs the last one is still there.
  scratch_->compute(problem, fields, how, output, {z * (box.high[1] - box.low[1]) + y, 1});
  const auto [expected, error] = scratch_->read(report.first_mismatch % problem.pitch - box.low[0]);
  const double allowed = check::stored_error(expected, error, rounding_of(problem.type, how.numbers.exact));
  std::array<std::byte, 8> bytes{};
  const DevicePointer field = fields.field(updates_of(problem)[output].output);
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
  const int sweeps = sweeps_per_launch(candidate.tuning());
  if (auto wrong = check(candidate, {small, small_fields_, case_of(sweeps), sweeps})) return wrong;
  return exact_ && sweeps == 1 ? check(candidate, {small, small_fields_, *exact_}) : std::nullopt;
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
  const int sweeps = sweeps_per_launch(candidate.tuning());
  if (sweeps > 1 && !whole_) {
    throw Error(ErrorCode::exceeds_device_memory,
                "its grid is too large for the device to hold the reference of several steps");
  }
  const CheckedLaunch each{problem_, fields_, case_of(sweeps), sweeps};
  for (int launch = 0; launch < launches; ++launch) {
    if (auto wrong = check(candidate, each)) return wrong;
  }
  return std::nullopt;
}

void Verification::fill_for_timing() {
  const std::vector<int> classes = rotation_classes(problem_.stencil);
  for (int field : fields_in_use(problem_)) {
    kernels_.fill({device_pointer(fields_.field(field)), layout_of(problem_),
                   input_seed(seed_, classes[static_cast<std::size_t>(field)]), random_numbers(problem_).input});
  }
}

}  // namespace stencil_tune
