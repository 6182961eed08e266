#include "stencil_tune/batch.hpp"

#include "generator/stencil/indices.hpp"
#include "generator/stencil/step.hpp"
#include "generator/suggest.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string_view>

namespace stencil_tune {
namespace {

/// At edges arrays along some axes are answered in a way of their own.
bool is_read_beside_the_cell(const Stencil& stencil, int field) {
  return std::any_of(stencil.nodes.begin(), stencil.nodes.end(), [&](const Node& node) {
    return node.op == Operation::read && node.index == field && node.offset != Offset{};
  });
}

/// Why grids cannot have one array of the field; empty where they can.
std::string_view obstacle(const Stencil& stencil, const std::vector<int>& constants, int field) {
  const auto is_held = [&](const Hold& hold) { return hold.layers_of == field; };
  if (is_profile(stencil, field)) return "all its grids have one of it anyway";
  if (layer_axis(stencil, field) >= 0) return "it exists in layers alone";
  if (std::find(constants.begin(), constants.end(), field) == constants.end()) {
    return "steps change it, and each grid has its own";
  }
  if (std::any_of(stencil.holds.begin(), stencil.holds.end(), is_held)) return "another field has its held layers";
  if (is_read_beside_the_cell(stencil, field)) return "it is read at other cells than the one that is updated";
  return "";
}

int shared_field(const Stencil& stencil, const std::vector<int>& constants, const std::string& name) {
  const auto found = std::find(stencil.fields.begin(), stencil.fields.end(), name);
  if (found == stencil.fields.end()) {
    throw Error(ErrorCode::unknown_name, fmt::format("a batch shares '{}', which is no field of '{}'{}", name,
                                                     stencil.name, did_you_mean(name, stencil.fields)));
  }
  const auto field = static_cast<int>(found - stencil.fields.begin());
  const std::string_view why = obstacle(stencil, constants, field);
  if (why.empty()) return field;
  throw Error(ErrorCode::invalid_argument, fmt::format("a batch cannot share '{}': {}", name, why));
}

/// The field varies along these axes alone.
void share(Stencil& stencil, int field, Along along) {
  stencil.profiles.push_back({field, along});
  for (std::vector<Node>* nodes : {&stencil.nodes, &stencil.written.nodes}) {
    for (Node& node : *nodes) {
      if (node.op == Operation::read && node.index == field) node.op = Operation::profile;
    }
  }
}

Stencil with_another_axis(Stencil stencil, const std::vector<int>& shared) {
  Along along = 0;
  for (int axis = 0; axis < stencil.rank; ++axis) along |= along_axis(axis);
  for (const int field : shared) share(stencil, field, along);
  ++stencil.rank;
  return stencil;
}

}  // namespace

Stencil batched(const Stencil& stencil, const std::vector<std::string>& shared) {
  if (stencil.rank == kMaxRank) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("stencil '{}' has {} axes, and no room for one that a batch lies along: launch its grids "
                            "one after the other",
                            stencil.name, stencil.rank));
  }
  const std::vector<int> constants = analyse_step(stencil).constants;
  std::vector<int> fields;
  for (const std::string& name : shared) fields.push_back(shared_field(stencil, constants, name));
  Stencil batch = with_another_axis(stencil, fields);
  if (stencil.measures) {
    batch.measures = std::make_shared<Measures>(
        Measures{with_another_axis(stencil.measures->stencil, fields), stencil.measures->reductions});
  }
  return batch;
}

}  // namespace stencil_tune
