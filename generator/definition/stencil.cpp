#include "generator/definition/stencil.hpp"

#include "generator/definition/expression/functions.hpp"
#include "generator/stencil/indices.hpp"
#include "generator/suggest.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace stencil_tune {
namespace {

constexpr auto kOfTheProblem = static_cast<ElementType>(-1);  // stands for a type that the definition does not know

std::set<int> fields_read(const Stencil& stencil) {
  std::set<int> fields;
  for (const Node& node : stencil.nodes) {
    if (node.op == Operation::read) fields.insert(node.index);
  }
  return fields;
}

/// "u" of "u_next" or "u_new"; empty for other names.
std::string_view current_of(std::string_view name) {
  for (const std::string_view suffix : {"_next", "_new"}) {
    if (name.ends_with(suffix)) return name.substr(0, name.size() - suffix.size());
  }
  return {};
}

/// "z", of three axes "x, y" in this order, or "t"; 0 for anything else.
Along along_from(std::string_view text, std::string_view axes) {
  if (text == "t") return kAlongTime;
  Along along = 0;
  std::size_t next = 0;  // axis
  for (bool is_first = true; !text.empty(); is_first = false) {
    if (!is_first) {
      if (axes.size() < 3 || text.front() != ',') return 0;
      text.remove_prefix(std::min(text.find_first_not_of(" ", 1), text.size()));
    }
    const std::size_t axis = text.empty() ? std::string_view::npos : axes.find(text.front(), next);
    if (axis == std::string_view::npos) return 0;
    along |= along_axis(static_cast<int>(axis));
    next = axis + 1;
    text.remove_prefix(1);
  }
  return axes_of(along).size() < 3 ? along : 0;
}

/// Whether a stage has written what the field holds at the end of a step, in this one or one before.
bool is_made(const Stencil& stencil, int field) {
  for (std::size_t steps = 0; steps <= stencil.rotations.size(); ++steps) {
    if (is_written(stencil, field)) return true;
    const auto taken = std::find_if(stencil.rotations.begin(), stencil.rotations.end(),
                                    [&](const Rotation& rotation) { return rotation.to == field; });
    if (taken == stencil.rotations.end()) return false;
    field = taken->from;
  }
  return false;  // they take turns among themselves
}

}  // namespace

bool is_written(const Stencil& stencil, int field) {
  return std::any_of(stencil.stages.begin(), stencil.stages.end(), [&](const Stage& stage) {
    return std::any_of(stage.updates.begin(), stage.updates.end(),
                       [&](const Update& update) { return update.output == field; });
  });
}

DefinedStencil::DefinedStencil(const DefinitionText& text, std::string name, int rank, Form form)
    : text_(text), builder_(std::move(name), rank, form), scope_(builder_) {}

void DefinedStencil::require_room(std::string_view name, std::size_t offset) const {
  if (const std::string why = scope_.obstacle(name); !why.empty()) text_.reject(offset, why);
  if (static_cast<int>(builder_.stencil().fields.size()) >= kDefinitionLimits.fields) {
    text_.reject(offset, fmt::format("more than {} fields", kDefinitionLimits.fields));
  }
}

void DefinedStencil::declare_field(std::string_view name, std::size_t offset) {
  require_room(name, offset);
  scope_.declare(name, {Symbol::Kind::field, builder_.field(name)});
  declared_.emplace_back(name, offset);
}

void DefinedStencil::declare_field_at(std::string_view name, std::string_view place, std::size_t offset) {
  require_room(name, offset);
  constexpr std::string_view kInLayer = " in layer";
  const bool in_layer = place.ends_with(kInLayer);
  const std::string_view axes = kAxes.substr(0, at(builder_.stencil().rank));
  const Along along = along_from(in_layer ? place.substr(0, place.size() - kInLayer.size()) : place, axes);
  if (along == 0 || (in_layer && (along == kAlongTime || axes_of(along).size() != 1))) {
    text_.reject(offset, fmt::format("'{0}' varies along one axis, one of {1}, {2}with time, {0}(t), or exists in an "
                                     "axis's layers: {0}(x in layer); a field of the whole grid has its name alone",
                                     name, fmt::join(axes.begin(), axes.end(), ", "),
                                     axes.size() == 3 ? fmt::format("along two of them, {}(x, y), ", name) : ""));
  }
  const int field = in_layer ? builder_.field(name) : builder_.profile(name, along);
  if (in_layer) builder_.layer_field(field, axes_of(along).front());
  scope_.declare(name, {Symbol::Kind::field, field});
  declared_.emplace_back(name, offset);
}

