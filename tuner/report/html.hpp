// Text for a page, safe to stand in it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stencil_tune {

/// As text or as the value of an attribute. A tab is a space that no line ends at; what XML cannot hold becomes '?'.
std::string escape_html(std::string_view text);

/// The page up to and with its first heading: style sheet for light and dark screens and paper, no script.
std::string html_head(std::string_view title);

using TableRow = std::vector<std::string>;

/// A table that scrolls where it is too wide; cells are escaped.
std::string html_table(const TableRow& head, const std::vector<TableRow>& rows);

}  // namespace stencil_tune
