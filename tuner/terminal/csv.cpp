#include "tuner/terminal/csv.hpp"

#include "generator/printable.hpp"

#include <charconv>
#include <cmath>
#include <string_view>
#include <system_error>

namespace stencil_tune {
namespace {

bool is_number(const std::string& cell) {
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  return error == std::errc{} && end == cell.data() + cell.size() && std::isfinite(value);
}

/// Names may come from anybody's file. With an apostrophe before it a formula is text to spreadsheets.
std::string without_formula(const std::string& cell) {
  constexpr std::string_view kBeginFormulas = "=+-@\t\r\n";
  if (cell.empty() || kBeginFormulas.find(cell.front()) == std::string_view::npos || is_number(cell)) return cell;
  return "'" + cell;
}

std::string csv_cell(const std::string& cell) {
  const std::string shown = printable_lines(without_formula(cell));
  if (shown.find_first_of(",;\"\n") == std::string::npos) return shown;
  std::string quoted = "\"";
  for (const char c : shown) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

}  // namespace

std::string csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) line += (i > 0 ? "," : "") + csv_cell(cells[i]);
  return line + "\n";
}

}  // namespace stencil_tune
