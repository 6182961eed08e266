#include "tests/kernels/random/random_stencils.hpp"

#include "generator/definition/definition.hpp"
#include "tests/kernels/random/random_expressions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace stencil_tune {
namespace {

Stencil random_builtin(Draw& draw) {
  const int rank = draw.between(1, kMaxRank);
  const Shape shape = draw.one_of({Shape::star, Shape::box});
  // Boxes of rank 3 grow with the cube of the order; no candidate of the largest is small enough to compile.
  const int most = shape == Shape::box && rank == 3 ? 4 : 8;
  const int order = draw.one_in(2) ? draw.between(1, 2) : draw.between(1, most);
  return make_builtin(shape, rank, order, draw.one_of({Sharing::distinct, Sharing::symmetric}));
}

Stencil random_of_corpus(Draw& draw) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator("corpus")) files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  for (;;) {  // layers do not go with every boundary and grid that is drawn later
    Stencil stencil = load_definition(draw.one_of(files));
    if (!stencil.layers) return stencil;
  }
}

/// One field that steps advance, constant ones before and after it.
Stencil advancing_stencil(Draw& draw) {
  RandomExpressions expressions(draw, draw.between(1, kMaxRank));
  StencilBuilder& builder = expressions.builder();
  if (draw.one_in(6)) builder.field("unused"), builder.coefficient("unused", 1);
  Fields constants = make_fields(builder, "before", draw.one_of({0, 0, 1}));
  const int u = builder.field("u"), next = builder.field("next");
  const Fields later = make_fields(builder, "after", draw.one_of({0, 0, 1}));
  constants.insert(constants.end(), later.begin(), later.end());
  builder.update(next, expressions.any_update({u}, constants));
  builder.rotate(next, u);
  return std::move(builder).build();
}

Stencil two_level_stencil(Draw& draw) {
  RandomExpressions expressions(draw, draw.between(1, kMaxRank));
  StencilBuilder& builder = expressions.builder();
  const int old = builder.field("old"), u = builder.field("u"), next = builder.field("next");
  builder.update(next, expressions.any_update({u}, {old}));
  builder.rotate(next, u);
  builder.rotate(u, old);
  return std::move(builder).build();
}

bool is_read(const StencilBuilder& builder, int field) {
  const std::vector<Node>& nodes = builder.stencil().nodes;
  return std::any_of(nodes.begin(), nodes.end(),
                     [&](const Node& node) { return node.op == Operation::read && node.index == field; });
}

/// Several fields read with their surroundings, several written, one stage or more; later stages read what earlier ones
/// wrote, which has the held layers of any of the fields.
Stencil several_fields_stencil(Draw& draw) {
  RandomExpressions expressions(draw, draw.between(1, kMaxRank));
  StencilBuilder& builder = expressions.builder();
  const Fields inputs = make_fields(builder, "in", draw.between(1, 3));
  Fields read = inputs;
  const Fields at_cell = make_fields(builder, "k", draw.between(0, 1));
  const int stages = draw.one_of({1, 1, 2, 3});
  for (int stage = 0; stage < stages; ++stage) {
    const Fields written = make_fields(builder, fmt::format("out{}_", stage).c_str(), draw.one_of({1, 1, 2, 3}));
    builder.begin_stage();
    for (const int output : written) {
      builder.update(output, expressions.any_update(read, at_cell));
    }
    read.insert(read.end(), written.begin(), written.end());
  }
  for (const int field : read) {
    const bool between = std::find(inputs.begin(), inputs.end(), field) == inputs.end() && is_read(builder, field);
    if (between) builder.hold(field, draw.one_of(inputs));
  }
  return std::move(builder).build();
}

/// Now and then fields that steps do not change are stored in types of their own.
Stencil with_storage(Stencil stencil, Draw& draw) {
  if (!draw.one_in(4)) return stencil;
  std::vector<bool> changes(stencil.fields.size(), false);
  for (const Stage& stage : stencil.stages) {
    for (const Update& update : stage.updates) changes[static_cast<std::size_t>(update.output)] = true;
  }
  for (const Rotation& rotation : stencil.rotations) changes[static_cast<std::size_t>(rotation.to)] = true;
  using enum ElementType;
  for (std::size_t field = 0; field < changes.size(); ++field) {
    if (changes[field] || draw.one_in(3)) continue;
    stencil.storages.push_back({static_cast<int>(field), draw.one_of({f64, f32, f16, bf16, u8, i8, u16, i16, i32})});
  }
  return stencil;
}

Stencil stored_as_the_problem(Draw& draw) {
  switch (draw.between(0, 9)) {
    case 0:
    case 1:
      return random_builtin(draw);
    case 2:
      return random_of_corpus(draw);
    case 3:
    case 4:
    case 5:
    case 6:
      return advancing_stencil(draw);
    case 7:
      return two_level_stencil(draw);
    default:
      return several_fields_stencil(draw);
  }
}

}  // namespace

Stencil random_stencil(Draw& draw) {
  Stencil stencil = stored_as_the_problem(draw);
  return with_storage(std::move(stencil), draw);
}

}  // namespace stencil_tune
