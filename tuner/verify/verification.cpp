#include "tuner/verify/verification.hpp"

#include "generator/candidates/constraints.hpp"
#include "generator/candidates/family.hpp"
#include "generator/kernel_source/launch.hpp"
#include "generator/stencil/buffers.hpp"
#include "generator/stencil/indices.hpp"
#include "generator/stencil/stage_problems.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/verify/awkward.hpp"
#include "tuner/verify/reference/reference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <span>

namespace stencil_tune {
namespace {

constexpr std::int64_t kSmallRoom = 2 * kMostAwkwardCells;  // cells: awkward grids with padded rows too
constexpr double kShareOfFreeMemory = 0.9, kShareOfSlabs = 0.5;
/// Cells of a slab that some candidates are compared in, and of those that cover the grid: what levels need beside
/// them is computed twice.
constexpr std::int64_t kSomeCells = std::int64_t{1} << 24, kSlabCells = std::int64_t{1} << 28;
constexpr int kMoreLaunches = 8;  // a kernel that was wrong makes so many more: does it race?

CompiledKernel compile_checks(const std::string& architecture, const CheckCase& how) {
  return open_check_compiler()->compile(verification_source(how.slots()), architecture);
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

/// Whose update it holds: an older time level has what another field held before.
int written_field(const Problem& problem, int field) {
  while (problem.step.written_by[at(field)] < 0) {
    const auto from = std::find_if(problem.stencil.rotations.begin(), problem.stencil.rotations.end(),
                                   [&](const Rotation& rotation) { return rotation.to == field; });
    field = from->from;
  }
  return field;
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
      kernels_(driver, compile_checks(architecture, single_), stream),
      small_fields_(driver, problem, all_places(problem, stages_), kSmallRoom),
      report_(driver, sizeof(check::Report)),
      in_slabs_(checks_in_slabs(problem, driver.free_memory())),
      slab_bytes_(kShareOfSlabs * static_cast<double>(driver.free_memory())),
      places_(seed),
      small_pool_(kernels_, kSmallRoom),
      whole_pool_(kernels_, most_updated_cells(stages_)) {
  if (auto exact = exact_numbers(problem)) exact_ = make_case(driver, stages_, std::move(*exact));
  const Box box = updated_box(problem);
  const auto outputs = in_slabs_ ? 0 : static_cast<std::int64_t>(problem.facts.outputs.size());
  const std::int64_t all = outputs * box.cells();
  const auto room = static_cast<std::int64_t>(kShareOfFreeMemory * static_cast<double>(driver.free_memory()) /
                                              DeviceReference::kBytesPerCell) -
                    kSmallRoom;
  fits_ = in_slabs_ || all <= room;
  if (fits_ && !in_slabs_ && !has_levels(1)) whole_.emplace(kernels_, all);
  scratch_.emplace(kernels_, std::max({kSmallRoom, row_cells(box), fits_ ? 0 : std::min(room, all)}));
  agree_with_cpu();
  if (whole_) compute_whole();
}

std::vector<Verification::Stored> Verification::stored_by(const CheckedLaunch& launch) const {
  const auto& [problem, fields, how, steps, levels, slab] = launch;
  const std::vector<int> places = launch_buffers(problem, steps).outputs;
  const std::vector<int> names = kernel_outputs(problem, steps);
  std::vector<Stored> stored;
  for (std::size_t i = 0; i < names.size(); ++i) {
    Box box = updated_box(problem);
    if (levels) {
      box = levels->after(steps)[static_cast<std::size_t>(names[i])].computed.box;
    } else if (&problem == &problem_ && has_levels(steps)) {
      box =
          updated_box(stages_[static_cast<std::size_t>(problem.step.written_by[at(written_field(problem, names[i]))])]);
    }
    stored.push_back({names[i], places[i], box});
  }
  return stored;
}

void Verification::fill(const CheckedLaunch& launch, int place) {
  const Problem& problem = launch.problem;
  kernels_.fill({device_pointer(launch.fields.field(place)), layout_of_field(problem, place), input_seed(seed_, place),
                 launch.how.numbers.input});
}

void Verification::prepare_fields(const CheckedLaunch& launch) {
  const auto& [problem, fields, how, steps, levels, slab] = launch;
  const auto poison = [&](int place, ElementType type, std::int64_t cells) {
    kernels_.poison(
        {device_pointer(fields.whole(place)), cells + 2 * FieldSet::guard_cells(type), static_cast<int>(type), 0});
  };
  const std::vector<int> places = launch_buffers(problem, steps).outputs, names = kernel_outputs(problem, steps);
  for (std::size_t i = 0; i < names.size(); ++i) {  // stored_by() would compute the levels, before there are inputs
    poison(places[i], storage_of(problem, names[i]), problem.allocated_cells());
  }
  for (int field : kernel_inputs(problem, steps)) {
    poison(field, storage_of(problem, field), std::max(problem.allocated_cells(), cells_of_field(problem, field)));
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
  const auto& [problem, fields, how, steps, levels, slab] = launch;
  const DevicePointer field = fields.field(stored.place);
  const bool exact = how.numbers.exact;
  const std::int64_t rows = row_count(stored.box);
  if (levels) {
    const ComputedCells& expected = levels->after(steps)[static_cast<std::size_t>(stored.field)].computed;
    const Box compared = slab ? within(stored.box, *slab, problem.extents.rank) : stored.box;
    return expected.by->compare(problem, stored.field, stored.box, exact, field,
                                {rows_before(stored.box, compared), row_count(compared)},
                                rows_before(expected.box, compared) * row_cells(stored.box), report_.address());
  }
  if (whole_ && &problem == &problem_) {
    return whole_->compare(problem, stored.field, stored.box, exact, field, {0, rows},
                           static_cast<std::int64_t>(output) * stored.box.cells(), report_.address());
  }
  const std::int64_t most = std::max<std::int64_t>(1, scratch_->capacity() / row_cells(stored.box));
  for (std::int64_t first = 0; first < rows; first += most) {
    const Slab part{first, std::min(most, rows - first)};
    scratch_->compute({problem, how.stages.front()[output], exact}, fields, {}, part);
    scratch_->compare(problem, stored.field, stored.box, exact, field, part, 0, report_.address());
  }
}

/// Checks what else is in a field that the launch stored: its held layers, padding and guard bands.
void Verification::look_at_other_cells(const CheckedLaunch& launch, const Stored& stored) {
  const auto& [problem, fields, how, steps, levels, slab] = launch;
  auto* report = device_pointer<check::Report>(report_.address());
  void* const field = device_pointer(fields.field(stored.place));
  const ElementType type = storage_of(problem, stored.field);
  const std::int64_t guard = FieldSet::guard_cells(type);
  const check::Layout layout = layout_of(problem, stored.box, type);
  if (contains(kernel_inputs(problem, steps), stored.place)) {  // for its layers' sake
    kernels_.unchanged({field, report, layout, guard, input_seed(seed_, stored.place), how.numbers.input, 1, 0});
  } else {
    kernels_.untouched({field, report, layout, guard});
  }
}

void Verification::look_at_inputs(const CheckedLaunch& launch, const std::vector<Stored>& stored) {
  const auto& [problem, fields, how, steps, levels, slab] = launch;
  for (const int input : kernel_inputs(problem, steps)) {
    const bool written = std::any_of(stored.begin(), stored.end(), [&](const Stored& s) { return s.place == input; });
    if (written) continue;
    kernels_.unchanged({device_pointer(fields.field(input)), device_pointer<check::Report>(report_.address()),
                        layout_of_field(problem, input), FieldSet::guard_cells(storage_of(problem, input)),
                        input_seed(seed_, input), how.numbers.input, 0, 0});
  }
}

/// Slabs one after the other. The levels' inputs are as they were: a launch stores to no input.
std::optional<std::string> Verification::compare_slab(CheckedLaunch launch, const std::vector<Stored>& stored,
                                                      const StepSlab& slab) {
  StepReferences levels(stages_, fields_, launch.how, *slab_pool_, Keep::last, slab);
  launch.levels = &levels;
  launch.slab = slab;
  const std::vector<FieldContents>& after = levels.after(launch.steps);
  for (std::size_t output = 0; output < stored.size(); ++output) {
    clear_report();
    compare_stored(launch, output, stored[output]);
    const auto found = read_device<check::Report>(kernels_, report_.address());
    if (found.mismatches > 0) return describe(launch, output, stored[output], found);
    const ComputedCells& computed = after[static_cast<std::size_t>(stored[output].field)].computed;
    unbounded_ += computed.by->unbounded();
    seen_ += static_cast<std::uint64_t>(computed.box.cells());
  }
  return std::nullopt;
}

/// Those of the whole grid, of about so many cells each, or as many as memory holds the references of.
std::vector<StepSlab> Verification::slabs_of(int steps, std::int64_t cells) {
  const Box box = updated_box(problem_);
  const auto last = static_cast<std::size_t>(problem_.extents.rank - 1);
  std::int64_t low = box.low[last], high = box.high[last];
  for (const Problem& stage : stages_) {
    low = std::min(low, updated_box(stage).low[last]);
    high = std::max(high, updated_box(stage).high[last]);
  }
  const std::int64_t plane = problem_.extents.cells() / problem_.extents.n[last];
  const std::int64_t beside = 2 * steps * reach_of_step(stages_);
  const auto cell_bytes = static_cast<double>(fused_reference_bytes(problem_)) / static_cast<double>(box.cells());
  const auto held = static_cast<std::int64_t>(slab_bytes_ / cell_bytes) / plane - beside;
  const std::int64_t planes =
      std::clamp(std::min(std::max(cells / plane, beside / 2), held), std::int64_t{1}, high - low);
  if (const std::int64_t capacity = (planes + beside) * plane; !slab_pool_ || capacity > slab_capacity_) {
    slab_pool_.reset();
    slab_pool_.emplace(kernels_, capacity);
    slab_capacity_ = capacity;
  }
  std::vector<StepSlab> slabs;
  for (; low < high; low += planes) slabs.push_back({low, std::min(low + planes, high), steps});
  return slabs;
}

/// Those at both ends, and two between them.
std::vector<StepSlab> Verification::some_slabs(int steps) {
  constexpr std::size_t kSome = 4;
  std::vector<StepSlab> all = slabs_of(steps, kSomeCells);
  if (all.size() <= kSome) return all;
  std::uniform_int_distribution<std::size_t> between(1, all.size() - 2);
  return {all.front(), all.back(), all[between(places_)], all[between(places_)]};
}

/// slabs: those that the problem's grid is compared in; none where all of it is at once.
std::optional<std::string> Verification::check(const Launcher& candidate, const CheckedLaunch& launch,
                                               std::span<const StepSlab> slabs) {
  const auto& [problem, fields, how, steps, levels, slab] = launch;
  prepare_fields(launch);
  // The reference first: it reads the inputs, which a wrong kernel may change.
  const std::vector<Stored> stored = stored_by(launch);
  candidate.step(problem, fields, how.numbers.coefficients, kernels_.stream());
  for (std::size_t output = 0; output < stored.size(); ++output) {
    clear_report();
    if (slabs.empty()) compare_stored(launch, output, stored[output]);
    look_at_other_cells(launch, stored[output]);
    if (output == 0) look_at_inputs(launch, stored);
    const auto found = read_device<check::Report>(kernels_, report_.address());
    if (found.mismatches + found.touched + found.changed > 0) return describe(launch, output, stored[output], found);
  }
  for (const StepSlab& each : slabs) {
    if (auto wrong = compare_slab(launch, stored, each)) return wrong;
  }
  return std::nullopt;
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
    StepReferences levels(stages, small_fields_, how, small_pool_, Keep::last);
    return check(candidate, {small, small_fields_, how, steps, has_levels(steps) ? &levels : nullptr});
  };
  if (auto wrong = check_with(case_of(steps))) return wrong;
  return exact_ && steps == 1 ? check_with(*exact_) : std::nullopt;
}

std::optional<std::string> Verification::verify(const Launcher& candidate) {
  if (auto wrong = verify_launches(candidate, 1, false)) return wrong;
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

std::optional<std::string> Verification::verify_launches(const Launcher& candidate, int launches, bool all_cells) {
  constexpr int kMostInSlabs = 2;  // each has as many blocks as many of other grids have
  if (in_slabs_) launches = std::min(launches, kMostInSlabs);
  const int steps = sweeps_per_launch(candidate.tuning());
  if (has_levels(steps) && !fits_) {
    throw Error(ErrorCode::exceeds_device_memory,
                "its grid is too large for the device to hold the reference of several steps or stages");
  }
  const bool at_once = has_levels(steps) && !in_slabs_;
  const CheckedLaunch each{problem_, fields_, case_of(steps), steps, at_once ? &whole_levels(steps) : nullptr};
  std::vector<StepSlab> all;
  if (in_slabs_) all = all_cells ? slabs_of(steps, kSlabCells) : some_slabs(steps);
  unbounded_ = seen_ = 0;
  for (int launch = 0; launch < launches; ++launch) {
    std::vector<StepSlab> slabs;
    for (std::size_t i = 0; i < std::max(all.size(), static_cast<std::size_t>(launches)) && in_slabs_; ++i) {
      if (i % static_cast<std::size_t>(launches) == static_cast<std::size_t>(launch))
        slabs.push_back(all[i % all.size()]);
    }
    const auto wrong = check(candidate, each, slabs);
    if (!wrong) continue;
    int again = 0;
    for (int more = 0; more < kMoreLaunches; ++more) again += check(candidate, each, slabs) ? 1 : 0;
    return fmt::format("{}; of {} more launches {} were wrong", *wrong, kMoreLaunches, again);
  }
  return std::nullopt;
}

void Verification::fill_for_timing() {
  const LaunchBuffers buffers = launch_buffers(problem_, is_whole_step(problem_) ? problem_.steps : 1);
  const std::vector<int> classes = layer_classes(problem_, buffers);
  for (int place : places_in_use(problem_)) {
    const auto index = static_cast<std::size_t>(place);
    kernels_.fill({device_pointer(fields_.field(place)), layout_of_field(problem_, place),
                   input_seed(seed_, index < classes.size() ? classes[index] : place), random_numbers(problem_).input});
  }
}

}  // namespace stencil_tune
