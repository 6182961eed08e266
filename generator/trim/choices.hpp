// Types that the templates choose by a condition.
#pragma once

#include "generator/trim/constants.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace stencil_tune {

/// For `typename X<S, T, condition>::Name`, where X has a specialisation for `true` and both say `using Name = ...`:
/// what the condition chooses, in place of the choice, where it is known.
class Choices {
 public:
  /// All definitions of the templates have to be added.
  void add(const std::vector<Definition>& definitions);

  void resolve(std::vector<Definition>& definitions, const Constants& constants) const;

 private:
  using Names = std::map<std::string, std::string, std::less<>>;  ///< with what they stand for
  struct Choice {
    Names otherwise;
    Names when_true;
  };

  void resolve(std::string& text, const Constants& constants) const;
  const std::string* chosen(Tokens use, std::size_t& end, const Constants& constants) const;

  std::map<std::string, Choice, std::less<>> choices_;
};

}  // namespace stencil_tune
