#include "tuner/executor/host_check.hpp"

#include "generator/candidates/family.hpp"
#include "generator/kernel_source/launch.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/executor/executor.hpp"
#include "tuner/executor/field_data.hpp"
#include "tuner/executor/guarded_array.hpp"
#include "tuner/verify/sharpness.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <optional>

namespace stencil_tune {
namespace {

enum class Numbers {
  random,
  exact,    ///< where the stencil has such
  special,  ///< random, with NaN and infinities
};

/// How one launch of a case runs; together they cover every order, placement and completion.
struct Scene {
  HostRunOptions run;
  GuardedArray::Placement placement;
  bool part_of_box;
  Numbers numbers;
};

constexpr Scene kScenes[]{
    {{ThreadOrder::ascending, AsyncCompletion::at_issue, 1},
     GuardedArray::Placement::against_end,
     false,
     Numbers::random},
    {{ThreadOrder::descending, AsyncCompletion::at_wait, 1},
     GuardedArray::Placement::against_start,
     false,
     Numbers::exact},
    {{ThreadOrder::random, AsyncCompletion::at_wait, 2}, GuardedArray::Placement::against_end, true, Numbers::special},
};

/// A box within the box, off its corners by amounts that no tile divides.
Box part_of(const Box& box, int rank) {
  Box part = box;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(rank); ++axis) {
    const std::int64_t length = box.high[axis] - box.low[axis];
    part.low[axis] += length >= 4 ? 1 + static_cast<std::int64_t>(axis) % 2 : 0;
    part.high[axis] -= length >= 6 ? 2 : 0;
  }
  return part;
}

bool holds(const Box& box, const std::array<std::int64_t, kMaxRank>& cell) {
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    if (cell[axis] < box.low[axis] || cell[axis] >= box.high[axis]) return false;
  }
  return true;
}

