#include "generator/definition/parser.hpp"

#include "generator/definition/functions.hpp"
#include "generator/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace stencil_tune {
namespace {

constexpr std::size_t kLeastToGuess = 4;  // letters of a function's name: det is no misspelt tan

struct Argument {
  NodeId value;
  std::size_t offset;
};

class Parser {
 public:
  Parser(const ExpressionText& expression, Scope& scope)
      : text_(*expression.text), tokens_(tokenize(expression)), scope_(scope) {}

  NodeId run() {
    if (peek().kind == Token::Kind::end) reject(peek(), "an expression is missing");
    const NodeId root = alternatives();
    if (peek().kind != Token::Kind::end) reject_leftover();
    return root;
  }

 private:
  /// Counts one level of nesting while it lives.
  class Level {
   public:
    explicit Level(Parser& parser) : parser_(parser) {
      if (++parser_.depth_ > kDefinitionLimits.nesting) {
        parser_.reject(parser_.peek(), fmt::format("nested more than {} deep", kDefinitionLimits.nesting));
      }
    }
    ~Level() { --parser_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Parser& parser_;
  };

  // ---- tokens

  const Token& peek() const { return tokens_[next_]; }
  bool is(std::string_view symbol) const { return peek().kind == Token::Kind::symbol && peek().text == symbol; }

  Token take() {
    const Token token = peek();
    if (token.kind != Token::Kind::end) ++next_;
    return token;
  }

  bool accept(std::string_view symbol) {
    if (!is(symbol)) return false;
    ++next_;
    return true;
  }

  void expect(std::string_view symbol, std::string_view why) {
    if (!accept(symbol)) reject(peek(), fmt::format("'{}' expected {}, found {}", symbol, why, shown(peek())));
  }

  static std::string shown(const Token& token) {
    return token.kind == Token::Kind::end ? "the end of the expression" : fmt::format("'{}'", quotable(token.text));
  }

  [[noreturn]] void reject(const Token& token, std::string_view message) const { text_.reject(token.offset, message); }

  [[noreturn]] void reject_leftover() const {
    const Token& token = peek();
    if (is(")") || is("]")) reject(token, fmt::format("'{}' closes nothing", token.text));
    if (is("=")) reject(token, "'=' within an expression; write == to compare");
    if (is("**")) reject(token, "'**' is written ^ here");
    if (is("<") || is("<=") || is(">") || is(">=") || is("==") || is("!=")) {
      reject(token, "comparisons do not chain; write a < b && b < c");
    }
    reject(token, fmt::format("an operator is missing before {}", shown(token)));
  }

  /// Builds a node; what the builder cannot make is said at the token.
  template <typename Make>
  NodeId build(std::size_t offset, Make make) {
    try {
      return make(scope_.expressions());
    } catch (const ExpressionError& error) {
      text_.reject(offset, error.what());
    }
  }

  NodeId apply(const Token& token, Operation op, NodeId a, NodeId b = -1, NodeId c = -1) {
    return build(token.offset, [&](ExpressionBuilder& e) { return e.apply(op, a, b, c); });
  }

  NodeId number(const Token& token, double value) {
    return build(token.offset, [&](ExpressionBuilder& e) { return e.number(value); });
  }

  const Node& node(NodeId id) { return scope_.builder().stencil().nodes[static_cast<std::size_t>(id)]; }

  /// The value of a literal or constant expression that is a whole number.
  std::optional<int> whole_number(NodeId id) {
    const std::optional<double> value = scope_.expressions().constant(id);
    if (!value || *value != std::floor(*value) || std::fabs(*value) > 1e6) return std::nullopt;
    return static_cast<int>(*value);
  }

  // ---- precedence, loosest first

  NodeId alternatives() {
    NodeId left = conditions();
    while (is("||")) {
      const Token token = take();
      left = apply(token, Operation::select, left, number(token, 1), truth(token, conditions()));
    }
    return left;
  }

