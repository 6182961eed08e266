#include "generator/kernel_source/system_text.hpp"

#include "generator/candidates/family.hpp"
#include "generator/candidates/row_reads.hpp"
#include "generator/kernel_source/stage_text.hpp"
#include "generator/kernel_source/update_text.hpp"
#include "generator/points/point_checks.hpp"
#include "generator/stencil/indices.hpp"
#include "generator/stencil/layer_arrays.hpp"
#include "generator/stencil/rewriting/common_weights.hpp"
#include "generator/stencil/rewriting/constant_parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace stencil_tune {
namespace {

std::optional<int> place_of(const std::vector<int>& fields, int field) {
  const auto found = std::find(fields.begin(), fields.end(), field);
  if (found == fields.end()) return {};
  return static_cast<int>(found - fields.begin());
}

/// "{low x, high x, low y, ...}".
std::string layers_text(const Layers& layers) {
  return fmt::format("{{{}, {}, {}, {}, {}, {}}}", layers.low[0], layers.high[0], layers.low[1], layers.high[1],
                     layers.low[2], layers.high[2]);
}

/// Those of kernel_inputs() that are of the whole grid.
std::vector<int> grid_inputs(const Problem& problem, int steps) {
  std::vector<int> fields = kernel_inputs(problem, steps);
  std::erase_if(fields, [&](int field) { return is_profile(problem.stencil, field); });
  return fields;
}

/// What levels make of constants alone, where more than one of them does: it is made once, and stored as the field is.
ConstantParts parts_made_once(const Problem& problem, const TunedStep& step, const FusedSystem& system) {
  std::vector<int> fields;
  for (const SystemConstant& constant : system.constants) {
    // Elsewhere parts would be rounded to what is stored.
    const bool as_computed = storage_of(problem, constant.field) == problem.type && !is_half(problem.type);
    if (constant.readers > 1 && as_computed) fields.push_back(constant.field);
  }
  return with_constant_parts(with_common_weights_in_front(step.stencil), step.step, fields);
}

/// For each text, the number of the first one that is the same.
std::vector<int> first_alike(const std::vector<std::string>& texts) {
  std::vector<int> result;
  for (const std::string& text : texts) {
    result.push_back(static_cast<int>(std::find(texts.begin(), texts.end(), text) - texts.begin()));
  }
  return result;
}

class SystemText {
 public:
  SystemText(const Candidate& candidate, bool with_points)
      : candidate_(candidate),
        with_points_(with_points),
        problem_(candidate.problem()),
        step_(tuned_step(problem_, candidate.tuning())),
        system_(candidate.shape().system()),
        axes_(candidate.shape().axes),
        constant_parts_(parts_made_once(problem_, step_, system_)),
        inputs_(grid_inputs(problem_, sweeps_per_launch(candidate.tuning()))) {}

  std::string write() const {
    std::string text;
    for (std::size_t stage = 0; stage < step_.step.stages.size(); ++stage) text += stage_text(stage);
    if (makes_parts()) text += "template <int kConstant>\nstruct Part;\n\n";
    for (std::size_t constant = 0; constant < system_.constants.size(); ++constant) text += part_text(constant);
    text += "template <int kLevel>\nstruct Level;\n\n";
    for (std::size_t level = 0; level < system_.levels.size(); ++level) text += level_text(level);
    return text + step_text() + "using Stencil = stencil_tune::SystemOf<Step>;\n";
  }

 private:
  const StageFacts& facts(int stage) const { return step_.facts(stage); }

