// Definition files: TOML to stencil.
#include "generator/definition/definition.hpp"

#include "generator/definition/expression/functions.hpp"
#include "generator/definition/stencil.hpp"
#include "generator/definition/toml_reader.hpp"
#include "generator/input_file.hpp"
#include "generator/stencil/step.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace stencil_tune {
namespace {

const std::vector<std::string> kKeys{"name",    "rank",   "element",     "fields", "coefficients", "let",
                                     "update",  "stage",  "rotate",      "hold",   "boundary",     "layer",
                                     "measure", "source", "description", "storage"};

class DefinitionReader : private TomlReader {
 public:
  DefinitionReader(std::string_view text, std::string_view source) : TomlReader(source, text), source_(source) {}

  Stencil run() {
    const toml::table document = parse();
    require_known(document, kKeys);
    for (const std::string_view comment : {"source", "description"}) string_or(document, comment, "");
    std::vector<std::string> used;  // by measures
    const auto measures = table(document, "measure") ? std::make_shared<Measures>(measured(document, used)) : nullptr;
    Stencil simplified = read(document, Form::simplified, used);
    Stencil stencil = with_written_form(std::move(simplified), read(document, Form::written, used));
    stencil.element = element(document);
    if (measures) refuse_later_fields(document, stencil, *measures);
    stencil.measures = measures;
    return stencil;
  }

 private:
  Stencil read(const toml::table& document, Form form, const std::vector<std::string>& used) const {
    DefinedStencil stencil(text(), name(document), rank(document), form);
    declare(stencil, document);
    updates(stencil, document);
    rotations(stencil, document);
    held_layers(stencil, document);
    boundaries(stencil, document);
    layers(stencil, document);
    stencil.use(used);
    return std::move(stencil).build(0);
  }

  // ---- measures

  /// used: is given the names that they use.
  Measures measured(const toml::table& document, std::vector<std::string>& used) const {
    std::vector<Reduction> reductions;
    const auto in_form = [&](Form form) {
      DefinedStencil stencil(text(), name(document), rank(document), form);
      declare(stencil, document);
      boundaries(stencil, document);
      layers(stencil, document);
      for (const TomlEntry& entry : entries(*stage_tables(document).front())) {
        stencil.stands_for(entry.key, parse_expression(expression(entry), stencil.scope()), entry.offset);
      }
      const toml::table& measure = *table(document, "measure");
      if (measure.empty()) reject(offset_of(measure), "this measures nothing");
      for (const TomlEntry& entry : entries(measure)) stencil.measure(entry.key, expression(entry), entry.offset);
      reductions = stencil.reductions();
      used = stencil.used_names();
      return std::move(stencil).build(0);
    };
    Stencil simplified = in_form(Form::simplified);
    return {with_written_form(std::move(simplified), in_form(Form::written)), reductions};
  }

  /// What later stages write exists only while a step is made.
  void refuse_later_fields(const toml::table& document, const Stencil& stencil, const Measures& measures) const {
    const std::vector<int> state = analyse_step(stencil).state;
    for (const Node& node : measures.stencil.nodes) {
      const bool known = std::find(state.begin(), state.end(), node.index) != state.end();
      if (node.op != Operation::read || known || !is_written(stencil, node.index)) continue;
      reject(offset_of(*document.get("measure")),
             fmt::format("a measure reads '{}', which a later stage writes: name fields that a step begins with, or "
                         "outputs of the first stage",
                         stencil.fields[static_cast<std::size_t>(node.index)]));
    }
  }

  // ---- values

