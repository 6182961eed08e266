#include "tests/gpu/kernel_check.hpp"

#include "generator/candidates/constraints.hpp"
#include "generator/candidates/family.hpp"
#include "runtime/library/launch/packed_launch.hpp"
#include "runtime/library/lookup/lookup.hpp"
#include "tuner/executor/field_data.hpp"
#include "tuner/measure/launcher.hpp"
#include "tuner/verify/check_numbers.hpp"
#include "tuner/verify/sharpness.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

namespace stencil_tune {
namespace {

constexpr std::size_t kBandBytes = std::size_t{1} << 16;
constexpr std::byte kPoison{GuardedArray::kPoison};  // a NaN in every element type

/// One launch of a case on a grid.
struct Scene {
  bool guarded;
  bool part_of_box;
  bool exact;
};

constexpr Scene kScenes[]{{true, false, false}, {true, true, false}, {false, false, true}};

/// A box within the box, off its corners by amounts that no tile divides.
Box part_of(Box box, int rank) {
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(rank); ++axis) {
    const std::int64_t length = box.high[axis] - box.low[axis];
    if (length >= 4) box.low[axis] += 1 + static_cast<std::int64_t>(axis) % 2;
    if (length >= 6) box.high[axis] -= 2;
  }
  return box;
}

bool holds(const Box& box, const std::array<std::int64_t, kMaxRank>& cell) {
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    if (cell[axis] < box.low[axis] || cell[axis] >= box.high[axis]) return false;
  }
  return true;
}

/// A field on the device and what the host gave it: band | cells | band, poisoned wherever no cell was stored.
class DeviceField {
 public:
  DeviceField(Driver& driver, std::size_t bytes, std::size_t before, std::size_t after)
      : before_(before), bytes_(bytes), image_(before + bytes + after, kPoison), buffer_(driver, image_.size()) {}

  void store(const Problem& problem, int field, const std::vector<double>& values) {
    GuardedArray cells(bytes_, alignof(double), GuardedArray::Placement::against_end);
    store_field(problem, field, values, cells);
    std::memcpy(image_.data() + before_, cells.data(), bytes_);
  }
  void upload() { buffer_.write(image_); }

  std::uint64_t address() const { return buffer_.address() + before_; }

  /// What the device holds now, bands included.
  std::vector<std::byte> download() const {
    std::vector<std::byte> found(image_.size());
    buffer_.read(found);
    return found;
  }
  bool unchanged(const std::vector<std::byte>& found) const { return found == image_; }
  bool bands_intact(const std::vector<std::byte>& found) const {
    const auto poisoned = [](std::byte value) { return value == kPoison; };
    return std::all_of(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(before_), poisoned) &&
           std::all_of(found.begin() + static_cast<std::ptrdiff_t>(before_ + bytes_), found.end(), poisoned);
  }
  const std::byte* cells_of(const std::vector<std::byte>& found) const { return found.data() + before_; }

 private:
  std::size_t before_;
  std::size_t bytes_;
  std::vector<std::byte> image_;
  DeviceBuffer buffer_;
};

