// What files and one-liners have in common: declaring names, limits, rotations, the finished stencil.
#pragma once

#include "generator/definition/boundaries.hpp"
#include "generator/definition/expression/parser.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stencil_tune {

bool is_written(const Stencil& stencil, int field);  ///< whether a stage writes it

/// Collects a stencil from its text. Every function that takes an offset throws Error(malformed_definition) that shows
/// the text at that offset.
class DefinedStencil {
 public:
  DefinedStencil(const DefinitionText& text, std::string name, int rank, Form form);

  Scope& scope() noexcept { return scope_; }

  void declare_field(std::string_view name, std::size_t offset);
  /// place: "z", "x, y" or "t" for a profile, "z in layer" for a field that exists in the axis's layers alone.
  void declare_field_at(std::string_view name, std::string_view place, std::size_t offset);
  void declare_coefficient(std::string_view name, double value, std::size_t offset);
  /// Its default an expression of numbers.
  void declare_coefficient(std::string_view name, const ExpressionText& value, std::size_t offset);
  void declare_expression(std::string_view name, const ExpressionText& expression, std::size_t offset);

  /// A declared field's cells are stored in a type of their own, "u8", and with "f16*2^-15 + w" its value is the stored
  /// number times a factor, plus a term. Before anything reads or writes the field.
  void storage(std::string_view field, const ExpressionText& rule, std::size_t offset);

  /// The widths that layers have where nobody asks for others: parse_layer_widths().
  void layers(std::string_view text, std::size_t offset);

  void begin_stage(std::size_t offset);
  void update(std::string_view output, NodeId value, std::size_t offset);
  void rotate(std::string_view from, std::string_view to, std::size_t offset);

  /// Rotates as an author means who names the next state u_next (or u_new) and the one before u_prev; else a single
  /// output becomes the single input. Refuses an input that has another name of an older state: nothing would change
  /// it.
  void rotate_by_convention();

  /// The intermediate `field` has the held layers of the other. After rotations.
  void hold(std::string_view field, std::string_view layers_of, std::size_t offset);

  /// Says what lies beyond the edges of an axis, on one side or both, for a field, or for all that have no rule of
  /// their own (an empty name). `rule` is a word, or neumann(q).
  void boundary(std::string_view field, std::string_view axis, std::optional<Side> side, const ExpressionText& rule,
                std::size_t offset);

  /// In what follows the name stands for the value that the first stage gives it.
  void stands_for(std::string_view output, NodeId value, std::size_t offset);
  /// One more output, and how its values become one number. `rule` is sum(...), min(...) or max(...) of an expression.
  /// What the stencil declares need not be used any more.
  void measure(std::string_view name, const ExpressionText& rule, std::size_t offset);
  const std::vector<Reduction>& reductions() const noexcept { return reductions_; }  ///< one a measure
  std::vector<std::string> used_names() const;  ///< of coefficients and named expressions

  /// These names, which measures use, count as used.
  void use(const std::vector<std::string>& names);

  /// `offset` is shown where the stencil as a whole is at fault.
  Stencil build(std::size_t offset) &&;

 private:
  struct ScaledField {
    int field;
    bool shifted;
    std::size_t offset;
  };

  void refuse_older_level(std::string_view next, std::string_view current);
  void refuse_turned_rotations() const;
  void refuse_scaled_edges() const;
  void require_room(std::string_view name, std::size_t offset) const;
  EdgeRule edge_rule(const ExpressionText& rule);
  int known_field(std::string_view name, std::size_t offset);
  std::optional<int> field_index(std::string_view name);

  const DefinitionText& text_;
  StencilBuilder builder_;
  Scope scope_;
  DefinedBoundaries boundaries_;
  std::vector<std::pair<std::string, std::size_t>> declared_;  ///< where, so that unused ones can be shown
  std::vector<ScaledField> scaled_;                            ///< those with a scale or a shift
  std::vector<std::size_t> rotated_;                           ///< where, of each that the text itself says
  std::vector<Reduction> reductions_;                          ///< of the measures
};

}  // namespace stencil_tune