  NodeId conditions() {
    NodeId left = comparison();
    while (is("&&")) {
      const Token token = take();
      left = apply(token, Operation::select, left, truth(token, comparison()), number(token, 0));
    }
    return left;
  }

  /// 1 where the value is not 0, else 0.
  NodeId truth(const Token& token, NodeId value) {
    const Operation op = node(value).op;
    if (op == Operation::less || op == Operation::less_equal || op == Operation::equal) return value;
    return apply(token, Operation::select, value, number(token, 1), number(token, 0));
  }

  NodeId comparison() {
    const NodeId left = sum();
    const Token token = peek();
    if (accept("<")) return apply(token, Operation::less, left, sum());
    if (accept("<=")) return apply(token, Operation::less_equal, left, sum());
    if (accept(">")) return apply(token, Operation::less, sum(), left);
    if (accept(">=")) return apply(token, Operation::less_equal, sum(), left);
    if (accept("==")) return apply(token, Operation::equal, left, sum());
    if (accept("!=")) return negated(token, apply(token, Operation::equal, left, sum()));
    return left;
  }

  NodeId negated(const Token& token, NodeId condition) {
    return apply(token, Operation::select, condition, number(token, 0), number(token, 1));
  }

  NodeId sum() {
    NodeId left = product();
    while (is("+") || is("-")) {
      const Token token = take();
      left = apply(token, token.text == "+" ? Operation::add : Operation::subtract, left, product());
    }
    return left;
  }

  NodeId product() {
    NodeId left = signed_power();
    while (is("*") || is("/")) {
      const Token token = take();
      left = apply(token, token.text == "*" ? Operation::multiply : Operation::divide, left, signed_power());
    }
    return left;
  }

  /// Signs bind looser than ^, as in mathematics: -u^2 is -(u^2).
  NodeId signed_power() {
    const Level level(*this);
    const Token token = peek();
    if (accept("-")) return apply(token, Operation::negate, signed_power());
    if (accept("+")) return signed_power();
    if (accept("!")) return negated(token, signed_power());
    const NodeId base = primary();
    if (!is("^")) return base;
    const Token caret = take();
    const std::optional<int> exponent = whole_number(signed_power());
    if (!exponent || std::abs(*exponent) > kDefinitionLimits.exponent) {
      reject(caret, fmt::format("an exponent is a whole number from -{0} to {0}; for a root write sqrt(...), for other "
                                "powers pow(..., ...)",
                                kDefinitionLimits.exponent));
    }
    return build(caret.offset, [&](ExpressionBuilder& e) { return e.power(base, *exponent); });
  }

  NodeId primary() {
    const Token token = take();
    if (token.kind == Token::Kind::number) return number(token, token.value);
    if (token.kind == Token::Kind::name) return is("(") ? call(token) : named(token);
    if (token.kind == Token::Kind::symbol && token.text == "(") {
      const NodeId inner = alternatives();
      expect(")", "to close the parenthesis");
      return inner;
    }
    reject(token, fmt::format("a number, a name or a parenthesis expected, found {}", shown(token)));
  }

  // ---- names

  NodeId named(const Token& token) {
    if (is_axis_name(token.text)) return coordinate(token);
    Symbol* symbol = scope_.find(token.text);
    if (symbol == nullptr && token.text == "t") return step(token);
    if (symbol == nullptr && is_edge_name(token.text)) return edge(token);
    if (symbol == nullptr) reject_name(token);
    symbol->used = true;
    const Symbol found = *symbol;
    if (found.kind == Symbol::Kind::coefficient) {
      if (is("[")) reject(token, fmt::format("'{}' is a coefficient: it has one value, not one a cell", token.text));
      return scope_.builder().coefficient_value(found.index);
    }
    const Offset offset = is("[") ? index(token) : Offset{0, 0, 0};
    const int along = found.kind == Symbol::Kind::field ? profile_axis(scope_.builder().stencil(), found.index) : -1;
    for (int axis = 0; along >= 0 && axis < kMaxRank; ++axis) {
      if (axis == along || offset[static_cast<std::size_t>(axis)] == 0) continue;
      reject(token,
             fmt::format("'{}' varies along {} alone; write {}[{}+1]", token.text,
                         kAxes[static_cast<std::size_t>(along)], token.text, kAxes[static_cast<std::size_t>(along)]));
    }
    return build(token.offset, [&](ExpressionBuilder& e) {
      return found.kind == Symbol::Kind::field ? e.read(found.index, offset) : e.shift(found.index, offset);
    });
  }

