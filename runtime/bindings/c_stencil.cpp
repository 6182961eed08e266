// The C interface: stencils from text, and what was understood of it.
#include "generator/characters.hpp"
#include "generator/stencil/derivatives/adjoint.hpp"
#include "generator/stencil/derivatives/differentiated.hpp"
#include "generator/stencil/derivatives/reversed.hpp"
#include "generator/stencil/derivatives/tangent.hpp"
#include "generator/stencil/describe.hpp"
#include "generator/stencil/measures.hpp"
#include "generator/stencil/step.hpp"
#include "runtime/bindings/c_call.hpp"
#include "runtime/bindings/c_handles.hpp"
#include "runtime/library/definition_writer.hpp"
#include "runtime/library/launch/rotation.hpp"
#include "stencil_tune/batch.hpp"

#include <string>
#include <vector>

#include <algorithm>
#include <array>

namespace stencil_tune {

namespace {

std::vector<FieldRole> roles_of(const Stencil& stencil) {
  std::vector<FieldRole> roles(stencil.fields.size());
  const std::vector<int> next = buffer_rotation(stencil);
  for (std::size_t field = 0; field < roles.size(); ++field) roles[field].next = next[field];
  const auto role = [&](int field) -> FieldRole& { return roles[static_cast<std::size_t>(field)]; };
  const StepFacts step = analyse_step(stencil);
  for (std::size_t field = 0; field < roles.size(); ++field) roles[field].layers = step.layers_at[field];
  for (const StepStage& stage : step.stages) {
    for (const int field : stage.facts.inputs) role(field).is_input |= !role(field).is_output;
    for (const int field : stage.facts.outputs) {
      const Intermediate* between = find_intermediate(step, field);
      if (between != nullptr) role(between->layers_of).is_input |= !role(between->layers_of).is_output;
    }
    for (const int field : stage.facts.outputs) role(field).is_output = true;
  }
  for (const int field : step.layers) role(field).is_input = true;
  for (const Profile& profile : stencil.profiles) role(profile.field).is_input = true;
  for (std::size_t levels = 0; levels < stencil.rotations.size(); ++levels) {
    for (const Rotation& turn : stencil.rotations) {  // what is read once it is older is an input too
      role(turn.from).is_input |= role(turn.to).is_input && !role(turn.from).is_output;
    }
  }
  return roles;
}

stencil_tune_stencil* make_c_stencil(Stencil stencil) {
  std::string key = stencil_key(stencil);
  std::string text = canonical_text(stencil);
  std::string type(stencil.element ? name(*stencil.element) : "");
  std::vector<FieldRole> roles = roles_of(stencil);
  return new stencil_tune_stencil{std::move(stencil), std::move(key), std::move(text), std::move(type),
                                  std::move(roles)};
}

bool is_linear(const Stencil& stencil) {
  for (int stage = 0; stage < static_cast<int>(stencil.stages.size()); ++stage) {
    if (!analyse(stencil, stage).linear) return false;
  }
  return true;
}

/// The element at an index that C gave; null beyond the last.
template <class Element>
const Element* at(const std::vector<Element>& elements, std::int32_t index) {
  if (index < 0 || static_cast<std::size_t>(index) >= elements.size()) return nullptr;
  return &elements[static_cast<std::size_t>(index)];
}

const FieldRole* role_of(const stencil_tune_stencil* stencil, std::int32_t field) {
  return stencil == nullptr ? nullptr : at(stencil->roles, field);
}

const Coefficient* coefficient_of(const stencil_tune_stencil* stencil, std::int32_t coefficient) {
  return stencil == nullptr ? nullptr : at(stencil->stencil.coefficients, coefficient);
}

template <class Parse>
stencil_tune_status parse_into(stencil_tune_stencil** stencil, const char* text, const char* what, Parse parse) {
  return guarded([&] {
    require(stencil, "stencil");
    *stencil = nullptr;
    require(text, what);
    *stencil = make_c_stencil(parse());
  });
}

}  // namespace

}  // namespace stencil_tune