void DefinedStencil::declare_coefficient(std::string_view name, double value, std::size_t offset) {
  if (const std::string why = scope_.obstacle(name); !why.empty()) text_.reject(offset, why);
  if (static_cast<int>(builder_.stencil().coefficients.size()) >= kDefinitionLimits.coefficients) {
    text_.reject(offset, fmt::format("more than {} coefficients", kDefinitionLimits.coefficients));
  }
  if (!(std::fabs(value) <= std::numeric_limits<float>::max())) {
    text_.reject(offset, fmt::format("the value of coefficient '{}' does not fit in f32", name));
  }
  scope_.declare(name, {Symbol::Kind::coefficient, builder_.coefficient(name, value)});
  declared_.emplace_back(name, offset);
}

void DefinedStencil::declare_coefficient(std::string_view name, const ExpressionText& value, std::size_t offset) {
  for (const Token& token : tokenize(value)) {
    if (token.kind != Token::Kind::name || !scope_.symbols().contains(token.text)) continue;
    text_.reject(token.offset, fmt::format("'{}' is no number; a coefficient's default is made of numbers alone, since "
                                           "callers may give every coefficient another value",
                                           token.text));
  }
  declare_coefficient(name, parse_number(value), offset);
}

void DefinedStencil::declare_expression(std::string_view name, const ExpressionText& expression, std::size_t offset) {
  if (const std::string why = scope_.obstacle(name); !why.empty()) text_.reject(offset, why);
  scope_.declare(name, {Symbol::Kind::expression, parse_expression(expression, scope_)});
  declared_.emplace_back(name, offset);
}

namespace {

/// The tokens of a rule that add, or multiply, what is not in brackets.
bool is_outer(const std::vector<Token>& tokens, std::size_t i, int depth, std::string_view signs) {
  const bool is_sign = tokens[i].text.size() == 1 && signs.find(tokens[i].text[0]) != std::string_view::npos;
  const bool is_binary = i > 0 && std::string_view("*/+-^(,").find(tokens[i - 1].text) == std::string_view::npos;
  return depth == 0 && is_sign && is_binary;
}

/// The first of them from a token on; the last token where there is none.
std::size_t next_outer(const std::vector<Token>& tokens, std::size_t from, std::string_view signs) {
  int depth = 0;
  for (std::size_t i = from; i + 1 < tokens.size(); ++i) {
    if (is_outer(tokens, i, depth, signs)) return i;
    depth += tokens[i].text == "(" ? 1 : tokens[i].text == ")" ? -1 : 0;
  }
  return tokens.size() - 1;
}

}  // namespace

void DefinedStencil::storage(std::string_view name, const ExpressionText& rule, std::size_t offset) {
  const int field = known_field(name, offset);
  const std::vector<Token> tokens = tokenize(rule);
  const auto part = [&](std::size_t first, std::size_t last) {
    const ExpressionText text{rule.text, tokens[first].offset, tokens[last].offset - tokens[first].offset};
    return parse_expression(text, scope_);
  };
  std::optional<ElementType> type;
  try {
    type = parse_storage_type(tokens.front().text);
  } catch (const Error& error) {
    text_.reject(tokens.front().offset, quotable(error.what(), 200));
  }
  const std::size_t end = tokens.size() - 1, sum = next_outer(tokens, 1, "+-");
  const bool scaled = sum > 1, divides = scaled && tokens[1].text == "/", subtracts = tokens[sum].text == "-";
  const bool is_chain = (divides && next_outer(tokens, 2, "*/") < sum) ||
                        (subtracts && next_outer(tokens, sum + 1, "+-") < end) || sum + 1 == end || (scaled && sum < 3);
  if ((scaled && !divides && tokens[1].text != "*") || is_chain) {
    text_.reject(rule.begin,
                 fmt::format("'{0}' is stored as a type, with a factor and a term where it has them: {1}, {1}*scale, "
                             "{1}/scale, {1}*scale + shift, longer ones in brackets",
                             quotable(name), tokens.front().text));
  }
  NodeId scale = scaled ? part(2, sum) : -1, shift = sum < end ? part(sum + 1, end) : -1;
  using enum Operation;
  if (divides) scale = scope_.expressions().apply(divide, scope_.expressions().number(1), scale);
  if (subtracts) shift = scope_.expressions().apply(negate, shift);
  for (const FieldStorage& other : builder_.stencil().storages) {
    if (other.field == field) text_.reject(offset, fmt::format("'{}' is stored in one type", quotable(name)));
  }
  try {
    builder_.storage(field, *type, scale, shift);
  } catch (const Error& error) {
    text_.reject(rule.begin, error.what());
  }
  if (scaled || sum < end) scaled_.push_back({field, sum < end, offset});
}

