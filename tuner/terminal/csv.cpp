#include "tuner/terminal/csv.hpp"

#include "generator/printable.hpp"

namespace stencil_tune {
namespace {

std::string csv_cell(const std::string& cell) {
  const std::string shown = printable_lines(cell);
  if (shown.find_first_of(",\"\n") == std::string::npos) return shown;
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