using namespace stencil_tune;

extern "C" {

stencil_tune_status stencil_tune_stencil_load(const char* name_or_file, stencil_tune_stencil** stencil) {
  return parse_into(stencil, name_or_file, "name_or_file", [&] { return load_stencil(name_or_file); });
}

stencil_tune_status stencil_tune_stencil_parse(const char* expression, int32_t rank, stencil_tune_stencil** stencil) {
  return parse_into(stencil, expression, "expression", [&] { return parse_stencil(expression, rank); });
}

stencil_tune_status stencil_tune_stencil_define(const char* toml, const char* source, stencil_tune_stencil** stencil) {
  return parse_into(stencil, toml, "toml",
                    [&] { return parse_definition(toml, source != nullptr ? source : "definition"); });
}

stencil_tune_status stencil_tune_stencil_adjoint(const stencil_tune_stencil* stencil, stencil_tune_stencil** adjoint) {
  return guarded([&] {
    require(adjoint, "adjoint");
    *adjoint = nullptr;
    require(stencil, "stencil");
    *adjoint = make_c_stencil(adjoint_of(stencil->stencil));
  });
}

stencil_tune_status stencil_tune_stencil_coefficient_adjoint(const stencil_tune_stencil* stencil,
                                                             stencil_tune_stencil** adjoint) {
  return guarded([&] {
    require(adjoint, "adjoint");
    *adjoint = nullptr;
    require(stencil, "stencil");
    *adjoint = make_c_stencil(coefficient_adjoint_of(stencil->stencil));
  });
}

stencil_tune_status stencil_tune_stencil_adjoint_step(const stencil_tune_stencil* stencil, const char* wanted,
                                                      int32_t held, stencil_tune_stencil** adjoint) {
  return guarded([&] {
    require(adjoint, "adjoint");
    *adjoint = nullptr;
    require(stencil, "stencil");
    *adjoint = make_c_stencil(
        adjoint_step_of(stencil->stencil, between_commas(wanted != nullptr ? wanted : ""), static_cast<Along>(held)));
  });
}

stencil_tune_status stencil_tune_stencil_reversed(const stencil_tune_stencil* stencil,
                                                  stencil_tune_stencil** reversed) {
  return guarded([&] {
    require(reversed, "reversed");
    *reversed = nullptr;
    require(stencil, "stencil");
    *reversed = make_c_stencil(reversed_of(stencil->stencil));
  });
}

stencil_tune_status stencil_tune_stencil_tangent(const stencil_tune_stencil* stencil, int32_t coefficient,
                                                 stencil_tune_stencil** tangent) {
  return guarded([&] {
    require(tangent, "tangent");
    *tangent = nullptr;
    require(stencil, "stencil");
    *tangent = make_c_stencil(tangent_of(stencil->stencil, coefficient));
  });
}

stencil_tune_status stencil_tune_stencil_stage(const stencil_tune_stencil* stencil, int32_t stage,
                                               stencil_tune_stencil** alone) {
  return guarded([&] {
    require(alone, "alone");
    *alone = nullptr;
    require(stencil, "stencil");
    *alone = make_c_stencil(stage_of(stencil->stencil, stage));
  });
}

stencil_tune_status stencil_tune_stencil_measured(const stencil_tune_stencil* stencil,
                                                  stencil_tune_stencil** measured) {
  return guarded([&] {
    require(measured, "measured");
    *measured = nullptr;
    require(stencil, "stencil");
    *measured = make_c_stencil(measured_stencil(stencil->stencil));
  });
}

int32_t stencil_tune_stencil_measure_count(const stencil_tune_stencil* stencil) {
  return stencil == nullptr ? 0 : static_cast<int32_t>(measure_names(stencil->stencil).size());
}

const char* stencil_tune_stencil_reduction(const stencil_tune_stencil* stencil, int32_t measure) {
  if (stencil == nullptr || !stencil->stencil.measures) return nullptr;
  const Reduction* found = at(stencil->stencil.measures->reductions, measure);
  return found == nullptr ? nullptr : name(*found).data();
}

stencil_tune_status stencil_tune_stencil_with_layers(const stencil_tune_stencil* stencil, const char* layers,
                                                     stencil_tune_stencil** with) {
  return guarded([&] {
    require(with, "with");
    *with = nullptr;
    require(stencil, "stencil");
    require(layers, "layers");
    Stencil made = stencil->stencil;
    made.layers = parse_layer_widths(layers, made.rank);
    *with = make_c_stencil(std::move(made));
  });
}

stencil_tune_status stencil_tune_stencil_batched(const stencil_tune_stencil* stencil, const char* shared,
                                                 stencil_tune_stencil** batch) {
  return guarded([&] {
    require(batch, "batch");
    *batch = nullptr;
    require(stencil, "stencil");
    *batch = make_c_stencil(batched(stencil->stencil, between_commas(shared != nullptr ? shared : "")));
  });
}

void stencil_tune_stencil_release(stencil_tune_stencil* stencil) { delete stencil; }

const char* stencil_tune_stencil_name(const stencil_tune_stencil* stencil) {
  return stencil == nullptr ? nullptr : stencil->stencil.name.c_str();
}

const char* stencil_tune_stencil_key(const stencil_tune_stencil* stencil) {
  return stencil == nullptr ? nullptr : stencil->key.c_str();
}

const char* stencil_tune_stencil_text(const stencil_tune_stencil* stencil) {
  return stencil == nullptr ? nullptr : stencil->text.c_str();
}

const char* stencil_tune_stencil_type(const stencil_tune_stencil* stencil) {
  return stencil == nullptr || stencil->type.empty() ? nullptr : stencil->type.c_str();
}

int32_t stencil_tune_stencil_rank(const stencil_tune_stencil* stencil) {
  return stencil == nullptr ? 0 : stencil->stencil.rank;
}

int32_t stencil_tune_stencil_stage_count(const stencil_tune_stencil* stencil) {
  return stencil == nullptr ? 0 : static_cast<int32_t>(stencil->stencil.stages.size());
}

int32_t stencil_tune_stencil_field_count(const stencil_tune_stencil* stencil) {
  return stencil == nullptr ? 0 : static_cast<int32_t>(stencil->stencil.fields.size());
}

int32_t stencil_tune_stencil_coefficient_count(const stencil_tune_stencil* stencil) {
  return stencil == nullptr ? 0 : static_cast<int32_t>(stencil->stencil.coefficients.size());
}

const char* stencil_tune_stencil_field_name(const stencil_tune_stencil* stencil, int32_t field) {
  const std::string* found = stencil == nullptr ? nullptr : at(stencil->stencil.fields, field);
  return found != nullptr ? found->c_str() : nullptr;
}

const char* stencil_tune_stencil_coefficient_name(const stencil_tune_stencil* stencil, int32_t coefficient) {
  const Coefficient* found = coefficient_of(stencil, coefficient);
  return found != nullptr ? found->name.c_str() : nullptr;
}

double stencil_tune_stencil_coefficient_value(const stencil_tune_stencil* stencil, int32_t coefficient) {
  const Coefficient* found = coefficient_of(stencil, coefficient);
  return found != nullptr ? found->value : 0;
}

int32_t stencil_tune_stencil_field_is_input(const stencil_tune_stencil* stencil, int32_t field) {
  const FieldRole* found = role_of(stencil, field);
  return found != nullptr && found->is_input ? 1 : 0;
}

int32_t stencil_tune_stencil_field_is_output(const stencil_tune_stencil* stencil, int32_t field) {
  const FieldRole* found = role_of(stencil, field);
  return found != nullptr && found->is_output ? 1 : 0;
}

int32_t stencil_tune_stencil_field_is_pointwise(const stencil_tune_stencil* stencil, int32_t field) {
  if (role_of(stencil, field) == nullptr) return 0;
  const std::vector<Node>& nodes = stencil->stencil.nodes;
  return std::none_of(nodes.begin(), nodes.end(), [&](const Node& node) {
    return node.op == Operation::read && node.index == field && node.offset != Offset{};
  });
}

int32_t stencil_tune_stencil_field_along(const stencil_tune_stencil* stencil, int32_t field) {
  return stencil == nullptr ? 0 : static_cast<int32_t>(profile_along(stencil->stencil, field));
}

int32_t stencil_tune_stencil_field_layer_axis(const stencil_tune_stencil* stencil, int32_t field) {
  return stencil == nullptr ? -1 : layer_axis(stencil->stencil, field);
}

const char* stencil_tune_stencil_field_storage(const stencil_tune_stencil* stencil, int32_t field) {
  if (stencil == nullptr) return nullptr;
  for (const FieldStorage& storage : stencil->stencil.storages) {
    if (storage.field == field) return name(storage.type).data();  // a literal's
  }
  return nullptr;
}

int32_t stencil_tune_stencil_field_next(const stencil_tune_stencil* stencil, int32_t field) {
  const FieldRole* found = role_of(stencil, field);
  return found != nullptr ? found->next : -1;
}

int32_t stencil_tune_stencil_field_layers(const stencil_tune_stencil* stencil, int32_t field) {
  const FieldRole* found = role_of(stencil, field);
  return found != nullptr ? found->layers : -1;
}

int32_t stencil_tune_stencil_is_linear(const stencil_tune_stencil* stencil) {
  return stencil != nullptr && is_linear(stencil->stencil) ? 1 : 0;
}

int32_t stencil_tune_stencil_is_placed(const stencil_tune_stencil* stencil, int32_t* low, int32_t* high) {
  if (stencil == nullptr || low == nullptr || high == nullptr) return 0;
  const std::array<Reach, kMaxRank> reach = profile_reach(stencil->stencil);
  std::transform(reach.begin(), reach.end(), low, [](const Reach& axis) { return axis.low; });
  std::transform(reach.begin(), reach.end(), high, [](const Reach& axis) { return axis.high; });
  if (counts_steps(stencil->stencil)) return 2;
  return is_placed(stencil->stencil) ? 1 : 0;
}

int32_t stencil_tune_stencil_layer_widths(const stencil_tune_stencil* stencil, int64_t* low, int64_t* high) {
  if (stencil == nullptr || low == nullptr || high == nullptr) return 0;
  const LayerWidths widths = stencil->stencil.layers.value_or(LayerWidths{});
  std::copy(widths.low.begin(), widths.low.end(), low);
  std::copy(widths.high.begin(), widths.high.end(), high);
  return stencil->stencil.layers ? 1 : 0;
}

stencil_tune_status stencil_tune_stencil_reach(const stencil_tune_stencil* stencil, int32_t* low, int32_t* high) {
  return guarded([&] {
    require(stencil, "stencil");
    require(low, "low");
    require(high, "high");
    std::fill_n(low, kMaxRank, 0);
    std::fill_n(high, kMaxRank, 0);
    for (const StepStage& stage : analyse_step(stencil->stencil).stages) {
      for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
        low[axis] = std::min(low[axis], stage.facts.farthest[axis].low);
        high[axis] = std::max(high[axis], stage.facts.farthest[axis].high);
      }
    }
  });
}

stencil_tune_status stencil_tune_stencil_describe(const stencil_tune_stencil* stencil, char** text) {
  return guarded([&] {
    require(stencil, "stencil");
    require(text, "text");
    *text = copy_of(describe(stencil->stencil)).release();
  });
}

stencil_tune_status stencil_tune_stencil_definition(const stencil_tune_stencil* stencil, char** text) {
  return guarded([&] {
    require(stencil, "stencil");
    require(text, "text");
    *text = copy_of(write_definition(stencil->stencil)).release();
  });
}

}  // extern "C"