  std::string stage_text(std::size_t stage) const {
    const StageFacts& facts = step_.step.stages[stage].facts;
    KernelAxes axes = axes_;
    axes.reach = {};
    for (const Tap& tap : facts.taps) {
      for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
        Reach& reach = axes.reach[axis];
        const int offset = axes.offset(tap, axis);
        reach = {std::min(reach.low, offset), std::max(reach.high, offset)};
      }
    }
    const Tuning& tuning = candidate_.tuning();
    return fmt::format(
        R"(struct Stage{stage} {{
{types}  static constexpr int kInputs = {inputs};
  static constexpr int kOutputs = {outputs};
{reach}{reads}
{update}}};

)",
        fmt::arg("stage", stage), fmt::arg("types", type_members(candidate_)), fmt::arg("inputs", facts.inputs.size()),
        fmt::arg("outputs", facts.outputs.size()), fmt::arg("reach", reach_members(axes.reach)),
        fmt::arg("reads", tile_uses(facts, axes, {tuning.register_x, tuning.register_y, 1, true})),
        fmt::arg("update", update_member(constant_parts_.stencil, static_cast<int>(stage), facts, axis_map_of(axes))));
  }

  /// Nothing where levels read the constant itself.
  std::string part_text(std::size_t number) const {
    const Stencil& stencil = constant_parts_.stencil;
    const auto part = constant_parts_.parts.find(system_.constants[number].field);
    if (part == constant_parts_.parts.end()) return {};
    StageFacts facts;
    facts.inputs = {part->first};
    const Assignment statement{"return", part->second};
    const std::string statements =
        statements_text(stencil, {&statement, 1}, facts, axis_map_of(axes_), static_cast<int>(stencil.fields.size()));
    return fmt::format(
        R"(// What all levels make of constant {number} alone: u(0, 0, 0, 0) is its cell.
template <>
struct Part<{number}> {{
  template <class Cell, class Value>
  STENCIL_DEVICE static Value value(const Cell& u, [[maybe_unused]] const Value* c) {{
{using_names}{statements}  }}
}};

)",
        fmt::arg("number", number), fmt::arg("using_names", using_directive(statements)),
        fmt::arg("statements", statements));
  }

  /// Where each input of the stage is: in the state that enters, or among the constants.
  std::vector<int> places(const SystemLevel& level, const std::vector<int>& in) const {
    std::vector<int> result;
    for (const int field : facts(level.stage).inputs) {
      const auto constant = std::find_if(system_.constants.begin(), system_.constants.end(),
                                         [&](const SystemConstant& each) { return each.field == field; });
      const auto place = place_of(in, field);
      result.push_back(place ? *place : -1 - static_cast<int>(constant - system_.constants.begin()));
    }
    return result;
  }

  std::vector<int> sources(const SystemLevel& level, const std::vector<int>& in) const {
    std::vector<int> result;
    for (const int field : level.out) {
      const auto output = place_of(facts(level.stage).outputs, field);
      result.push_back(output ? *output : -1 - *place_of(in, field));
    }
    return result;
  }

  /// Whose held layers each output of the stage keeps.
  std::vector<std::string> layers(const SystemLevel& level, const std::vector<int>& in) const {
    std::vector<std::string> result;
    const StepStage& stage = step_.step.stages[at(level.stage)];
    for (std::size_t output = 0; output < stage.layers_of.size(); ++output) {
      const int field = stage.layers_of[output];
      const auto place = place_of(in, field);
      const auto input = place_of(inputs_, field);
      const bool passed_on = place_of(level.out, stage.facts.outputs[output]).has_value();
      const bool kept = passed_on && (place || input);
      result.push_back(!kept   ? "stencil_tune::kNoLayers"
                       : place ? fmt::format("{}", *place)
                               : fmt::format("{}", -1 - *input));
    }
    return result;
  }

  std::string level_text(std::size_t number) const {
    const SystemLevel& level = system_.levels[number];
    std::vector<int> in;
    std::vector<std::string> fields;
    for (const SystemField& field : level.in) {
      in.push_back(field.field);
      fields.push_back(fmt::format("{{{}, {}, {}, {}, {}, {}, {}}}", field.below, field.newest, field.rows_before,
                                   field.rows_after, field.first, field.last, field.row));
    }
    return fmt::format(
        R"(template <>
struct Level<{number}> : Stage{stage} {{
  static constexpr int kIn = {in}, kOut = {out};
  static constexpr int kDelay = {delay};
  static constexpr stencil_tune::LevelField kFields[] = {{{fields}}};
  static constexpr int kPlaces[] = {{{places}}};
  static constexpr int kSources[] = {{{sources}}};
  static constexpr int kLayers[] = {{{layers}}};
  static constexpr stencil_tune::HeldLayers kHeld = {held};
{wrong}{step}{points}}};

)",
        fmt::arg("number", number), fmt::arg("stage", level.stage), fmt::arg("in", level.in.size()),
        fmt::arg("out", level.out.size()), fmt::arg("delay", level.delay), fmt::arg("fields", fmt::join(fields, ", ")),
        fmt::arg("places", fmt::join(places(level, in), ", ")),
        fmt::arg("sources", fmt::join(sources(level, in), ", ")),
        fmt::arg("layers", fmt::join(layers(level, in), ", ")), fmt::arg("held", layers_text(level.held)),
        fmt::arg("wrong", wrong_member(level)), fmt::arg("step", step_member(number)),
        fmt::arg("points", with_points_ ? point_members(number) : std::string()));
  }

  /// Nothing where no warp rests.
  std::string wrong_member(const SystemLevel& level) const {
    if (candidate_.tuning().edge_warps == EdgeWarps::work) return {};
    return fmt::format("  static constexpr int kWrongAbove = {}, kWrongBelow = {};\n", level.wrong.low[1],
                       level.wrong.high[1]);
  }

  /// Nothing where neither an update nor points ask for the step.
  std::string step_member(std::size_t level) const {
    if (!problem_.facts.placed && !with_points_) return {};
    return fmt::format("  static constexpr int kStep = {};\n", level / step_.step.stages.size());
  }

  /// What points ask of a level besides.
  std::string point_members(std::size_t number) const {
    const SystemLevel& level = system_.levels[number];
    const std::size_t stages = step_.step.stages.size();
    std::vector<std::string> records;
    for (std::size_t place = 0; place < level.out.size() && number % stages == stages - 1; ++place) {
      for (const int field : problem_.step.state) {
        if (recorded_output(problem_.step, field) != level.out[place]) continue;
        records.push_back(fmt::format("{{{}, {}}}", place, field));
      }
    }
    const std::size_t recorded = records.size();
    if (records.empty()) records.emplace_back("{0, 0}");  // an array of none has one
    return fmt::format(
        R"(  static constexpr int kNumbers[] = {{{numbers}}};
  static constexpr int kRecorded = {recorded};
  static constexpr stencil_tune::RecordedField kRecords[] = {{{records}}};
)",
        fmt::arg("numbers", fmt::join(facts(level.stage).outputs, ", ")), fmt::arg("recorded", recorded),
        fmt::arg("records", fmt::join(records, ", ")));
  }

  /// For each output, the cells that its box has on each side beyond the arguments' box, which is that of the stage
  /// whose held layers are thickest.
  std::vector<std::string> box_texts() const {
    std::vector<std::string> result;
    for (const Layers& output : system_.outputs) {
      Layers more;
      for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
        if (!axes_.has(axis) || axes_.boundaries[axis] != Boundary::hold) continue;
        const Reach& farthest = problem_.facts.farthest[at(axes_.grid_axis[axis])];
        more.low[axis] = -farthest.low - output.low[axis];
        more.high[axis] = farthest.high - output.high[axis];
      }
      result.push_back(layers_text(more));
    }
    return result;
  }

  std::vector<int> outputs() const { return kernel_outputs(problem_, sweeps_per_launch(candidate_.tuning())); }

  /// Fields in layers whose arrays hold these alone are stored there alone: no two axes have a box in common.
  std::vector<std::string> with_layers(std::vector<std::string> boxes) const {
    const std::vector<int> fields = outputs();
    for (std::size_t i = 0; has_slabs(problem_) && i < boxes.size(); ++i) {
      boxes[i] += fmt::format(" {}", layer_axis(problem_.stencil, fields[i]));
    }
    return boxes;
  }

  std::string step_text() const {
    std::vector<std::string> state;
    const SystemLevel& first = system_.levels.front();
    for (const SystemField& field : first.in) {
      state.push_back(fmt::format("{{{}, {}}}", *place_of(inputs_, field.field), first.lag - field.newest));
    }
    std::vector<std::string> constants;
    for (const SystemConstant& constant : system_.constants) {
      const bool has_part = constant_parts_.parts.contains(constant.field);
      constants.push_back(fmt::format("{{{}, {}, {}, {}}}", *place_of(inputs_, constant.field), constant.first,
                                      constant.last, has_part ? constant.first_level : -1));
    }
    const std::vector<std::string> boxes = box_texts();
    if (constants.empty()) constants.emplace_back("{0, 0, 0, -1}");  // an array of none has one
    return fmt::format(
        R"(struct Step {{
{types}  static constexpr int kInputs = {inputs};
  static constexpr int kOutputs = {outputs};
  static constexpr int {coefficients};
{storages}{axis_reads}{arrays}{boundaries}
  static constexpr int kLevels = {level_count};
  template <int kLevel>
  using LevelAt = Level<kLevel>;
  static constexpr bool kMakesParts = {makes_parts};
{parts}  static constexpr stencil_tune::SystemInputField kStateInputs[] = {{{state}}};
  static constexpr int kConstantFields = {constant_count};
  static constexpr stencil_tune::SystemConstant kConstants[] = {{{constants}}};
  static constexpr stencil_tune::HeldLayers kOutputMore[] = {{{boxes}}};
  static constexpr int kBoxOf[] = {{{box_of}}};
}};
)",
        fmt::arg("types", type_members(candidate_)), fmt::arg("inputs", inputs_.size()),
        fmt::arg("outputs", system_.outputs.size()), fmt::arg("coefficients", coefficient_constants(problem_)),
        fmt::arg("storages",
                 storage_members(problem_, inputs_, kernel_outputs(problem_, sweeps_per_launch(candidate_.tuning())))),
        fmt::arg("axis_reads", axis_read_members(problem_, axis_map_of(axes_))),
        fmt::arg("arrays", layer_array_members(problem_, inputs_, outputs(), axis_map_of(axes_))),
        fmt::arg("boundaries", boundary_members(axes_)), fmt::arg("level_count", system_.levels.size()),
        fmt::arg("state", fmt::join(state, ", ")), fmt::arg("constant_count", system_.constants.size()),
        fmt::arg("constants", fmt::join(constants, ", ")), fmt::arg("boxes", fmt::join(boxes, ", ")),
        fmt::arg("box_of", fmt::join(first_alike(with_layers(boxes)), ", ")), fmt::arg("makes_parts", makes_parts()),
        fmt::arg("parts", makes_parts() ? "  template <int kConstant>\n  using PartOf = Part<kConstant>;\n" : ""));
  }

  bool makes_parts() const { return !constant_parts_.parts.empty(); }

  const Candidate& candidate_;
  const bool with_points_;
  const Problem& problem_;
  const TunedStep step_;
  const FusedSystem& system_;
  const KernelAxes& axes_;
  const ConstantParts constant_parts_;
  const std::vector<int> inputs_;
};

}  // namespace

std::string system_text(const Candidate& candidate, bool with_points) {
  return SystemText(candidate, with_points).write();
}

}  // namespace stencil_tune
