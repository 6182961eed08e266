#include "tuner/session/text_table.hpp"

#include "generator/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace stencil_tune {
namespace {

using Row = std::vector<std::string>;

bool is_free_text(const Row& row, std::size_t cell, std::size_t columns) {
  return row.size() < columns && cell + 1 == row.size();
}

std::vector<std::size_t> widths_of(const std::vector<TableColumn>& columns, const std::vector<Row>& rows) {
  std::vector<std::size_t> widths;
  for (const TableColumn& column : columns) widths.push_back(column.title.size());
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (!is_free_text(row, i, columns.size())) widths[i] = std::max(widths[i], row[i].size());
    }
  }
  return widths;
}

}  // namespace

std::string text_table(const std::vector<TableColumn>& columns, const std::vector<Row>& rows,
                       const std::string& indent) {
  std::vector<Row> shown = rows;
  for (Row& row : shown) std::transform(row.begin(), row.end(), row.begin(), printable);
  const std::vector<std::size_t> widths = widths_of(columns, shown);
  const auto line = [&](const Row& row) {
    std::string text = indent;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) text += "  ";
      const bool right = columns[i].right && !is_free_text(row, i, columns.size());
      text += right ? fmt::format("{:>{}}", row[i], widths[i]) : fmt::format("{:<{}}", row[i], widths[i]);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text + "\n";
  };
  Row titles;
  for (const TableColumn& column : columns) titles.push_back(column.title);
  std::string text = line(titles);
  for (const Row& row : shown) text += line(row);
  return text;
}

}  // namespace stencil_tune
