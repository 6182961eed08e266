#include "generator/user_kernel/whole_expression.hpp"

#include "generator/definition/expression/grammar.hpp"
#include "generator/suggest.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <set>
#include <utility>

namespace stencil_tune {
namespace {

constexpr std::array<std::string_view, 4> kFunctions{"min", "max", "ceil_div", "select"};
constexpr const char* kTooLarge = "it does not fit 64 bits";

using Limits64 = std::numeric_limits<std::int64_t>;

}  // namespace

std::span<const std::string_view> whole_functions() { return kFunctions; }

/// Numbers of nodes are the values of its grammar.
class WholeParser final : public ExpressionGrammar<int> {
 public:
  WholeParser(const ExpressionText& text, std::span<const std::string> known, WholeExpression& expression)
      : ExpressionGrammar(text), known_(known), nodes_(expression.nodes_) {}

 private:
  using Operation = WholeExpression::Operation;

  int add(WholeExpression::Node node) {
    nodes_.push_back(std::move(node));
    return static_cast<int>(nodes_.size()) - 1;
  }
  int apply(Operation operation, int a, int b = -1, int c = -1) {
    return add({.operation = operation, .a = a, .b = b, .c = c});
  }

  int number(const Token& token) override {
    std::int64_t value = 0;
    const char* const end = token.text.data() + token.text.size();
    const auto [stop, error] = std::from_chars(token.text.data(), end, value);
    if (error != std::errc()) reject(token, "the number does not fit 64 bits");
    if (stop != end) reject(token, fmt::format("'{}' is no whole number", quotable(token.text)));
    return add({.value = value});
  }

  int named(const Token& name) override {
    if (std::find(known_.begin(), known_.end(), name.text) != known_.end()) {
      return add({.operation = Operation::name, .name = std::string(name.text)});
    }
    reject(name, fmt::format("'{}' is no size or parameter here{}", quotable(name.text),
                             did_you_mean(name.text, {known_.begin(), known_.end()})));
  }

  int call(const Token& name) override {
    const Level level(*this);
    take();  // (
    std::vector<int> arguments;
    do {
      arguments.push_back(expression());
    } while (accept(","));
    expect(")", fmt::format("to close {}(", quotable(name.text)));
    if (name.text == "min") return fold(name, Operation::minimum, arguments);
    if (name.text == "max") return fold(name, Operation::maximum, arguments);
    if (name.text == "ceil_div") {
      require_arguments(name, arguments, 2);
      return apply(Operation::ceil_div, arguments[0], arguments[1]);
    }
    if (name.text == "select") {
      require_arguments(name, arguments, 3);
      return apply(Operation::select, arguments[0], arguments[1], arguments[2]);
    }
    reject(name,
           fmt::format("unknown function '{}'{}; functions are {}", quotable(name.text),
                       did_you_mean(name.text, {kFunctions.begin(), kFunctions.end()}), fmt::join(kFunctions, ", ")));
  }

  void require_arguments(const Token& name, const std::vector<int>& arguments, std::size_t count) const {
    if (arguments.size() == count) return;
    reject(name, fmt::format("'{}' takes {} arguments, found {}", name.text, count, arguments.size()));
  }

  int fold(const Token& name, Operation operation, const std::vector<int>& arguments) {
    if (arguments.size() < 2) reject(name, fmt::format("'{}' takes 2 arguments or more", name.text));
    int result = arguments[0];
    for (std::size_t i = 1; i < arguments.size(); ++i) result = apply(operation, result, arguments[i]);
    return result;
  }

  int unary(const Token& sign, int operand) override {
    return apply(sign.text == "-" ? Operation::negate : Operation::invert, operand);
  }

  int binary(const Token& symbol, int left, int right) override {
    const std::string_view text = symbol.text;
    if (text == "||") return apply(Operation::either, left, right);
    if (text == "&&") return apply(Operation::both, left, right);
    if (text == "<") return apply(Operation::less, left, right);
    if (text == "<=") return apply(Operation::less_equal, left, right);
    if (text == ">") return apply(Operation::less, right, left);
    if (text == ">=") return apply(Operation::less_equal, right, left);
    if (text == "==") return apply(Operation::equal, left, right);
    if (text == "!=") return apply(Operation::invert, apply(Operation::equal, left, right));
    if (text == "+") return apply(Operation::add, left, right);
    if (text == "-") return apply(Operation::subtract, left, right);
    if (text == "*") return apply(Operation::multiply, left, right);
    return apply(text == "/" ? Operation::divide : Operation::remainder, left, right);
  }

  int choose(const Token& /*mark*/, int condition, int yes, int no) override {
    return apply(Operation::select, condition, yes, no);
  }

  /// A power with a literal exponent becomes a product.
  int power(const Token& caret, int base, int exponent) override {
    const WholeExpression::Node node = nodes_[static_cast<std::size_t>(exponent)];
    constexpr std::int64_t kMost = 63;
    if (node.operation != Operation::number || node.value < 1 || node.value > kMost) {
      reject(caret, fmt::format("an exponent is a number from 1 to {}", kMost));
    }
    int result = base;
    for (std::int64_t i = 1; i < node.value; ++i) result = apply(Operation::multiply, result, base);
    return result;
  }

