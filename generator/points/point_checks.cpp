#include "generator/points/point_checks.hpp"

#include "generator/stencil/axis_names.hpp"
#include "generator/stencil/indices.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

namespace stencil_tune {
namespace {

constexpr double kFarthest = 0x1p62;  // the largest position, in cells

class PointChecks {
 public:
  explicit PointChecks(const Problem& problem) : problem_(problem) {
    for (int stage = 0; stage < static_cast<int>(problem.step.stages.size()); ++stage) {
      const Problem alone =
          make_problem(problem.stencil, problem.type, problem.boundaries, problem.extents, problem.pitch, 1, stage);
      updated_.push_back(updated_box(alone));
    }
  }

  void check(const PointList& points) {
    if (points.every < 1) refuse(fmt::format("PointList::every is {}; it counts steps, 1 or more", points.every));
    check_cells("source", points.sources, points.source_cells, [this](int field) { return stage_of_source(field); });
    check_cells("receiver", points.receivers, points.receiver_cells,
                [this](int field) { return stage_of_receiver(field); });
  }

 private:
  [[noreturn]] static void refuse(const std::string& message) { throw Error(ErrorCode::invalid_argument, message); }

  const std::string& name_of(int field) const { return problem_.stencil.fields[at(field)]; }

  template <typename StageOf>
  void check_cells(std::string_view kind, int count, const std::vector<PointCell>& cells, StageOf stage_of) {
    if (count < 0) refuse(fmt::format("{} {}s", count, kind));
    std::vector<int> stages(problem_.stencil.fields.size(), -1);  // [field]: its stage; -1: not met
    for (const PointCell& cell : cells) {
      if (cell.point < 0 || cell.point >= count) {
        refuse(fmt::format("a cell of {} {}: there are {}, numbered from 0", kind, cell.point, count));
      }
      who_ = fmt::format("{} {}", kind, cell.point);
      if (cell.field < 0 || at(cell.field) >= stages.size()) {
        refuse(fmt::format("{}: field {}; stencil '{}' has {}, numbered from 0", who_, cell.field,
                           problem_.stencil.name, stages.size()));
      }
      if (storage_of(problem_, cell.field) != problem_.type) {
        refuse(fmt::format(
            "{} is at a cell of '{}', which is stored as {}: points are at fields of the problem's type, {}", who_,
            name_of(cell.field), name(storage_of(problem_, cell.field)), name(problem_.type)));
      }
      int& stage = stages[at(cell.field)];
      if (stage < 0) stage = stage_of(cell.field);
      check_cell(cell, updated_[at(stage)]);
      if (!std::isfinite(cell.weight)) refuse(fmt::format("{}: weight {}", who_, cell.weight));
    }
  }

  int stage_of_source(int field) const {
    if (const auto stage = writing_stage(problem_.step, field)) return *stage;
    std::vector<std::string> outputs;
    int writers = 0;
    for (const StepStage& stage : problem_.step.stages) {
      for (const int output : stage.facts.outputs) outputs.push_back(name_of(output));
      writers += contains(stage.facts.outputs, field) ? 1 : 0;
    }
    refuse(fmt::format("{} adds to '{}', which {}; sources add to what one stage writes: {}", who_, name_of(field),
                       writers > 1 ? "several stages write" : "no stage writes", fmt::join(outputs, ", ")));
  }

  int stage_of_receiver(int field) const {
    if (const auto output = recorded_output(problem_.step, field)) {
      if (const auto stage = writing_stage(problem_.step, *output)) return *stage;
    }
    std::vector<std::string> fields;
    for (const int each : problem_.step.state) {
      if (recorded_output(problem_.step, each)) fields.push_back(name_of(each));
    }
    refuse(fmt::format("{} records '{}', which is none of the fields that a step changes and hands to the next: {}",
                       who_, name_of(field), fmt::join(fields, ", ")));
  }

  void check_cell(const PointCell& cell, const Box& updated) const {
    const auto& n = problem_.extents.n;
    bool in_grid = true;
    bool is_updated = true;
    for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
      in_grid = in_grid && cell.cell[axis] >= 0 && cell.cell[axis] < n[axis];
      is_updated = is_updated && cell.cell[axis] >= updated.low[axis] && cell.cell[axis] < updated.high[axis];
    }
    if (is_updated) return;
    const std::string where = fmt::format("{}: cell ({})", who_, fmt::join(cell.cell, ", "));
    if (!in_grid) refuse(fmt::format("{} lies outside the grid of {}", where, to_string(problem_.extents)));
    refuse(
        fmt::format("{} lies in the layers of '{}' that boundary hold keeps; the cells from ({}) to ({}) are updated",
                    where, name_of(cell.field), fmt::join(updated.low, ", "), last_of(updated)));
  }

  static std::string last_of(const Box& box) {
    return fmt::format("{}, {}, {}", box.high[0] - 1, box.high[1] - 1, box.high[2] - 1);
  }

  const Problem& problem_;
  std::vector<Box> updated_;  ///< [stage]: the cells that it updates
  std::string who_;
};

}  // namespace

std::optional<int> writing_stage(const StepFacts& step, int field) {
  std::optional<int> found;
  for (int stage = 0; stage < static_cast<int>(step.stages.size()); ++stage) {
    if (!contains(step.stages[at(stage)].facts.outputs, field)) continue;
    if (found) return std::nullopt;
    found = stage;
  }
  return found;
}

std::optional<int> recorded_output(const StepFacts& step, int field) {
  const auto state = std::find(step.state.begin(), step.state.end(), field);
  if (state == step.state.end()) return std::nullopt;
  const int output = step.becomes[static_cast<std::size_t>(state - step.state.begin())];
  const bool written = std::any_of(step.stages.begin(), step.stages.end(),
                                   [&](const StepStage& stage) { return contains(stage.facts.outputs, output); });
  return written ? std::optional(output) : std::nullopt;
}

void check_points(const Problem& problem, const PointList& points) { PointChecks(problem).check(points); }

std::vector<PointCell> spread(int point, int field, const std::array<double, kMaxRank>& position) {
  std::vector<PointCell> cells;
  std::array<std::int64_t, kMaxRank> low{};
  std::array<double, kMaxRank> beyond{};  // how far the position lies beyond the low cell
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    if (!(std::fabs(position[axis]) < kFarthest)) {
      throw Error(ErrorCode::invalid_argument, fmt::format("point {} at {} along {}: a position is a number of cells",
                                                           point, position[axis], kAxisNames[axis]));
    }
    low[axis] = static_cast<std::int64_t>(std::floor(position[axis]));
    beyond[axis] = position[axis] - std::floor(position[axis]);
  }
  for (unsigned corner = 0; corner < 8; ++corner) {
    PointCell cell{point, field, low, 1};
    for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
      const bool high = (corner >> axis & 1) != 0;
      cell.cell[axis] += high ? 1 : 0;
      cell.weight *= high ? beyond[axis] : 1 - beyond[axis];
    }
    if (cell.weight != 0) cells.push_back(cell);
  }
  return cells;
}

}  // namespace stencil_tune
