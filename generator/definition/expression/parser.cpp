#include "generator/definition/expression/parser.hpp"

#include "generator/definition/expression/functions.hpp"
#include "generator/definition/expression/grammar.hpp"
#include "generator/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

namespace stencil_tune {
namespace {

constexpr std::size_t kLeastToGuess = 4;  // letters of a function's name: det is no misspelt tan

struct Argument {
  NodeId value;
  std::size_t offset;
};

class Parser final : public ExpressionGrammar<NodeId> {
 public:
  Parser(const ExpressionText& expression, Scope& scope) : ExpressionGrammar(expression), scope_(scope) {}

 private:
  /// Builds a node; what the builder cannot make is said at the token.
  template <typename Make>
  NodeId build(std::size_t offset, Make make) {
    try {
      return make(scope_.expressions());
    } catch (const ExpressionError& error) {
      text().reject(offset, error.what());
    }
  }

  NodeId apply(const Token& token, Operation op, NodeId a, NodeId b = -1, NodeId c = -1) {
    return build(token.offset, [&](ExpressionBuilder& e) { return e.apply(op, a, b, c); });
  }

  NodeId constant(const Token& token, double value) {
    return build(token.offset, [&](ExpressionBuilder& e) { return e.number(value); });
  }

  const Node& node(NodeId id) { return scope_.builder().stencil().nodes[static_cast<std::size_t>(id)]; }

  /// The value of a literal or constant expression that is a whole number.
  std::optional<int> whole_number(NodeId id) {
    const std::optional<double> value = scope_.expressions().constant(id);
    if (!value || *value != std::floor(*value) || std::fabs(*value) > 1e6) return std::nullopt;
    return static_cast<int>(*value);
  }

  // ---- operators

  NodeId number(const Token& token) override { return constant(token, token.value); }

  NodeId unary(const Token& sign, NodeId operand) override {
    return sign.text == "-" ? apply(sign, Operation::negate, operand) : negated(sign, operand);
  }

  NodeId binary(const Token& symbol, NodeId left, NodeId right) override {
    const std::string_view text = symbol.text;
    if (text == "||") return apply(symbol, Operation::select, left, constant(symbol, 1), truth(symbol, right));
    if (text == "&&") return apply(symbol, Operation::select, left, truth(symbol, right), constant(symbol, 0));
    if (text == "<") return apply(symbol, Operation::less, left, right);
    if (text == "<=") return apply(symbol, Operation::less_equal, left, right);
    if (text == ">") return apply(symbol, Operation::less, right, left);
    if (text == ">=") return apply(symbol, Operation::less_equal, right, left);
    if (text == "==") return apply(symbol, Operation::equal, left, right);
    if (text == "!=") return negated(symbol, apply(symbol, Operation::equal, left, right));
    if (text == "+") return apply(symbol, Operation::add, left, right);
    if (text == "-") return apply(symbol, Operation::subtract, left, right);
    if (text == "*") return apply(symbol, Operation::multiply, left, right);
    if (text == "/") return apply(symbol, Operation::divide, left, right);
    if (text == "%") return apply(symbol, Operation::modulo, left, right);
    reject(symbol, fmt::format("'{}' has no meaning in the expression of a stencil", text));
  }

  NodeId choose(const Token& mark, NodeId condition, NodeId yes, NodeId no) override {
    return apply(mark, Operation::select, condition, yes, no);
  }

  std::optional<bool> decided(NodeId condition) override {
    const std::optional<double> value = scope_.expressions().constant(condition);
    return value ? std::optional(*value != 0) : std::nullopt;
  }

  /// 1 where the value is not 0, else 0.
  NodeId truth(const Token& token, NodeId value) {
    const Operation op = node(value).op;
    if (op == Operation::less || op == Operation::less_equal || op == Operation::equal) return value;
    return apply(token, Operation::select, value, constant(token, 1), constant(token, 0));
  }

  NodeId negated(const Token& token, NodeId condition) {
    return apply(token, Operation::select, condition, constant(token, 0), constant(token, 1));
  }

