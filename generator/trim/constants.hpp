// Constants of a kernel whose stencil and tuning are known, as far as its text tells them.
#pragma once

#include "generator/trim/definition.hpp"
#include "generator/trim/tokens.hpp"

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

namespace stencil_tune {

/// Names that a function or a type gives to values and types, with the text that follows the `=`. Empty text: a value
/// that is not known here, as of a template's parameter, whatever the name means outside.
using Meanings = std::map<std::string, std::string, std::less<>>;

/// What stands between `static constexpr int` or `using` and the semicolon, one by one.
void add_meanings(Tokens definition, Meanings& meanings);

/// The parameters of a template, whose head the definition begins with: their values are not known.
void add_parameters(Tokens definition, Meanings& meanings);

/// In the templates S is the stencil and T the tuning, wherever a condition asks: the generated types Stencil and
/// Tuning. Where Stencil is SystemOf<Step>, its constants are Step's.
class Constants {
 public:
  /// All definitions of the templates and of the generated text have to be added.
  void add(const std::vector<Definition>& definitions);

  /// Functions that do nothing but return a value: conditions may call them. One that has the name of another counts
  /// as unknown. Branches of theirs may have been taken out since the last call. type: around the definitions.
  void note_functions(const std::vector<Definition>& definitions, std::string_view type = {});
  void forget_functions() { functions_.clear(); }

  /// The value of a condition inside a function of type `type` (empty: of none) whose own names are `local`; nothing
  /// where it is not one of the kernel as a whole.
  std::optional<long long> value(Tokens expression, std::string_view type, const Meanings& local) const;

 private:
  friend class Evaluation;

  void add_enumerators(const Definition& definition);
  void add_name(const Definition& definition);
  void add_type(const Definition& definition);
  void note_function(const Definition& function, std::string_view type);
  void note_uses(const Definition& definition);
  void note_uses(std::string_view text);

  struct Type {
    std::string base;  ///< "TuningDefaults"; empty: none
    Meanings meanings;
  };
  std::map<std::string, Type, std::less<>> types_;
  std::string stencil_ = "Stencil";  ///< the type that has the stencil's constants
  Meanings globals_;
  std::map<std::string, std::map<std::string, long long, std::less<>>, std::less<>> enumerators_;
  std::map<std::string, std::optional<long long>, std::less<>> functions_;  ///< what they return
  std::set<std::string, std::less<>> in_use_;  ///< "Boundary::hold": said elsewhere than in comparisons
};

}  // namespace stencil_tune
