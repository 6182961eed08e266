#include "generator/stencil/derivatives/repeated.hpp"

#include "generator/stencil/derivatives/differentiated.hpp"
#include "generator/stencil/indices.hpp"
#include "generator/stencil/step.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

namespace stencil_tune {
namespace {

void require_repeatable(const Stencil& stencil, const StepFacts& step, int steps) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} steps of stencil '{}' as one: {}", steps, stencil.name, why));
  };
  if (steps < 2) refuse("2 or more are needed");
  if (counts_steps(stencil)) refuse("they are not alike");
  if (step.state.empty()) refuse("it says no next step");
  const auto is_one_of = [](const std::vector<int>& fields, int field) {
    return std::find(fields.begin(), fields.end(), field) != fields.end();
  };
  for (const StepStage& stage : step.stages) {
    for (const int output : stage.facts.outputs) {
      if (is_one_of(step.state, output)) refuse(fmt::format("'{}' is written in place", stencil.fields[at(output)]));
    }
    for (const int field : stage.layers_of) {
      const bool is_handed_on = !is_one_of(step.state, field) && !is_one_of(step.constants, field);
      if (is_handed_on && !is_one_of(stage.facts.outputs, field)) {
        refuse(fmt::format("layers of '{}' are handed on", stencil.fields[at(field)]));
      }
    }
  }
}

}  // namespace

Stencil repeated(const Stencil& stencil, int steps) {
  const StepFacts facts = analyse_step(stencil);
  require_repeatable(stencil, facts, steps);
  StencilBuilder made = empty_like(stencil, fmt::format("{} steps of {}", steps, stencil.name));
  std::vector<int> now;  // for each field: the one of what is made that holds it
  for (std::size_t field = 0; field < stencil.fields.size(); ++field) {
    now.push_back(field_like(made, stencil.fields[field], stencil, static_cast<int>(field)));
  }
  const std::vector<int> first = now;
  std::map<int, int> layers_of;  // for outputs of what is made: the field whose held layers they have
  for (int step = 0; step < steps; ++step) {
    for (std::size_t number = 0; number < stencil.stages.size(); ++number) {
      const Stage& stage = stencil.stages[number];
      if (!made.stencil().stages.empty()) made.begin_stage();
      const std::vector<int> before = now;
      Rewritten copies(stencil, made, [&](const Node& read) { return made.read(before[at(read.index)], read.offset); });
      for (const Update& update : stage.updates) {
        std::string name = stencil.fields[at(update.output)];
        if (step + 1 < steps) name += fmt::format("_{}", step);
        const NodeId value = copies.copy(update.expression);
        now[at(update.output)] = field_like(made, name, stencil, update.output);
        made.update(now[at(update.output)], value);
        const StepStage& written = facts.stages[number];
        const auto place = std::find(written.facts.outputs.begin(), written.facts.outputs.end(), update.output);
        const int field = written.layers_of[at(place - written.facts.outputs.begin())];
        if (field != update.output) layers_of[now[at(update.output)]] = first[at(field)];
      }
    }
    const std::vector<int> left = now;
    for (const Rotation& rotation : stencil.rotations) now[at(rotation.to)] = left[at(rotation.from)];
  }
  for (const Rotation& rotation : stencil.rotations) {
    const int from = now[at(rotation.to)], to = first[at(rotation.to)];
    if (from == to) continue;
    made.rotate(from, to);
    layers_of.erase(from);  // has those of the field that it becomes
  }
  for (const auto& [output, field] : layers_of) made.hold(output, field);
  return std::move(made).build();
}

}  // namespace stencil_tune