  NodeId power(const Token& caret, NodeId base, NodeId exponent) override {
    const std::optional<int> whole = whole_number(exponent);
    if (!whole || std::abs(*whole) > kDefinitionLimits.exponent) {
      reject(caret, fmt::format("an exponent is a whole number from -{0} to {0}; for a root write sqrt(...), for other "
                                "powers pow(..., ...)",
                                kDefinitionLimits.exponent));
    }
    return build(caret.offset, [&](ExpressionBuilder& e) { return e.power(base, *whole); });
  }

  // ---- names

  NodeId named(const Token& token) override {
    if (is_axis_name(token.text)) return coordinate(token);
    Symbol* symbol = scope_.find(token.text);
    if (symbol == nullptr && token.text == "t") return step(token);
    if (symbol == nullptr && token.text == "pi") return constant(token, std::numbers::pi);
    if (symbol == nullptr && is_edge_name(token.text)) return edge(token);
    if (symbol == nullptr) reject_name(token);
    if (!symbol->used) symbol->offset = token.offset;
    symbol->used = true;
    const Symbol found = *symbol;
    if (found.kind == Symbol::Kind::coefficient) {
      if (is("[")) reject(token, fmt::format("'{}' is a coefficient: it has one value, not one a cell", token.text));
      return scope_.builder().coefficient_value(found.index);
    }
    const bool is_field = found.kind == Symbol::Kind::field;
    const Along along = is_field ? profile_along(scope_.builder().stencil(), found.index) : 0;
    if (along == kAlongTime && is("[")) {
      reject(token, fmt::format("'{0}' varies with time alone, and a step reads its own entry; write {0}", token.text));
    }
    const Offset offset = is("[") ? index(token) : Offset{0, 0, 0};
    for (int axis = 0; along != 0 && axis < kMaxRank; ++axis) {
      if ((along & along_axis(axis)) != 0 || offset[static_cast<std::size_t>(axis)] == 0) continue;
      reject(token, fmt::format("'{0}' varies {1}; write {0}[{2}+1]", token.text, varies_along(along),
                                along_text(along).front()));
    }
    return build(token.offset, [&](ExpressionBuilder& e) {
      return is_field ? e.read(found.index, offset) : e.shift(found.index, offset);
    });
  }

  static bool is_axis_name(std::string_view name) { return name.size() == 1 && kAxes.find(name) != kAxes.npos; }

  /// x: the cell's coordinate; x[x+1]: a neighbour's.
  NodeId coordinate(const Token& token) {
    const std::size_t axis = axis_of(token);
    const Offset offset = is("[") ? index(token) : Offset{0, 0, 0};
    return build(token.offset,
                 [&](ExpressionBuilder& e) { return e.coordinate(static_cast<int>(axis), offset[axis]); });
  }

  /// x_before, y_after, z_outside, x_in_layer ...
  static bool is_edge_name(std::string_view name) {
    return name.size() > 2 && is_axis_name(name.substr(0, 1)) &&
           (name.substr(1) == "_before" || name.substr(1) == "_after" || name.substr(1) == "_outside" ||
            name.substr(1) == "_in_layer");
  }

  /// How far the cell lies beyond an edge, or a neighbour: x_before[x-1]. Whether it lies in a layer: x_in_layer.
  NodeId edge(const Token& token) {
    const std::size_t axis = axis_of(Token{token.kind, token.text.substr(0, 1), token.value, token.offset});
    const Offset offset = is("[") ? index(token) : Offset{0, 0, 0};
    const Operation op = token.text.ends_with("_before")    ? Operation::before
                         : token.text.ends_with("_after")   ? Operation::after
                         : token.text.ends_with("_outside") ? Operation::outside
                                                            : Operation::in_layer;
    return build(token.offset,
                 [&](ExpressionBuilder& e) { return e.beyond(op, static_cast<int>(axis), offset[axis]); });
  }

  /// t, where nothing of the name is declared.
  NodeId step(const Token& token) {
    if (is("[")) reject(token, "'t' is the number of the step here: it is the same in all cells");
    return build(token.offset, [&](ExpressionBuilder& e) { return e.step(); });
  }

