// What files and one-liners have in common: declaring names, limits, rotations, the finished stencil.
#pragma once

#include "generator/definition/parser.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stencil_tune {

/// Collects a stencil from its text. Every function that takes an offset throws Error(malformed_definition) that shows
/// the text at that offset.
class DefinedStencil {
 public:
  DefinedStencil(const DefinitionText& text, std::string name, int rank, Form form);

  Scope& scope() noexcept { return scope_; }

  void declare_field(std::string_view name, std::size_t offset);
  void declare_coefficient(std::string_view name, double value, std::size_t offset);
  void declare_expression(std::string_view name, const ExpressionText& expression, std::size_t offset);

  void begin_stage(std::size_t offset);
  void update(std::string_view output, const ExpressionText& expression, std::size_t offset);
  void rotate(std::string_view from, std::string_view to, std::size_t offset);

  /// What an author means who names the next state u_next (or u_new) and the one before u_prev; else a single output
  /// becomes the single input.
  void rotate_by_convention();

  /// `offset` is shown where the stencil as a whole is at fault.
  Stencil build(std::size_t offset) &&;

 private:
  int known_field(std::string_view name, std::size_t offset);
  std::optional<int> field_index(std::string_view name);

  const DefinitionText& text_;
  StencilBuilder builder_;
  Scope scope_;
  std::vector<std::pair<std::string, std::size_t>> declared_;  ///< where, so that unused ones can be shown
};

}  // namespace stencil_tune