/// One launch of one kernel on one grid: arrays, arguments, comparison.
class DeviceLaunch {
 public:
  DeviceLaunch(Driver& driver, const Problem& problem, const Tuning& tuning, const FieldData& data, const Scene& scene)
      : driver_(driver), problem_(problem), tuning_(tuning), data_(data), box_(updated_box(problem)) {
    if (scene.part_of_box) box_ = part_of(box_, problem.extents.rank);
    in_parts_ = scene.part_of_box;
    const std::vector<int> fields = kernel_inputs(problem, sweeps_per_launch(tuning));
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const auto bytes =
          static_cast<std::size_t>(cells_of_field(problem, fields[i])) * size_of(storage_of(problem, fields[i]));
      add_to(inputs_, scene, bytes).store(problem, fields[i], data.inputs[i]);
    }
    for (const ReferenceField& expected : data.expected) {
      const auto cells = static_cast<std::size_t>(problem.allocated_cells());
      add_to(outputs_, scene, cells * size_of(storage_of(problem, expected.field)));
    }
    for (DeviceField& field : inputs_) field.upload();
    for (DeviceField& field : outputs_) field.upload();
  }

  /// What went wrong; nothing when all is right.
  std::optional<std::string> run(const Launcher& launcher) {
    const PackedLaunch launch({problem_, tuning_}, box_);
    std::vector<std::byte> argument(launch.argument_bytes());
    launch.write_argument(driver_, addresses(inputs_), addresses(outputs_), data_.coefficients, argument, kCheckPlace);
    launcher.launch({launch.geometry(), {std::move(argument)}}, 1, nullptr);
    driver_.synchronize_context();
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      if (auto wrong = compare_output(i)) return wrong;
    }
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (!inputs_[i].unchanged(inputs_[i].download())) return fmt::format("input {} or its guard bands changed", i);
    }
    return std::nullopt;
  }

  std::int64_t cells() const { return box_.cells() * static_cast<std::int64_t>(outputs_.size()); }

 private:
  DeviceField& add_to(std::vector<DeviceField>& fields, const Scene& scene, std::size_t bytes) {
    const std::size_t slack = scene.guarded ? required_alignment({problem_, tuning_}) : 0;
    const std::size_t band = scene.guarded ? kBandBytes : 0;
    return fields.emplace_back(driver_, bytes, band + slack, band);
  }

  static std::vector<std::uint64_t> addresses(const std::vector<DeviceField>& fields) {
    std::vector<std::uint64_t> result;
    for (const DeviceField& field : fields) result.push_back(field.address());
    return result;
  }

  std::optional<std::string> compare_output(std::size_t output) const {
    const std::vector<std::byte> found = outputs_[output].download();
    std::optional<std::string> first;
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < problem_.allocated_cells(); ++i) {
      auto message = compare_cell(output, i, outputs_[output].cells_of(found));
      if (!message) continue;
      if (wrong++ == 0) first = std::move(message);
    }
    if (first) return fmt::format("{} ({} of {} cells wrong)", *first, wrong, box_.cells());
    if (!outputs_[output].bands_intact(found)) return fmt::format("the bytes around output {} were written", output);
    return std::nullopt;
  }

  std::optional<std::string> compare_cell(std::size_t output, std::int64_t index, const std::byte* cells) const {
    const std::array<std::int64_t, kMaxRank> at{index % problem_.pitch, index / problem_.pitch % problem_.extents.n[1],
                                                index / problem_.pitch / problem_.extents.n[1]};
    const std::size_t cell_bytes = size_of(storage_of(problem_, data_.expected[output].field));
    const std::byte* cell = cells + static_cast<std::size_t>(index) * cell_bytes;
    const auto where = [&] { return fmt::format("cell ({},{},{}) of output {}", at[0], at[1], at[2], output); };
    const ReferenceField& expected = data_.expected[output];
    const auto place = static_cast<std::size_t>(index);
    // Stages of a whole step may hold different layers: its outputs have boxes of their own, and the reference knows
    // them.
    const bool updated = in_parts_ ? holds(box_, at) : !(expected.tolerance[place] < 0);
    if (!updated) {
      if (std::all_of(cell, cell + cell_bytes, [](std::byte value) { return value == kPoison; })) return std::nullopt;
      return where() + " lies outside the box to update and was written";
    }
    const double value = load_cell(storage_of(problem_, data_.expected[output].field), cell);
    if (expected.accepts(place, value)) return std::nullopt;
    return fmt::format("{} is {:.9g}, should be {:.9g} within {:.3g}", where(), value, expected.value[place],
                       expected.tolerance[place]);
  }

  Driver& driver_;
  const Problem& problem_;
  const Tuning& tuning_;
  const FieldData& data_;
  Box box_;
  bool in_parts_ = false;
  std::vector<DeviceField> inputs_;
  std::vector<DeviceField> outputs_;
};

void check_grid(Driver& driver, const Problem& problem, const Launcher& launcher, DeviceVerdict& verdict) {
  if (updated_box(problem).cells() == 0) return;
  const int sweeps = sweeps_per_launch(launcher.tuning());
  const bool whole_step = problem.stage == kWholeStep;
  const bool one_sweep = sweeps == 1 && !whole_step;
  const FieldData any =
      one_sweep ? random_data(problem, 1) : checked_data(problem, sharp_numbers(problem, sweeps).numbers, 1, sweeps);
  const std::optional<FieldData> exact = one_sweep ? exact_data(problem, 2) : std::nullopt;
  for (const Scene& scene : kScenes) {
    if (scene.part_of_box && whole_step) continue;
    DeviceLaunch launch(driver, problem, launcher.tuning(), scene.exact && exact ? *exact : any, scene);
    if (const auto wrong = launch.run(launcher)) {
      verdict.wrong =
          fmt::format("{} (grid {}, pitch {}{}{})", *wrong, to_string(problem.extents), problem.pitch,
                      scene.part_of_box ? ", part of the box" : "", scene.exact && exact ? ", exact numbers" : "");
      return;
    }
    verdict.cells_checked += launch.cells();
  }
}

}  // namespace

DeviceVerdict check_on_device(Driver& driver, const HostCase& kernel_case, const CompiledKernel& kernel) {
  DeviceVerdict verdict;
  Launcher launcher(driver, kernel_case.tuning, kernel);
  for (const Problem& problem : kernel_case.problems) {
    if (const auto limit = launcher.exceeded_limit(problem)) {
      verdict.not_run = *limit;
      return verdict;
    }
    check_grid(driver, problem, launcher, verdict);
    if (!verdict.wrong.empty()) return verdict;
  }
  return verdict;
}

}  // namespace stencil_tune