/// Words for what lies beyond an edge change the numbers that are stored.
void DefinedStencil::refuse_scaled_edges() const {
  using enum EdgeWord;
  for (const auto& [field, shifted, offset] : scaled_) {
    for (int axis = 0; axis < builder_.stencil().rank; ++axis) {
      for (const Side side : {Side::low, Side::high}) {
        const EdgeRule* rule = boundaries_.find(field, axis, side);
        if (rule == nullptr) continue;
        const bool is_answered = builder_.stencil().boundary[at(axis)] == Boundary::zero;
        const bool is_zero = rule->kind == zero || rule->kind == odd;
        if (DefinedBoundaries::terms_of(rule->kind) == 0 && (!shifted || !is_zero || is_answered)) continue;
        text_.reject(rule->offset,
                     fmt::format("'{}' is stored with a scale: beyond its edges it has what kernels answer with, hold, "
                                 "zero at both ends, clamp, periodic or reflect",
                                 builder_.stencil().fields[at(field)]));
      }
    }
  }
}

void DefinedStencil::begin_stage(std::size_t offset) {
  if (static_cast<int>(builder_.stencil().stages.size()) >= kDefinitionLimits.stages) {
    text_.reject(offset, fmt::format("more than {} stages", kDefinitionLimits.stages));
  }
  builder_.begin_stage();
}

void DefinedStencil::layers(std::string_view text, std::size_t offset) {
  try {
    builder_.layers(parse_layer_widths(text, builder_.stencil().rank));
  } catch (const Error& error) {
    text_.reject(offset, quotable(error.what(), 200));
  }
}

void DefinedStencil::update(std::string_view output, NodeId value, std::size_t offset) {
  const int field = known_field(output, offset);
  const int axis = layer_axis(builder_.stencil(), field);
  value = builder_.stored(field, value);
  builder_.update(field, axis < 0 ? value : scope_.expressions().within_layer(axis, 0, value));
  scope_.find(output)->used = true;
}

void DefinedStencil::stands_for(std::string_view output, NodeId value, std::size_t offset) {
  const int axis = layer_axis(builder_.stencil(), known_field(output, offset));
  scope_.forget(output);
  scope_.declare(output,
                 {Symbol::Kind::expression, axis < 0 ? value : scope_.expressions().within_layer(axis, 0, value)});
}

void DefinedStencil::measure(std::string_view name, const ExpressionText& rule, std::size_t offset) {
  const std::string_view text = text_.text().substr(rule.begin, rule.length);
  const std::size_t open = text.find('('), end = text.find_last_not_of(' ');
  const std::string_view word = text.substr(0, open);
  std::optional<Reduction> reduction;
  for (const Reduction each : {Reduction::sum, Reduction::minimum, Reduction::maximum}) {
    if (word == stencil_tune::name(each)) reduction = each;
  }
  if (!reduction || open == std::string_view::npos || text[end] != ')') {
    text_.reject(rule.begin, fmt::format("'{}' measures nothing: write sum(...), min(...) or max(...) of an expression",
                                         quotable(text)));
  }
  const NodeId value = parse_expression({rule.text, rule.begin + open + 1, end - open - 1}, scope_);
  if (!builder_.reads_field(value)) text_.reject(rule.begin, "what is measured is the same in all cells");
  declared_.clear();
  declare_field(name, offset);
  update(name, value, offset);
  reductions_.push_back(*reduction);
}

std::vector<std::string> DefinedStencil::used_names() const {
  std::vector<std::string> names;
  for (const auto& [name, symbol] : scope_.symbols()) {
    if (symbol.used && symbol.kind != Symbol::Kind::field) names.push_back(name);
  }
  return names;
}

void DefinedStencil::use(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (Symbol* symbol = scope_.find(name); symbol->kind != Symbol::Kind::field) symbol->used = true;
  }
}

void DefinedStencil::rotate(std::string_view from, std::string_view to, std::size_t offset) {
  const Rotation rotation{known_field(from, offset), known_field(to, offset)};
  if (rotation.from == rotation.to) text_.reject(offset, fmt::format("'{}' becomes itself", from));
  for (const Rotation& other : builder_.stencil().rotations) {
    if (other.from == rotation.from) text_.reject(offset, fmt::format("'{}' becomes two fields", from));
    if (other.to == rotation.to) text_.reject(offset, fmt::format("two fields become '{}'", to));
  }
  try {
    builder_.rotate(rotation.from, rotation.to);
  } catch (const Error& error) {
    text_.reject(offset, error.what());
  }
  rotated_.push_back(offset);
  scope_.find(from)->used = scope_.find(to)->used = true;  // a state that is kept for the caller alone
}