  [[noreturn]] void reject_name(const Token& token) {
    if (find_function(token.text)) reject(token, fmt::format("'{0}' is a function; write {0}(...)", token.text));
    if (const std::string why = scope_.obstacle(token.text); !why.empty()) reject(token, why);
    if (scope_.is_announced(token.text)) {
      reject(token, fmt::format("'{}' is declared further down: a line of [let] uses those above it", token.text));
    }
    std::vector<std::string> names = function_names();
    for (const auto& [name, symbol] : scope_.symbols()) names.push_back(name);
    reject(token, fmt::format("'{}' is no field, coefficient or function here{}", quotable(token.text),
                              did_you_mean(token.text, names)));
  }

  /// Whether the name stands for a number: that of a sum, or a let.
  bool is_number_name(const Token& token) {
    const auto found = scope_.symbols().find(token.text);
    return token.kind == Token::Kind::name && found != scope_.symbols().end() &&
           found->second.kind == Symbol::Kind::expression && scope_.expressions().constant(found->second.index);
  }

  /// [x-1, y, z], [z+1] (axes left out stay at the centre) or [-1, 0, 0].
  Offset index(const Token& name) {
    const Token open = take();
    const int rank = scope_.expressions().rank();
    Offset offset{0, 0, 0};
    std::array<bool, kMaxRank> given{};
    bool named = false;
    int count = 0;
    do {
      const Token token = peek();
      auto axis = static_cast<std::size_t>(count);
      const bool names_axis = token.kind == Token::Kind::name && !is_number_name(token);
      if (names_axis) {
        named = true;
        axis = axis_of(take());
      }
      if (count >= rank || given[axis]) {
        reject(token, fmt::format("'{}' has {} axes; each is given once", name.text, rank));
      }
      if (!names_axis || is("+") || is("-")) offset[axis] = distance();
      given[axis] = true;
      ++count;
    } while (accept(","));
    expect("]", "to close the index");
    if (!named && count != rank) reject(open, fmt::format("{} offsets for a stencil of rank {}", count, rank));
    return offset;
  }

  std::size_t axis_of(const Token& token) const {
    const std::string_view axes = kAxes.substr(0, static_cast<std::size_t>(scope_.expressions().rank()));
    if (token.text.size() == 1 && axes.find(token.text[0]) != std::string_view::npos) return axes.find(token.text[0]);
    reject(token, fmt::format("'{}' is no axis of a stencil of rank {}; the axes are {}", quotable(token.text),
                              scope_.expressions().rank(), fmt::join(axes.begin(), axes.end(), ", ")));
  }

  /// A whole number of cells, signed or made of others.
  int distance() {
    const bool negative = is("-");
    const std::size_t signs = negative || is("+") ? 1 : 0;
    const Token token = peek(signs);
    const std::string_view next = peek(signs + 1).text;
    std::optional<double> cells;
    if (token.kind == Token::Kind::number && (next == "," || next == "]")) {  // the usual one, without any node
      cells = negative ? -token.value : token.value;
      go_to(position() + signs + 1);
    } else {
      cells = scope_.expressions().constant(sum());
    }
    if (!cells || *cells != std::floor(*cells)) {
      reject(token, fmt::format("a whole number of cells expected, found {}", shown(token)));
    }
    if (std::fabs(*cells) > kDefinitionLimits.offset) {
      reject(token, fmt::format("{} cells is the furthest that can be read", kDefinitionLimits.offset));
    }
    return static_cast<int>(*cells);
  }

  // ---- calls