  static bool is_axis_name(std::string_view name) { return name.size() == 1 && kAxes.find(name) != kAxes.npos; }

  /// x, or x[x+1]: of a neighbour.
  NodeId coordinate(const Token& token) {
    const std::size_t axis = axis_of(token);
    const Offset offset = is("[") ? index(token) : Offset{0, 0, 0};
    return build(token.offset,
                 [&](ExpressionBuilder& e) { return e.coordinate(static_cast<int>(axis), offset[axis]); });
  }

  /// x_before, y_after ...
  static bool is_edge_name(std::string_view name) {
    return name.size() > 2 && is_axis_name(name.substr(0, 1)) &&
           (name.substr(1) == "_before" || name.substr(1) == "_after");
  }

  /// How far the cell lies beyond an edge, or a neighbour: x_before[x-1].
  NodeId edge(const Token& token) {
    const std::size_t axis = axis_of(Token{token.kind, token.text.substr(0, 1), token.value, token.offset});
    const Offset offset = is("[") ? index(token) : Offset{0, 0, 0};
    const Operation op = token.text.ends_with("_before") ? Operation::before : Operation::after;
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
    std::vector<std::string> names = function_names();
    for (const auto& [name, symbol] : scope_.symbols()) names.push_back(name);
    reject(token, fmt::format("'{}' is no field, coefficient or function here{}", quotable(token.text),
                              did_you_mean(token.text, names)));
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
      if (token.kind == Token::Kind::name) {
        named = true;
        axis = axis_of(take());
      }
      if (count >= rank || given[axis]) {
        reject(token, fmt::format("'{}' has {} axes; each is given once", name.text, rank));
      }
      if (token.kind != Token::Kind::name || is("+") || is("-")) offset[axis] = distance();
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

  /// A signed whole number.
  int distance() {
    const bool negative = is("-");
    if (negative || is("+")) take();
    const Token token = take();
    const bool whole = token.kind == Token::Kind::number && token.value == std::floor(token.value);
    if (!whole) reject(token, fmt::format("a whole number of cells expected, found {}", shown(token)));
    if (token.value > kDefinitionLimits.offset) {
      reject(token, fmt::format("{} cells is the furthest that can be read", kDefinitionLimits.offset));
    }
    return negative ? -static_cast<int>(token.value) : static_cast<int>(token.value);
  }

  // ---- calls

  NodeId call(const Token& name) {
    const Function* function = find_function(name.text);
    if (function == nullptr || scope_.symbols().contains(name.text)) reject_call(name);
    const Level level(*this);
    take();  // (
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
      arguments.push_back({alternatives(), offset});
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
          "; functions are min, max, abs, sqrt, exp, log, pow, sin, cos, tan, tanh, select, laplacian and differences "
          "such as d_x, d_xx, d_x_forward";
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
      case Call::laplacian:
      case Call::difference:
        break;
    }
    if (!scope_.builder().reads_field(first)) {
      text_.reject(arguments[0].offset, fmt::format("{}() of a value that reads no field is 0", function.name));
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

  NodeId fold(const Token& name, Operation op, const std::vector<Argument>& arguments) {
    NodeId result = arguments[0].value;
    for (std::size_t i = 1; i < arguments.size(); ++i) result = apply(name, op, result, arguments[i].value);
    return result;
  }

  const DefinitionText& text_;
  std::vector<Token> tokens_;
  Scope& scope_;
  std::size_t next_ = 0;
  int depth_ = 0;
};

}  // namespace

NodeId parse_expression(const ExpressionText& expression, Scope& scope) { return Parser(expression, scope).run(); }

}  // namespace stencil_tune
