// Text from files, databases and command lines, made fit for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace stencil_tune {

/// The text with everything escaped that a terminal may obey or hide: control characters, line breaks and U+0080 to
/// U+009F too, characters that order text from right to left or have no width, and bytes that are no UTF-8. These
/// become \x1b or \u{202e}. Other text stays as it is.
std::string printable(std::string_view text);

/// The same, but line breaks stay: for text of this program that quotes other.
std::string printable_lines(std::string_view text);

}  // namespace stencil_tune