  NodeId call(const Token& name) override {
    const Function* function = find_function(name.text);
    if (function == nullptr || scope_.symbols().contains(name.text)) reject_call(name);
    const Level level(*this);
    take();  // (
    if (function->call == Call::sum) {
      const NodeId total = sum_over(name);
      expect(")", "to close sum(");
      return total;
    }
    const bool is_operator = function->call == Call::laplacian || function->call == Call::difference;
    std::vector<Argument> arguments;
    int accuracy = 2;
    do {
      if (is_operator && arguments.size() == 1) {
        accuracy = this->accuracy();
        break;
      }
      if (arguments.size() == function->most_arguments) {
        reject(peek(), fmt::format("'{}' takes {} arguments", function->name, function->most_arguments));
      }
      const std::size_t offset = peek().offset;
      arguments.push_back({expression(), offset});
    } while (accept(","));
    expect(")", fmt::format("to close {}(", function->name));
    if (arguments.size() < function->least_arguments) {
      reject(name, fmt::format("'{}' takes {} arguments, found {}", function->name, function->least_arguments,
                               arguments.size()));
    }
    return evaluate(name, *function, arguments, accuracy);
  }

  [[noreturn]] void reject_call(const Token& name) {
    if (scope_.symbols().contains(name.text)) {
      reject(name, fmt::format("'{0}' is no function; write {0}[...] to read a neighbour, {0}*(...) to multiply",
                               quotable(name.text)));
    }
    if (const std::string_view advice = advice_on(name.text); !advice.empty()) {
      reject(name, fmt::format("unknown function '{}'; {}", name.text, advice));
    }
    std::string hint = did_you_mean(name.text, function_names());
    if (hint.empty() || name.text.size() < kLeastToGuess) {
      hint =
          "; functions are min, max, abs, sqrt, exp, log, pow, sin, cos, tan, tanh, floor, round, mod, select, table, "
          "sum, random, "
          "laplacian and differences such as d_x, d_xx, d_x_forward";
    }
    reject(name, fmt::format("unknown function '{}'{}", quotable(name.text), hint));
  }

  /// "accuracy=8" or "8".
  int accuracy() {
    if (peek().kind == Token::Kind::name) {
      const Token name = take();
      if (name.text != "accuracy") {
        reject(name, fmt::format("'{}' is no option of a difference operator; write accuracy=4", quotable(name.text)));
      }
      expect("=", "after accuracy");
    }
    const Token token = take();
    const double value = token.value;
    if (token.kind != Token::Kind::number || value < 2 || value > kDefinitionLimits.accuracy ||
        std::fmod(value, 2) != 0) {
      reject(token, fmt::format("the accuracy order is an even number from 2 to {}", kDefinitionLimits.accuracy));
    }
    return static_cast<int>(value);
  }

  NodeId evaluate(const Token& name, const Function& function, const std::vector<Argument>& arguments, int accuracy) {
    const NodeId first = arguments[0].value;
    switch (function.call) {
      case Call::fold:
        return fold(name, function.operation, arguments);
      case Call::operation:
        return apply(name, function.operation, first, arguments.size() > 1 ? arguments[1].value : -1,
                     arguments.size() > 2 ? arguments[2].value : -1);
      case Call::random:
        return random(name, arguments);
      case Call::table:
        return entry(name, first, {arguments.begin() + 1, arguments.end()}, 0);
      case Call::laplacian:
      case Call::difference:
      case Call::sum:
        break;
    }
    if (!scope_.builder().reads_field(first)) {
      text().reject(arguments[0].offset, fmt::format("{}() of a value that reads no field is 0", function.name));
    }
    if (function.call == Call::laplacian) {
      return build(name.offset, [&](ExpressionBuilder& e) { return laplacian(e, first, accuracy); });
    }
    Difference difference = function.difference;
    difference.accuracy = accuracy;
    if (static_cast<int>(difference.axis) >= scope_.expressions().rank()) {
      reject(name,
             fmt::format("a stencil of rank {} has no {} axis", scope_.expressions().rank(), kAxes[difference.axis]));
    }
    return build(name.offset, [&](ExpressionBuilder& e) { return differentiate(e, first, difference); });
  }

  bool begins_range() const {
    return peek().kind == Token::Kind::name && peek(1).kind == Token::Kind::name && peek(1).text == "in";
  }