  std::span<const std::string> known_;
  std::vector<WholeExpression::Node>& nodes_;
};

WholeExpression::WholeExpression(std::int64_t value) : text_(std::to_string(value)), nodes_{{.value = value}} {}

WholeExpression::WholeExpression(const ExpressionText& text, std::span<const std::string> known)
    : text_(text.text->text().substr(text.begin, text.length)) {
  WholeParser(text, known, *this).run();
}

std::vector<std::string> WholeExpression::names() const {
  std::set<std::string> names;
  for (const Node& node : nodes_) {
    if (node.operation == Operation::name) names.insert(node.name);
  }
  return {names.begin(), names.end()};
}

std::string WholeExpression::c_text() const {
  std::vector<std::string> texts;
  const auto text = [&](int node) { return node < 0 ? std::string() : texts[static_cast<std::size_t>(node)]; };
  for (const Node& node : nodes_) {
    if (node.operation == Operation::number) {
      texts.push_back(std::to_string(node.value));
    } else if (node.operation == Operation::name) {
      texts.push_back(node.name);
    } else {
      texts.push_back(c_text(node.operation, text(node.a), text(node.b), text(node.c)));
    }
  }
  return texts.back();
}

std::string WholeExpression::c_text(Operation operation, const std::string& a, const std::string& b,
                                    const std::string& c) {
  const auto between = [&](const char* symbol) { return fmt::format("({} {} {})", a, symbol, b); };
  switch (operation) {
    case Operation::negate:
      return fmt::format("(-{})", a);
    case Operation::invert:
      return fmt::format("(!{})", a);
    case Operation::add:
      return between("+");
    case Operation::subtract:
      return between("-");
    case Operation::multiply:
      return between("*");
    case Operation::divide:
      return between("/");
    case Operation::remainder:
      return between("%");
    case Operation::less:
      return between("<");
    case Operation::less_equal:
      return between("<=");
    case Operation::equal:
      return between("==");
    case Operation::both:
      return between("&&");
    case Operation::either:
      return between("||");
    case Operation::minimum:
      return fmt::format("whole_numbers::minimum({}, {})", a, b);
    case Operation::maximum:
      return fmt::format("whole_numbers::maximum({}, {})", a, b);
    case Operation::ceil_div:
      return fmt::format("whole_numbers::ceil_div({}, {})", a, b);
    default:
      return fmt::format("({} ? {} : {})", a, b, c);
  }
}

std::int64_t WholeExpression::evaluate(const WholeValues& values) const {
  std::vector<Result> results;
  const auto result = [&](int node) { return node < 0 ? Result{} : results[static_cast<std::size_t>(node)]; };
  for (const Node& node : nodes_) {
    if (node.operation == Operation::number) {
      results.push_back({node.value});
    } else if (node.operation == Operation::name) {
      const auto found = values.find(node.name);
      results.push_back(found == values.end() ? Result{0, "a name has no value"} : Result{found->second});
    } else {
      results.push_back(carry_out(node.operation, result(node.a), result(node.b), result(node.c)));
    }
  }
  if (results.back().error == nullptr) return results.back().value;
  std::string where;
  for (const std::string& name : names()) {
    const auto found = values.find(name);
    if (found != values.end()) where += fmt::format("{}{} = {}", where.empty() ? " with " : ", ", name, found->second);
  }
  throw Error(ErrorCode::invalid_argument,
              fmt::format("\"{}\" has no value{}: {}", text_, where, results.back().error));
}

WholeExpression::Result WholeExpression::carry_out(Operation operation, Result a, Result b, Result c) {
  if (a.error != nullptr) return a;
  if (operation == Operation::select) return a.value != 0 ? b : c;
  if (operation == Operation::both && a.value == 0) return {0};
  if (operation == Operation::either && a.value != 0) return {1};
  if (b.error != nullptr) return b;
  if (operation == Operation::both || operation == Operation::either) return {b.value != 0};
  return arithmetic(operation, a.value, b.value);
}

WholeExpression::Result WholeExpression::arithmetic(Operation operation, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  const auto fitting = [&result](bool overflows) { return overflows ? Result{0, kTooLarge} : Result{result}; };
  switch (operation) {
    case Operation::negate:
      return fitting(__builtin_sub_overflow(std::int64_t{0}, a, &result));
    case Operation::invert:
      return {a == 0};
    case Operation::add:
      return fitting(__builtin_add_overflow(a, b, &result));
    case Operation::subtract:
      return fitting(__builtin_sub_overflow(a, b, &result));
    case Operation::multiply:
      return fitting(__builtin_mul_overflow(a, b, &result));
    case Operation::less:
      return {a < b};
    case Operation::less_equal:
      return {a <= b};
    case Operation::equal:
      return {a == b};
    case Operation::minimum:
      return {std::min(a, b)};
    case Operation::maximum:
      return {std::max(a, b)};
    default:
      break;
  }
  if (b == 0) return {0, "it divides by 0"};
  if (a == Limits64::min() && b == -1) return {0, kTooLarge};
  if (operation == Operation::divide) return {a / b};
  if (operation == Operation::remainder) return {a % b};
  return {a / b + (a % b != 0 && (a < 0) == (b < 0) ? 1 : 0)};
}

}  // namespace stencil_tune
