#include "generator/definition/scope.hpp"

#include "generator/definition/expression/functions.hpp"
#include "generator/definition/text.hpp"

#include <fmt/format.h>

namespace stencil_tune {

std::string Scope::obstacle(std::string_view name) const {
  if (!is_identifier(name)) {
    return fmt::format(
        "'{}' cannot be a name; names are letters, digits and underscores, at most 64, do not begin with a "
        "digit, hold no '__' and are no word of C++ or CUDA",
        quotable(name));
  }
  if (name.size() == 1 && kAxes.find(name[0]) != std::string_view::npos) {
    return fmt::format(
        "'{}' is an axis and cannot be another name; it stands for the cell's coordinate, and in brackets for the "
        "axis, as in u[{}-1]",
        name, name);
  }
  if (const Function* function = find_function(name); function != nullptr && function->reserved) {
    return fmt::format("'{}' is a function and cannot be another name", name);
  }
  if (symbols_.contains(name)) return fmt::format("'{}' is declared already", name);
  return "";
}

void Scope::declare(std::string_view name, Symbol symbol) { symbols_.emplace(std::string(name), symbol); }

Symbol* Scope::find(std::string_view name) {
  const auto found = symbols_.find(name);
  if (found != symbols_.end()) return &found->second;
  if (!unknown_is_field_ || !obstacle(name).empty() || find_function(name) != nullptr ||
      static_cast<int>(builder().stencil().fields.size()) >= kDefinitionLimits.fields) {
    return nullptr;
  }
  const int field = builder().field(name);
  return &symbols_.emplace(std::string(name), Symbol{Symbol::Kind::field, field}).first->second;
}

}  // namespace stencil_tune
