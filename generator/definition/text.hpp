// Where in a definition something stands, and messages that show it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stencil_tune {

/// The text of a definition. Messages quote it with everything but printable ASCII replaced, since it may come from
/// anywhere and goes to terminals.
class DefinitionText {
 public:
  DefinitionText(std::string_view source, std::string_view text) : source_(source), text_(text) {}

  std::string_view text() const noexcept { return text_; }

  /// Byte offset of a line and column, both from 1, columns in code points; the end where there is no such place.
  std::size_t offset_of(std::size_t line, std::size_t column) const noexcept;

  /// Throws Error(malformed_definition): source, line, column, the message, the line, a caret below the place.
  [[noreturn]] void reject(std::size_t offset, std::string_view message) const;

 private:
  std::string source_;
  std::string text_;
};

/// A piece of user text for a message: cut to `length`, everything but printable ASCII replaced by '?'.
std::string quotable(std::string_view text, std::size_t length = 40);

/// Letters, digits and underscores, not beginning with a digit, at most 64, no C++ keyword and not reserved in C++.
bool is_identifier(std::string_view text);

}  // namespace stencil_tune
