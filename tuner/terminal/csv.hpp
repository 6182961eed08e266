// Comma-separated values as spreadsheets read them (RFC 4180).
#pragma once

#include <string>
#include <vector>

namespace stencil_tune {

/// A line ending with a newline. A cell with a comma, a semicolon, a quote or a line break is quoted; control
/// characters but line breaks are escaped as elsewhere, so that nothing in it speaks to a terminal. What a spreadsheet
/// would take for a formula gets an apostrophe before it, unless it is a number.
std::string csv_line(const std::vector<std::string>& cells);

}  // namespace stencil_tune