  std::string name(const toml::table& document) const {
    const std::string name = string_or(document, "name", file_stem());
    const auto allowed = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
             c == '.';
    };
    if (!name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), allowed)) return name;
    const toml::node* node = document.get("name");
    reject(node ? offset_of(*node) : 0,
           "a stencil's name is 1 to 64 letters, digits, '_', '-' and '.'; give one as "
           "name = \"...\"");
  }

  std::string file_stem() const {
    std::string_view stem = source_;
    if (const std::size_t slash = stem.rfind('/'); slash != std::string_view::npos) stem.remove_prefix(slash + 1);
    if (stem.ends_with(".toml")) stem.remove_suffix(5);
    return std::string(stem);
  }

  int rank(const toml::table& document) const {
    const toml::node* node = document.get("rank");
    if (node == nullptr) reject(0, "the rank is missing; write rank = 1, 2 or 3");
    const auto value = node->value_exact<std::int64_t>();
    if (!value || *value < 1 || *value > kMaxRank) reject(offset_of(*node), "rank must be 1, 2 or 3");
    return static_cast<int>(*value);
  }

  std::optional<ElementType> element(const toml::table& document) const {
    const std::string text = string_or(document, "element", "");
    if (document.get("element") == nullptr) return std::nullopt;
    try {
      return parse_element_type(text);
    } catch (const Error& error) {
      reject(offset_of(*document.get("element")), quotable(error.what(), 200));
    }
  }

  // ---- parts

  void declare(DefinedStencil& stencil, const toml::table& document) const {
    const toml::node* fields = document.get("fields");
    if (fields == nullptr) reject(0, "the fields are missing; write fields = [\"u\", \"u_next\"]");
    if (fields->as_array() == nullptr) reject(offset_of(*fields), "'fields' must be a list of names");
    for (const toml::node& field : *fields->as_array()) {
      if (field.as_string() == nullptr) reject(offset_of(field), "a field's name must be a string");
      declare_field(stencil, field.as_string()->get(), offset_of(field));
    }
    if (const toml::table* coefficients = table(document, "coefficients")) {
      for (const TomlEntry& entry : entries(*coefficients)) {
        if (entry.value->is_number()) {
          stencil.declare_coefficient(entry.key, *entry.value->value<double>(), entry.offset);
        } else if (entry.value->is_string()) {
          stencil.declare_coefficient(entry.key, expression(entry), entry.offset);
        } else {
          reject(offset_of(*entry.value), "a coefficient's default is a number, or made of numbers, as in \"1/3\"");
        }
      }
    }
    if (const toml::table* storage = table(document, "storage")) {
      for (const TomlEntry& entry : entries(*storage)) stencil.storage(entry.key, expression(entry), entry.offset);
    }
    if (const toml::table* let = table(document, "let")) {
      for (const TomlEntry& entry : entries(*let)) stencil.scope().announce(entry.key);
      for (const TomlEntry& entry : entries(*let))
        stencil.declare_expression(entry.key, expression(entry), entry.offset);
    }
  }

  /// "u", "dz(z)", "H(x, y)" or "w(t)" for a profile, or "psx(x in layer)".
  static void declare_field(DefinedStencil& stencil, std::string_view text, std::size_t offset) {
    const std::size_t open = text.find('(');
    if (open == std::string_view::npos || !text.ends_with(")")) return stencil.declare_field(text, offset);
    stencil.declare_field_at(text.substr(0, open), text.substr(open + 1, text.size() - open - 2), offset);
  }

  /// The widths that the layers have where nobody asks for others.
  void layers(DefinedStencil& stencil, const toml::table& document) const {
    const toml::node* node = document.get("layer");
    if (node == nullptr) return;
    const auto width = node->value_exact<std::int64_t>();
    if (!width && node->as_string() == nullptr) reject(offset_of(*node), "write layer = 20 or layer = \"x=20,z=0:20\"");
    stencil.layers(width ? std::to_string(*width) : node->as_string()->get(), offset_of(*node));
  }

  std::vector<const toml::table*> stage_tables(const toml::table& document) const {
    const toml::table* update = table(document, "update");
    const toml::node* stages = document.get("stage");
    if ((update == nullptr) == (stages == nullptr)) {
      reject(stages ? offset_of(*stages) : 0,
             "a definition has either one [update] or one or more [[stage]], each with lines such as u_next = \"...\"");
    }
    if (update) return {update};
    if (stages->as_array() == nullptr) reject(offset_of(*stages), "write [[stage]] in double brackets");
    std::vector<const toml::table*> tables;
    for (const toml::node& node : *stages->as_array()) {
      if (node.as_table() == nullptr) reject(offset_of(node), "a stage must be a table");
      tables.push_back(node.as_table());
    }
    if (tables.empty()) reject(offset_of(*stages), "a definition has at least one stage");
    return tables;
  }

  void updates(DefinedStencil& stencil, const toml::table& document) const {
    for (const toml::table* table : stage_tables(document)) stage(stencil, *table);
  }

  void stage(DefinedStencil& stencil, const toml::table& table) const {
    const std::vector<TomlEntry> updates = entries(table);
    stencil.begin_stage(offset_of(table));
    if (updates.empty()) reject(offset_of(table), "this stage writes nothing");
    for (const TomlEntry& entry : updates) {
      stencil.update(entry.key, parse_expression(expression(entry), stencil.scope()), entry.offset);
    }
  }

  void rotations(DefinedStencil& stencil, const toml::table& document) const {
    const toml::table* rotate = table(document, "rotate");
    if (rotate == nullptr) {
      stencil.rotate_by_convention();
      return;
    }
    for (const TomlEntry& entry : entries(*rotate)) {
      if (entry.value->as_string() == nullptr) reject(offset_of(*entry.value), "a field's name must be a string");
      stencil.rotate(entry.key, entry.value->as_string()->get(), entry.offset);
    }
  }

  void held_layers(DefinedStencil& stencil, const toml::table& document) const {
    const toml::table* hold = table(document, "hold");
    if (hold == nullptr) return;
    for (const TomlEntry& entry : entries(*hold)) {
      if (entry.value->as_string() == nullptr) reject(offset_of(*entry.value), "a field's name must be a string");
      stencil.hold(entry.key, entry.value->as_string()->get(), entry.offset);
    }
  }

  void boundaries(DefinedStencil& stencil, const toml::table& document) const {
    const toml::table* boundary = table(document, "boundary");
    if (boundary == nullptr) return;
    for (const TomlEntry& entry : entries(*boundary)) {
      const bool is_axis = entry.key.size() == 1 && kAxes.find(entry.key) != std::string_view::npos;
      const toml::table* of_field = entry.value->as_table();
      if (is_axis) {
        axis_boundary(stencil, "", entry);
      } else if (of_field != nullptr) {
        for (const TomlEntry& axis : entries(*of_field)) axis_boundary(stencil, entry.key, axis);
      } else {
        reject(offset_of(*entry.value),
               fmt::format("write {0}.x = \"...\", or y or z, for field '{0}'; x = \"...\" for all fields",
                           quotable(entry.key)));
      }
    }
  }

  /// x = "odd", x.low = "odd".
  void axis_boundary(DefinedStencil& stencil, std::string_view field, const TomlEntry& axis) const {
    const toml::table* sides = axis.value->as_table();
    if (sides == nullptr) {
      stencil.boundary(field, axis.key, std::nullopt, expression(axis), axis.offset);
      return;
    }
    for (const TomlEntry& side : entries(*sides)) {
      if (side.key != "low" && side.key != "high") {
        reject(side.offset, fmt::format("'{}' is no side of an axis; those are low and high", quotable(side.key)));
      }
      stencil.boundary(field, axis.key, side.key == "low" ? Side::low : Side::high, expression(side), side.offset);
    }
  }

  std::string source_;
};

}  // namespace

Stencil parse_definition(std::string_view text, std::string_view source) {
  if (text.size() > kDefinitionLimits.bytes) {
    throw Error(ErrorCode::malformed_definition,
                fmt::format("{}: more than {} bytes", quotable(source, 200), kDefinitionLimits.bytes));
  }
  return DefinitionReader(text, source).run();
}

Stencil load_definition(const std::string& path) {
  return parse_definition(read_input_file(path, kDefinitionLimits.bytes), path);
}

}  // namespace stencil_tune