  int end_of_range(const Token& variable) {
    const Token token = peek();
    const std::optional<int> value = whole_number(sum());
    if (!value) reject(token, fmt::format("'{}' counts whole numbers that are known here", quotable(variable.text)));
    return *value;
  }

  /// "k in -2..2, " and what is added up, or another range: it is read again for each number.
  NodeId sum_over(const Token& name) {
    const Level level(*this);
    if (!begins_range()) reject(peek(), "a sum is written sum(k in -2..2, ...), with one range or several");
    const Token variable = take();
    if (const std::string why = scope_.obstacle(variable.text); !why.empty()) reject(variable, why);
    take();  // in
    const int first = end_of_range(variable);
    expect("..", "between the first number and the last");
    const int last = end_of_range(variable);
    if (first > last) reject(variable, fmt::format("no number lies in {}..{}", first, last));
    expect(",", "before what is added up");
    const std::size_t body = position();
    NodeId total = -1;
    for (int value = first; value <= last; ++value) {
      go_to(body);
      scope_.declare(variable.text, {Symbol::Kind::expression, constant(variable, value)});
      const NodeId term = begins_range() ? sum_over(name) : expression();
      scope_.forget(variable.text);
      total = total < 0 ? term : apply(name, Operation::add, total, term);
      read_again_ += position() - body;
      if (read_again_ > 10 * kDefinitionLimits.nodes) reject(name, "too many terms to be written out");
    }
    return total;
  }

  /// That of the entries, the first of which has number `lowest`, whose number the whole number below the id is: the
  /// first for smaller ones, the last for larger ones. Halved, so that ids are compared few times one after the other.
  NodeId entry(const Token& name, NodeId id, const std::vector<Argument>& entries, int lowest) {
    if (entries.size() == 1) return entries.front().value;
    const auto half = static_cast<std::ptrdiff_t>(entries.size() / 2);
    const int first = lowest + static_cast<int>(half);
    const NodeId below = entry(name, id, {entries.begin(), entries.begin() + half}, lowest);
    const NodeId above = entry(name, id, {entries.begin() + half, entries.end()}, first);
    return apply(name, Operation::select, apply(name, Operation::less, id, constant(name, first)), below, above);
  }

  /// random(seed) or random(seed, number of the call).
  NodeId random(const Token& name, const std::vector<Argument>& arguments) {
    const auto below = [&](double end, const Argument& argument, std::string_view what) {
      const std::optional<double> value = scope_.expressions().constant(argument.value);
      if (value && *value >= 0 && *value < end && *value == std::floor(*value)) return *value;
      text().reject(argument.offset, fmt::format("{} a whole number from 0 to {:.0f}", what, end - 1));
    };
    const Node seed = node(arguments[0].value);
    const bool given_at_launch = seed.op == Operation::coefficient;
    const double call = arguments.size() > 1 ? below(0x1p21, arguments[1], "the number of a call is")
                                             : static_cast<double>(scope_.next_random_call());
    const double key =
        call * 0x1p32 + (given_at_launch ? 0 : below(0x1p32, arguments[0], "a seed is a coefficient, or"));
    return build(name.offset, [&](ExpressionBuilder& e) {
      return e.random(key, given_at_launch ? seed.index : -1, {0, 0, 0});
    });
  }

  NodeId fold(const Token& name, Operation op, const std::vector<Argument>& arguments) {
    NodeId result = arguments[0].value;
    for (std::size_t i = 1; i < arguments.size(); ++i) result = apply(name, op, result, arguments[i].value);
    return result;
  }

  Scope& scope_;
  std::size_t read_again_ = 0;  ///< tokens, for the terms of sums
};

}  // namespace

NodeId parse_expression(const ExpressionText& expression, Scope& scope) { return Parser(expression, scope).run(); }

double parse_number(const ExpressionText& expression) {
  StencilBuilder builder("number", kMaxRank);
  Scope nothing(builder);
  const std::optional<double> value = nothing.expressions().constant(parse_expression(expression, nothing));
  if (value) return *value;
  expression.text->reject(expression.begin, "a number is the same in all cells and at all steps");
}

}  // namespace stencil_tune