void DefinedStencil::hold(std::string_view field, std::string_view layers_of, std::size_t offset) {
  const Hold hold{known_field(field, offset), known_field(layers_of, offset)};
  const Stencil& stencil = builder_.stencil();
  const auto moves = [&](int number) {
    return std::any_of(stencil.rotations.begin(), stencil.rotations.end(),
                       [&](const Rotation& rotation) { return rotation.from == number; });
  };
  const auto taken = std::find_if(stencil.rotations.begin(), stencil.rotations.end(),
                                  [&](const Rotation& rotation) { return rotation.to == hold.layers_of; });
  const bool older = taken != stencil.rotations.end() && !is_written(stencil, taken->from);
  if (!is_written(stencil, hold.field) || moves(hold.field) || !fields_read(stencil).contains(hold.field)) {
    text_.reject(offset, fmt::format("'{}' is no field between stages: [hold] says of one that a stage writes, that a "
                                     "later one reads and that becomes no other field, whose held layers it has",
                                     field));
  }
  const int layers = layer_axis(stencil, hold.layers_of);  // outside of them its array is of no use
  const bool partial = layers >= 0 && layers != layer_axis(stencil, hold.field);
  if (hold.field == hold.layers_of || older || partial || is_profile(stencil, hold.layers_of)) {
    text_.reject(offset, fmt::format("'{}' has no held layers for '{}': name a field that steps change, but no older "
                                     "time level, or one that no step writes",
                                     layers_of, field));
  }
  builder_.hold(hold.field, hold.layers_of);
  scope_.find(layers_of)->used = true;
}

void DefinedStencil::rotate_by_convention() {
  std::vector<int> outputs;
  for (const Stage& stage : builder_.stencil().stages) {
    for (const Update& update : stage.updates) outputs.push_back(update.output);
  }
  bool rotated = false;
  for (const int output : outputs) {
    const std::string name = builder_.stencil().fields[static_cast<std::size_t>(output)];
    const std::optional<int> current = field_index(current_of(name));
    if (!current) continue;
    builder_.rotate(output, *current);
    rotated = true;
    const std::optional<int> previous = field_index(fmt::format("{}_prev", current_of(name)));
    if (previous) builder_.rotate(*current, *previous);
    refuse_older_level(name, current_of(name));
  }
  const std::set<int> read = fields_read(builder_.stencil());
  const bool one_of_each = outputs.size() == 1 && read.size() == 1 && !read.contains(outputs[0]);
  const auto alike = [&] {
    const Stencil& stencil = builder_.stencil();
    const auto stored = [&](int field) { return storage_of(stencil, field, kOfTheProblem); };
    return layer_axis(stencil, outputs[0]) == layer_axis(stencil, *read.begin()) &&
           stored(outputs[0]) == stored(*read.begin());
  };
  if (!rotated && one_of_each && alike()) builder_.rotate(outputs[0], *read.begin());
}

void DefinedStencil::refuse_older_level(std::string_view next, std::string_view current) {
  for (const std::string_view age : {"old", "older", "last", "before", "previous", "past", "m1", "nm1", "minus1"}) {
    const std::string name = fmt::format("{}_{}", current, age);
    const std::optional<int> field = field_index(name);
    if (!field || is_written(builder_.stencil(), *field)) continue;
    text_.reject(
        scope_.find(name)->offset,
        fmt::format("'{0}' has the name of an older time level of '{1}', but nothing becomes it after a step. If '{1}' "
                    "does, call it '{1}_prev', or write [rotate] with {2} = \"{1}\" and {1} = \"{0}\". If it never "
                    "changes, give it another name, or write [rotate] with {2} = \"{1}\" alone",
                    name, current, next));
  }
}

void DefinedStencil::refuse_turned_rotations() const {
  const Stencil& stencil = builder_.stencil();
  for (std::size_t i = 0; i < rotated_.size(); ++i) {
    const auto [from, to] = stencil.rotations[i];
    if (!is_written(stencil, to) || is_made(stencil, from)) continue;
    text_.reject(rotated_[i],
                 fmt::format("after a step the left field becomes the right one: no stage writes '{0}', and what one "
                             "writes to '{1}' would be lost; write {1} = \"{0}\"",
                             stencil.fields[at(from)], stencil.fields[at(to)]));
  }
}

