#include "runtime/library/definition_writer.hpp"

#include "generator/stencil/indices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

namespace stencil_tune {

namespace {

/// How tightly the outermost operator of a text binds.
enum class Binding { comparison, sum, product, sign, leaf };

struct Text {
  std::string text;
  Binding binding = Binding::leaf;
};

std::string wrapped(const Text& operand, Binding least) {
  return operand.binding < least ? "(" + operand.text + ")" : operand.text;
}

class DefinitionWriter {
 public:
  /// prefix: of the names that parts have which are used more than once.
  explicit DefinitionWriter(const Stencil& stencil, char prefix = 't')
      : stencil_(stencil), prefix_(prefix), uses_(stencil.nodes.size(), 0) {
    for (const Stage& stage : stencil.stages) {
      for (const Update& update : stage.updates) ++uses_[at(update.expression)];
    }
    // Users come after what they use, so that each node's own uses are known when it is reached.
    for (NodeId id = static_cast<NodeId>(stencil.nodes.size()) - 1; id >= 0; --id) {
      if (uses_[at(id)] == 0) continue;
      const Node& node = stencil.nodes[at(id)];
      for (int i = 0; i < operand_count(node.op); ++i) ++uses_[at(node.operands[at(i)])];
    }
    note_names();
  }

  std::string write() {
    const std::vector<Text> texts = expressions();
    const std::string measures = stencil_.measures ? write_measures() : "";
    std::string text = fmt::format("name = \"stencil\"\nrank = {}\nfields = [{}]\n", stencil_.rank, fields());
    if (stencil_.layers) text += fmt::format("layer = \"{}\"\n", to_string(*stencil_.layers, stencil_.rank));
    text += "[coefficients]\n";
    for (const int i : coefficients_used_) {
      text += fmt::format("c{} = {}\n", i, decimal(stencil_.coefficients[at(i)].value));
    }
    text += storages() + boundaries();
    if (!lets_.empty()) text += "[let]\n" + lets_;
    for (const Stage& stage : stencil_.stages) {
      text += "[[stage]]\n";
      for (const Update& update : stage.updates) {
        text += fmt::format("f{} = \"{}\"\n", update.output, texts[at(update.expression)].text);
      }
    }
    text += "[rotate]\n";
    for (const Rotation& rotation : stencil_.rotations) {
      text += fmt::format("f{} = \"f{}\"\n", rotation.from, rotation.to);
    }
    if (!stencil_.holds.empty()) text += "[hold]\n";
    for (const Hold& hold : stencil_.holds) text += fmt::format("f{} = \"f{}\"\n", hold.field, hold.layers_of);
    return text + measures;
  }

 private:
  /// Their parts go to lets_.
  std::string write_measures() {
    DefinitionWriter measured(stencil_.measures->stencil, 'm');
    const std::vector<Text> texts = measured.expressions();
    lets_ += measured.lets_;
    coefficients_used_.merge(measured.coefficients_used_);
    std::string text = "[measure]\n";
    const std::vector<Update>& updates = measured.stencil_.stages.front().updates;
    for (std::size_t i = 0; i < updates.size(); ++i) {
      text += fmt::format("measure{} = \"{}({})\"\n", i, name(stencil_.measures->reductions[i]),
                          texts[at(updates[i].expression)].text);
    }
    return text;
  }

  /// What a definition declares it must use; fields and coefficients keep their numbers.
  void note_names() {
    for (std::size_t id = 0; id < uses_.size(); ++id) {
      const Node& node = stencil_.nodes[id];
      if (uses_[id] == 0) continue;
      if (node.op == Operation::read || node.op == Operation::profile) fields_used_.insert(node.index);
      const bool has_seed = node.op == Operation::random && node.index >= 0;
      if (node.op == Operation::coefficient || has_seed) coefficients_used_.insert(node.index);
    }
    for (const Stage& stage : stencil_.stages) {
      for (const Update& update : stage.updates) fields_used_.insert(update.output);
    }
    for (const Rotation& rotation : stencil_.rotations) fields_used_.insert({rotation.from, rotation.to});
    for (const Hold& hold : stencil_.holds) fields_used_.insert({hold.field, hold.layers_of});
  }

  std::string fields() const {
    std::string list;
    for (const int field : fields_used_) {
      const Along along = profile_along(stencil_, field);
      const int layers = layer_axis(stencil_, field);
      const std::string place = along != 0    ? fmt::format("({})", along_text(along))
                                : layers >= 0 ? fmt::format("({} in layer)", "xyz"[layers])
                                              : "";
      list += fmt::format("{}\"f{}{}\"", list.empty() ? "" : ", ", field, place);
    }
    return list;
  }

  /// Updates have the numbers as they are stored.
  std::string storages() const {
    std::string text;
    for (const FieldStorage& storage : stencil_.storages) {
      if (!fields_used_.contains(storage.field)) continue;
      text += fmt::format("f{} = \"{}\"\n", storage.field, name(storage.type));
    }
    return text.empty() ? text : "[storage]\n" + text;
  }

  std::string boundaries() const {
    std::string text;
    for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
      if (stencil_.boundary[axis]) text += fmt::format("{} = \"{}\"\n", "xyz"[axis], name(*stencil_.boundary[axis]));
    }
    return text.empty() ? text : "[boundary]\n" + text;
  }

