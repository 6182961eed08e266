// TOML documents of definitions: parsed within limits, with the place of everything at hand for messages.
#pragma once

#include "generator/definition/expression/lexer.hpp"
#include "generator/definition/text.hpp"

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

// toml++ 3.3 asserts what some malformed documents violate, such as "[[[", and with NDEBUG tells the compiler to assume
// it. Here a violated assertion is a rejected document in every build. This is the only file that includes toml++.
namespace stencil_tune {
struct BrokenToml : std::runtime_error {
  using std::runtime_error::runtime_error;
};
[[noreturn]] inline void reject_broken_toml() { throw BrokenToml("this is not a TOML document"); }
}  // namespace stencil_tune
#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_ASSERT(condition) (static_cast<bool>(condition) ? void() : stencil_tune::reject_broken_toml())
#define TOML_MAX_NESTED_VALUES 16
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

namespace stencil_tune {

/// A key of a table with its value, and where they stand.
struct TomlEntry {
  std::string_view key;
  const toml::node* value;
  std::size_t offset;  ///< where the key begins in the text
};

/// What readers of definitions share. Every message is an Error(malformed_definition) with the place.
class TomlReader {
 protected:
  /// `source` names the text in messages.
  TomlReader(std::string_view source, std::string_view text) : TomlReader(source, text, text) {}

  /// A document within another text: `document` has the same length, and blanks wherever the text is none of it.
  TomlReader(std::string_view source, std::string_view text, std::string_view document);

  toml::table parse() const;

  const DefinitionText& text() const noexcept { return text_; }
  [[noreturn]] void reject(std::size_t offset, std::string_view message) const { text_.reject(offset, message); }

  std::size_t offset_of(const toml::node& node) const;

  /// In the order of the text, not of the alphabet.
  std::vector<TomlEntry> entries(const toml::table& table) const;

  /// Rejects the first key that is none of these.
  void require_known(const toml::table& table, const std::vector<std::string>& keys) const;

  /// The string's place in the text. Strings with escapes are refused, so that an expression reads in the file
  /// as it is parsed and its columns are the file's. `key` names it in messages.
  ExpressionText expression(std::string_view key, const toml::node& value) const;
  ExpressionText expression(const TomlEntry& entry) const { return expression(entry.key, *entry.value); }

  std::string string_or(const toml::table& document, std::string_view key, std::string_view otherwise) const;

  /// Null where there is none.
  const toml::table* table(const toml::table& document, std::string_view key) const;

 private:
  std::size_t offset_of(const toml::source_region& region) const;
  void reject_long_keys() const;

  DefinitionText text_;
  DefinitionText ascii_;  ///< the document
};

}  // namespace stencil_tune
