// What the terminal behind a stream can show.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace stencil_tune {

inline constexpr int kPlainColumns = 80;  ///< for text for people that goes to no terminal, such as help in a file

struct Terminal {
  int columns = 0;  ///< width of a line; 0: no limit, this is no terminal and every line stays whole
  bool colour = false;
};

/// Columns: COLUMNS, else what the terminal says, else 80; never fewer than 40. Colour: on a terminal (TERM is not
/// "dumb") unless NO_COLOR is set; CLICOLOR_FORCE other than 0 asks for it everywhere. See https://no-color.org.
Terminal terminal_of(std::FILE* stream);

enum class Style { plain, heading, winner, warning, error };

/// The text in that style; as it is where there is no colour. Printable text only: nothing in it is escaped.
std::string styled(const Terminal& terminal, Style style, std::string_view text);

}  // namespace stencil_tune