  /// The text of each node that is used; what is used more than once gets a name in lets_.
  std::vector<Text> expressions() {
    std::vector<Text> texts(stencil_.nodes.size());
    for (std::size_t id = 0; id < texts.size(); ++id) {
      if (uses_[id] == 0) continue;
      const Node& node = stencil_.nodes[id];
      texts[id] = node.op == Operation::random ? random(node) : expression(node, texts);
      if (uses_[id] < 2 || operand_count(node.op) == 0) continue;
      lets_ += fmt::format("{}{} = \"{}\"\n", prefix_, id, texts[id].text);
      texts[id] = {fmt::format("{}{}", prefix_, id), Binding::leaf};
    }
    return texts;
  }

  /// At the cell itself it has a name in lets_, which other cells are read of.
  Text random(const Node& node) {
    const auto key = static_cast<std::uint64_t>(node.value);
    const std::string seed = node.index < 0 ? fmt::format("{}", key & 0xffffffffu) : fmt::format("c{}", node.index);
    const std::string name = fmt::format("{}r{}_{}", prefix_, key >> 32, seed);
    const std::string let = fmt::format("{} = \"random({}, {})\"\n", name, seed, key >> 32);
    if (lets_.find(let) == std::string::npos) lets_ += let;
    return {name + cell(node), Binding::leaf};
  }

  Text expression(const Node& node, const std::vector<Text>& texts) const {
    const auto operand = [&](std::size_t i) -> const Text& { return texts[at(node.operands[i])]; };
    const auto call = [&](std::string_view function) {
      std::string arguments;
      for (int i = 0; i < operand_count(node.op); ++i) arguments += (i > 0 ? ", " : "") + operand(at(i)).text;
      return Text{fmt::format("{}({})", function, arguments), Binding::leaf};
    };
    const auto binary = [&](std::string_view sign, Binding binding) {
      const auto tighter = static_cast<Binding>(static_cast<int>(binding) + 1);
      const Binding left = binding == Binding::comparison ? tighter : binding;
      return Text{fmt::format("{} {} {}", wrapped(operand(0), left), sign, wrapped(operand(1), tighter)), binding};
    };
    switch (node.op) {
      case Operation::number:
        return {decimal(node.value), node.value < 0 ? Binding::sum : Binding::leaf};
      case Operation::coefficient:
        return {fmt::format("c{}", node.index), Binding::leaf};
      case Operation::read:
        return {fmt::format("f{}{}", node.index, cell(node)), Binding::leaf};
      case Operation::negate:
        return {"-" + wrapped(operand(0), Binding::leaf), Binding::sum};
      case Operation::absolute:
        return call("abs");
      case Operation::square_root:
        return call("sqrt");
      case Operation::exponential:
        return call("exp");
      case Operation::add:
        return binary("+", Binding::sum);
      case Operation::subtract:
        return binary("-", Binding::sum);
      case Operation::multiply:
        return binary("*", Binding::product);
      case Operation::divide:
        return binary("/", Binding::product);
      case Operation::minimum:
        return call("min");
      case Operation::maximum:
        return call("max");
      case Operation::less:
        return binary("<", Binding::comparison);
      case Operation::less_equal:
        return binary("<=", Binding::comparison);
      case Operation::equal:
        return binary("==", Binding::comparison);
      case Operation::select:
        return call("select");
      case Operation::sine:
      case Operation::cosine:
      case Operation::tangent:
      case Operation::hyperbolic_tangent:
      case Operation::logarithm:
      case Operation::power:
      case Operation::floor:
      case Operation::round:
      case Operation::modulo:
        return call(name(node.op));
      case Operation::coordinate:
        return coordinate(node);
      case Operation::step:
        return {"t", Binding::leaf};
      case Operation::before:
      case Operation::after:
      case Operation::outside:
      case Operation::in_layer:
        return {fmt::format("{}_{}[{}]", "xyz"[node.index], name(node.op), place(node, along_axis(node.index))),
                Binding::leaf};
      case Operation::profile: {
        const Along along = profile_along(stencil_, node.index);
        const std::string cell = along == kAlongTime ? "" : fmt::format("[{}]", place(node, along));
        return {fmt::format("f{}{}", node.index, cell), Binding::leaf};
      }
      case Operation::random:
        break;
    }
    return {};
  }

  /// "z", "z+1", "x-1, y".
  static std::string place(const Node& node, Along along) {
    std::string text;
    for (const int axis : axes_of(along)) {
      text += fmt::format("{}{}", text.empty() ? "" : ", ", "xyz"[axis]);
      if (node.offset[at(axis)] != 0) text += fmt::format("{:+}", node.offset[at(axis)]);
    }
    return text;
  }

  static Text coordinate(const Node& node) {
    const int offset = node.offset[at(node.index)];
    const char axis = "xyz"[node.index];
    if (offset == 0) return {std::string(1, axis), Binding::leaf};
    return {fmt::format("{}[{}{:+}]", axis, axis, offset), Binding::leaf};
  }

  /// "[-1, 0, 2]".
  std::string cell(const Node& node) const {
    std::string text = "[";
    for (std::size_t axis = 0; axis < at(stencil_.rank); ++axis) {
      text += fmt::format("{}{}", axis > 0 ? ", " : "", node.offset[axis]);
    }
    return text + "]";
  }

  /// The shortest text that reads back to the same number, with a point or an exponent: TOML's floats have one.
  static std::string decimal(double value) {
    std::string text = fmt::format("{}", value);
    if (text.find_first_of(".en") == std::string::npos) text += ".0";
    return text;
  }

  const Stencil& stencil_;
  char prefix_;
  std::vector<int> uses_;
  std::set<int> fields_used_;
  std::set<int> coefficients_used_;
  std::string lets_;
};

}  // namespace

std::string write_definition(const Stencil& stencil) { return DefinitionWriter(stencil).write(); }

}  // namespace stencil_tune
