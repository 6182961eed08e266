// Constants of a kernel whose stencil and tuning are known, as far as its text tells them.
#pragma once

#include "generator/trim/definition.hpp"
#include "generator/trim/tokens.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stencil_tune {

/// Names that a function or a type gives to values and types, with the text that follows the `=`. Empty text: a value
/// that is not known here, as that of a template's parameter, whatever the name means outside.
using Meanings = std::map<std::string, std::string, std::less<>>;

/// What stands between `static constexpr int` or `using` and the semicolon, one by one.
void add_meanings(Tokens definition, Meanings& meanings);

/// The parameters of a template, whose head the definition begins with.
void add_parameters(Tokens definition, Meanings& meanings);

/// In the templates S is the stencil and T the tuning, wherever a condition asks: the generated types Stencil and
/// Tuning. Where Stencil is SystemOf<Step>, its constants are Step's.
class Constants {
 public:
  /// All definitions of the templates and of the generated text have to be added.
  void add(const std::vector<Definition>& definitions);

  /// The value of a condition inside a function of type `type` (empty: of none) whose own names are `local`; nothing
  /// where it is not one of the kernel as a whole.
  std::optional<long long> value(Tokens expression, std::string_view type, const Meanings& local) const;

 private:
  friend class Evaluation;

  void add_type(const Definition& definition);

  struct Type {
    std::string base;  ///< "TuningDefaults"; empty: none
    Meanings meanings;
  };
  std::map<std::string, Type, std::less<>> types_;  ///< "enum Boundary" too, whose enumerators are its constants
};

}  // namespace stencil_tune