Stencil DefinedStencil::build(std::size_t offset) && {
  refuse_turned_rotations();
  for (const auto& [name, where] : declared_) {
    if (!scope_.find(name)->used) text_.reject(where, fmt::format("'{}' is declared but never used", name));
  }
  const auto reject = [&](std::size_t where, const std::string& why) { text_.reject(where, why); };
  try {
    if (!boundaries_.empty()) boundaries_.apply(scope_.expressions(), reject);
  } catch (const ExpressionError& error) {
    text_.reject(offset, error.what());
  }
  refuse_scaled_edges();
  try {
    return std::move(builder_).build();
  } catch (const Error& error) {
    text_.reject(offset, error.what());
  }
}

void DefinedStencil::boundary(std::string_view field, std::string_view axis, std::optional<Side> side,
                              const ExpressionText& rule, std::size_t offset) {
  const std::string_view axes = kAxes.substr(0, at(builder_.stencil().rank));
  if (axis.size() != 1 || axes.find(axis) == std::string_view::npos) {
    text_.reject(offset, fmt::format("'{}' is no axis of a stencil of rank {}; the axes are {}", quotable(axis),
                                     builder_.stencil().rank, fmt::join(axes.begin(), axes.end(), ", ")));
  }
  const int number = field.empty() ? -1 : known_field(field, offset);
  if (number >= 0 && is_profile(builder_.stencil(), number)) {
    text_.reject(offset, fmt::format("'{}' varies {}, and is answered as other fields there", field,
                                     varies_along(profile_along(builder_.stencil(), number))));
  }
  const EdgeRule edge = edge_rule(rule);
  for (const Side each : {Side::low, Side::high}) {
    if (!side || *side == each) boundaries_.add(number, static_cast<int>(axes.find(axis)), each, edge);
  }
}

/// The comma that ends a term, outside all brackets; npos where there is none.
static std::size_t end_of_term(std::string_view text, std::size_t begin) {
  int depth = 0;
  for (std::size_t i = begin; i < text.size(); ++i) {
    if (text[i] == ',' && depth == 0) return i;
    depth += (text[i] == '(' || text[i] == '[') - (text[i] == ')' || text[i] == ']');
  }
  return std::string_view::npos;
}

EdgeRule DefinedStencil::edge_rule(const ExpressionText& rule) {
  const std::string_view text = text_.text().substr(rule.begin, rule.length);
  const std::size_t open = text.find('(');
  const std::string_view word = text.substr(0, open);
  const std::optional<EdgeRule::Kind> kind = DefinedBoundaries::kind_of(word);
  const std::size_t terms = kind ? DefinedBoundaries::terms_of(*kind) : 0;
  if (!kind || (terms > 0) != (open != std::string_view::npos && text.ends_with(")"))) {
    text_.reject(rule.begin, fmt::format("'{}' is no boundary; there are hold, zero, clamp, periodic, reflect, odd, "
                                         "dirichlet(v), neumann(q) and robin(a, b, g), of coefficients or numbers",
                                         quotable(text)));
  }
  EdgeRule edge{*kind, {-1, -1, -1}, rule.begin};
  std::size_t begin = open + 1;  // where the term begins in the rule's text
  for (std::size_t i = 0; i < terms; ++i) {
    const std::size_t end = i + 1 < terms ? end_of_term(text, begin) : text.size() - 1;
    if (end == std::string_view::npos) {
      text_.reject(rule.begin,
                   fmt::format("'{}' takes {} numbers: robin(a, b, g) is a u + b du/dn = g", quotable(word), terms));
    }
    edge.terms[i] = parse_expression({rule.text, rule.begin + begin, end - begin}, scope_);
    if (builder_.reads_field(edge.terms[i])) {
      text_.reject(rule.begin, fmt::format("what {} takes is the same in all cells: a coefficient or a number", word));
    }
    begin = end + 1;
  }
  return edge;
}

int DefinedStencil::known_field(std::string_view name, std::size_t offset) {
  if (const std::optional<int> index = field_index(name)) return *index;
  text_.reject(offset, fmt::format("'{}' is not one of the fields{}", quotable(name),
                                   did_you_mean(name, builder_.stencil().fields)));
}

std::optional<int> DefinedStencil::field_index(std::string_view name) {
  const auto& symbols = scope_.symbols();
  const auto found = symbols.find(name);
  if (found == symbols.end() || found->second.kind != Symbol::Kind::field) return std::nullopt;
  return found->second.index;
}

}  // namespace stencil_tune
