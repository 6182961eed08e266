// Text in lines that a terminal has room for.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace stencil_tune {

/// How many columns a text takes: one a character of UTF-8.
std::size_t columns_of(std::string_view text);

/// The text in lines of at most `columns`, broken at blanks; a longer word is broken before a '.' or after one of
/// "/,|", as codes and paths are read, else anywhere. 0: one line. Blanks at the front of the text stay.
std::vector<std::string> wrap(std::string_view text, int columns);

/// Each line of the text wrapped; lines that were broken go on after `indent`. A newline at the end stays.
std::string wrap_lines(std::string_view text, int columns, std::string_view indent = "");

}  // namespace stencil_tune
