// C++ text as tokens.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

namespace stencil_tune {

struct SourceToken {
  std::string_view text;
  std::size_t begin = 0;  ///< where it stands in the text

  std::size_t end() const { return begin + text.size(); }
  bool operator==(std::string_view other) const { return text == other; }
};

using Tokens = std::span<const SourceToken>;

bool is_word_character(char c);
bool is_word(const SourceToken& token);  ///< a name or a keyword
bool is_any(const SourceToken& token, std::initializer_list<std::string_view> texts);
bool opens(const SourceToken& token);                              ///< a bracket of any kind but <
bool is_at(Tokens tokens, std::size_t at, std::string_view text);  ///< false beyond the end

/// "==" and other operators are tokens that follow each other without a gap.
bool is_op(Tokens tokens, std::size_t at, std::string_view op);

/// Length of the comment, blank character or end of a continued line that `text` begins with; 0 where that is a token.
std::size_t gap_length(std::string_view text);

/// Length of the token that `text` begins with: a word, a number, a literal, or one character of anything else.
std::size_t token_length(std::string_view text);

/// All tokens of the text, as views into it. Comments and blank space are none.
std::vector<SourceToken> tokens_of(std::string_view text);

/// The token after the one that closes the bracket at `open`, whatever its kind; the end where none closes it.
std::size_t after_bracket(Tokens tokens, std::size_t open);

/// The token behind `template <...>` at the beginning of a definition.
std::size_t after_template_heads(Tokens tokens);

}  // namespace stencil_tune