/// One launch of one kernel on one grid: arrays, arguments, comparison.
class HostLaunch {
 public:
  HostLaunch(const Problem& problem, const Tuning& tuning, const FieldData& data, const Scene& scene)
      : problem_(problem), candidate_(problem, tuning), data_(data), scene_(scene), box_(updated_box(problem)) {
    if (in_parts()) box_ = part_of(box_, problem.extents.rank);
    // Arrays start where the candidate's vectors may, and no better: slack would hide what a guard page shows.
    const std::size_t alignment = std::min<std::size_t>(16, required_alignment(candidate_));
    const std::vector<int> fields = kernel_inputs(problem, sweeps_per_launch(tuning));
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const bool whole = !is_profile(problem.stencil, fields[i]);
      const std::size_t bytes =
          static_cast<std::size_t>(cells_of_field(problem, fields[i])) * size_of(storage_of(problem, fields[i]));
      const std::size_t starts_at =
          whole ? cell_alignment(alignment, fields[i]) : size_of(storage_of(problem, fields[i]));
      store_field(problem, fields[i], data.inputs[i], inputs_.emplace_back(bytes, starts_at, scene.placement));
      inputs_.back().make_read_only();
    }
    for (std::size_t i = 0; i < data.expected.size(); ++i) {
      const int field = data.expected[i].field;
      const auto cells = static_cast<std::size_t>(problem.allocated_cells());
      outputs_.emplace_back(cells * size_of(storage_of(problem, field)), cell_alignment(alignment, field),
                            scene.placement);
    }
  }

  /// What went wrong; nothing when all is right.
  std::optional<std::string> run(const HostKernel& kernel, const Patience& patience) {
    const KernelArguments arguments(candidate_, box_);
    const auto encode = [this](const TensorMapRequest& map, std::span<std::byte> to) {
      encode_tensor_map(map, size_of(problem_.type), to);
    };
    const auto packed =
        arguments.pack(addresses(inputs_), addresses(outputs_), data_.coefficients, encode, kCheckPlace);
    HostRunOptions options = scene_.run;
    options.patience = patience;
    const auto fault = kernel.run(launch_geometry(candidate_, box_), packed, options);
    if (fault) return fmt::format("{}: {}{}", name(fault->kind), fault->message, describe(fault->address));
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      if (auto wrong = compare(i)) return wrong;
    }
    return std::nullopt;
  }

  std::int64_t cells() const { return box_.cells(); }

 private:
  static std::vector<std::uint64_t> addresses(const std::vector<GuardedArray>& arrays) {
    std::vector<std::uint64_t> result;
    for (const GuardedArray& array : arrays) result.push_back(array.address());
    return result;
  }

  /// Which array a fault is about, in cells.
  std::string describe(std::uintptr_t address) const {
    const auto find = [&](const std::vector<GuardedArray>& arrays, const char* kind) -> std::string {
      for (std::size_t i = 0; i < arrays.size(); ++i) {
        if (!arrays[i].encloses(address)) continue;
        const auto offset = static_cast<std::int64_t>(address - arrays[i].address());
        return fmt::format(" (byte {} of the {} bytes of {} {})", offset, arrays[i].size(), kind, i);
      }
      return {};
    };
    return find(inputs_, "input") + find(outputs_, "output");
  }

  /// As many cells as those of the widest field need for it.
  std::size_t cell_alignment(std::size_t widest, int field) const {
    const std::size_t bytes = size_of(storage_of(problem_, field));
    return std::max(bytes, widest * bytes / widest_cell_bytes(problem_));
  }

  std::optional<std::string> compare(std::size_t output) const {
    const ElementType type = storage_of(problem_, data_.expected[output].field);
    const std::size_t cell_bytes = size_of(type);
    const ReferenceField& expected = data_.expected[output];
    std::optional<std::string> first;
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < problem_.allocated_cells(); ++i) {
      const std::array<std::int64_t, kMaxRank> cell{i % problem_.pitch, i / problem_.pitch % problem_.extents.n[1],
                                                    i / problem_.pitch / problem_.extents.n[1]};
      const auto index = static_cast<std::size_t>(i);
      const std::byte* found = outputs_[output].data() + index * cell_bytes;
      const bool in_box = in_parts() ? holds(box_, cell) : !(expected.tolerance[index] < 0);
      const bool written = !is_poison(found, cell_bytes);
      const bool may_be_poison = is_whole(type);  // a number as good as others
      const bool right =
          in_box ? (written || may_be_poison) && expected.accepts(index, load_cell(type, found)) : !written;
      if (right || wrong++ > 0) continue;
      first = fmt::format("cell ({},{},{}) of output {} ", cell[0], cell[1], cell[2], output);
      *first += in_box ? fmt::format("is {:.9g}, should be {:.9g} within {:.3g}", load_cell(type, found),
                                     expected.value[index], expected.tolerance[index])
                       : "lies outside the box to update and was written";
    }
    if (first) return fmt::format("{} ({} of {} cells wrong)", *first, wrong, cells());
    if (!outputs_[output].slack_intact()) return fmt::format("the bytes around output {} were written", output);
    return std::nullopt;
  }

  /// Stages that hold different layers write different boxes: whole steps of several are checked whole.
  bool in_parts() const { return scene_.part_of_box && problem_.stage != kWholeStep; }

  static bool is_poison(const std::byte* bytes, std::size_t count) {
    return std::all_of(bytes, bytes + count, [](std::byte value) { return value == std::byte{GuardedArray::kPoison}; });
  }

  const Problem& problem_;
  const Candidate candidate_;
  const FieldData& data_;
  const Scene& scene_;
  Box box_;
  std::vector<GuardedArray> inputs_;
  std::vector<GuardedArray> outputs_;
};

/// Cells of all grids of a case, and those of them whose results may be anything.
struct Bounds {
  std::int64_t cells = 0;
  std::int64_t unbounded = 0;
};

/// The same rule as on the device: what may be anything in most cells has not been checked.
void require_bounds(const Stencil& stencil, const Bounds& bounds) {
  if (2 * bounds.unbounded <= bounds.cells) return;
  throw Error(
      ErrorCode::invalid_argument,
      fmt::format("stencil '{}' cannot be verified: for {} of {} cells the result may be anything (a division by what "
                  "may be 0, a root of what may be negative, or an overflow)",
                  stencil.name, bounds.unbounded, bounds.cells));
}

