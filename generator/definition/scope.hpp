// The names of a definition.
#pragma once

#include "generator/definition/expression/operators.hpp"

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace stencil_tune {

/// What a name stands for.
struct Symbol {
  enum class Kind { field, coefficient, expression };

  Kind kind;
  int index;  ///< field or coefficient; the node of an expression
  bool used = false;
  std::size_t offset = 0;  ///< where an expression first uses it, in the definition's text
};

/// The names an expression may use.
class Scope {
 public:
  explicit Scope(StencilBuilder& builder) : expressions_(builder) {}

  ExpressionBuilder& expressions() noexcept { return expressions_; }
  StencilBuilder& builder() noexcept { return expressions_.builder(); }

  /// From here on names that are declared nowhere become fields.
  void declare_unknown_fields(bool declares = true) noexcept { unknown_is_field_ = declares; }

  /// Why the name cannot be declared, or empty.
  std::string obstacle(std::string_view name) const;
  void declare(std::string_view name, Symbol symbol);
  void forget(std::string_view name) { symbols_.erase(symbols_.find(name)); }

  /// A name that is declared further down.
  void announce(std::string_view name) { announced_.emplace(name); }
  bool is_announced(std::string_view name) const { return announced_.contains(name); }

  /// Null where the name is unknown.
  Symbol* find(std::string_view name);
  const std::map<std::string, Symbol, std::less<>>& symbols() const noexcept { return symbols_; }

  /// The number of the next call of random(), in the order of the text.
  int next_random_call() noexcept { return random_calls_++; }

 private:
  ExpressionBuilder expressions_;
  std::map<std::string, Symbol, std::less<>> symbols_;
  std::set<std::string, std::less<>> announced_;
  bool unknown_is_field_ = false;
  int random_calls_ = 0;
};

}  // namespace stencil_tune