/// Random numbers for one sweep; for several, those that would show a wrong kernel.
FieldData any_data(const Problem& problem, int sweeps, HostVerdict& verdict) {
  if (sweeps == 1 && problem.stage != kWholeStep) return random_data(problem, 1);
  const SharpNumbers chosen = sharp_numbers(problem, sweeps);
  if (const auto why = why_not_sharp(chosen.sharpness, sweeps)) {
    verdict.right = false;
    verdict.message = *why;
  }
  return checked_data(problem, chosen.numbers, 1, sweeps);
}

/// Between references, which take seconds where a stencil reads thousands of cells.
void require_time(const Patience& patience) {
  if (patience.is_over()) throw Error(ErrorCode::timeout, "a reference on the host was not done in time");
}

void check_grid(const Problem& problem, const HostKernel& kernel, const Patience& patience, Bounds& bounds,
                HostVerdict& verdict) {
  if (updated_box(problem).cells() == 0) return;
  const int sweeps = sweeps_per_launch(verdict.tuning);
  const FieldData any = any_data(problem, sweeps, verdict);
  if (!verdict.right) return;
  require_time(patience);
  bounds.cells += updated_box(problem).cells();
  bounds.unbounded += any.expected.front().unbounded_cells();
  const bool one_sweep = sweeps == 1 && problem.stage != kWholeStep;
  const std::optional<FieldData> exact = one_sweep ? exact_data(problem, 2) : std::nullopt;
  require_time(patience);
  const FieldData special = with_special_values(problem, any, sweeps);
  for (const Scene& scene : kScenes) {
    const bool is_exact = scene.numbers == Numbers::exact && exact;
    const FieldData& data = is_exact ? *exact : scene.numbers == Numbers::special ? special : any;
    HostLaunch launch(problem, verdict.tuning, data, scene);
    const auto wrong = launch.run(kernel, patience);
    if (wrong) {
      verdict.right = false;
      verdict.message = fmt::format("{} (grid {}, pitch {}, {} {} boundary {}, threads {}{}{})", *wrong,
                                    to_string(problem.extents), problem.pitch, problem.stencil.name, name(problem.type),
                                    to_string(problem.boundaries, problem.extents.rank), name(scene.run.order),
                                    scene.part_of_box ? ", part of the box" : "", is_exact ? ", exact numbers" : "");
      return;
    }
    verdict.cells_checked += launch.cells();
  }
}

}  // namespace

std::vector<HostVerdict> check_cases_on_host(std::span<const HostCase> cases, std::span<const TemplateFile> files,
                                             const Patience& patience) {
  std::vector<KernelSource> sources;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (cases[i].problems.empty()) {
      throw Error(ErrorCode::invalid_argument, fmt::format("no grid to try {} on", code(cases[i].tuning)));
    }
    const Problem& problem = cases[i].generated_for ? *cases[i].generated_for : cases[i].problems.front();
    sources.push_back(generate({problem, cases[i].tuning}, fmt::format("candidate_{}", i)));
  }
  const HostLibrary library(sources, files, patience);
  std::vector<HostVerdict> verdicts;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    HostVerdict& verdict = verdicts.emplace_back(HostVerdict{cases[i].tuning, true, {}, 0});
    const HostKernel kernel = library.kernel(sources[i].entry);
    Bounds bounds;
    for (const Problem& problem : cases[i].problems) {
      if (verdict.right) check_grid(problem, kernel, patience, bounds, verdict);
    }
    if (verdict.right) require_bounds(cases[i].problems.front().stencil, bounds);
  }
  return verdicts;
}

std::vector<HostVerdict> check_on_host(const Problem& problem, std::span<const Tuning> tunings,
                                       const Patience& patience) {
  std::vector<HostCase> cases;
  for (const Tuning& tuning : tunings) cases.push_back({tuning, {problem}, {}});
  return check_cases_on_host(cases, template_files(), patience);
}

}  // namespace stencil_tune
