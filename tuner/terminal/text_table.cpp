#include "tuner/terminal/text_table.hpp"

#include "generator/printable.hpp"
#include "tuner/terminal/wrap.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>

namespace stencil_tune {
namespace {

using Row = std::vector<std::string>;

constexpr std::string_view kGap = "  ";
constexpr std::string_view kFurther = "    ";  // before lines that go on with a row

bool is_free_text(const Row& row, std::size_t cell, std::size_t columns) {
  return row.size() < columns && cell + 1 == row.size();
}

std::vector<std::size_t> widths_of(const std::vector<TableColumn>& columns, const std::vector<Row>& rows) {
  std::vector<std::size_t> widths;
  for (const TableColumn& column : columns) widths.push_back(columns_of(column.title));
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (!is_free_text(row, i, columns.size())) widths[i] = std::max(widths[i], columns_of(row[i]));
    }
  }
  return widths;
}

/// Where each line of a row begins: indices of columns, the first of them 0.
std::vector<std::size_t> line_starts(const std::vector<std::size_t>& widths, const TableLook& look) {
  std::vector<std::size_t> starts{0};
  const auto room = static_cast<std::size_t>(look.terminal.columns);
  std::size_t used = look.indent.size() + (widths.empty() ? 0 : widths[0]);
  for (std::size_t i = 1; i < widths.size(); ++i) {
    used += kGap.size() + widths[i];
    if (room == 0 || used <= room) continue;
    starts.push_back(i);
    used = look.indent.size() + kFurther.size() + widths[i];
  }
  return starts;
}

class Layout {
 public:
  Layout(const std::vector<TableColumn>& columns, const std::vector<Row>& rows, const TableLook& look)
      : columns_(columns), look_(look), widths_(widths_of(columns, rows)), starts_(line_starts(widths_, look)) {}

  std::string row(const Row& cells, Style style) const {
    std::string text;
    for (std::size_t line = 0; line < starts_.size(); ++line) {
      const std::size_t end = line + 1 < starts_.size() ? starts_[line + 1] : columns_.size();
      std::string part = look_.indent + std::string(line > 0 ? kFurther : "");
      const std::size_t blank = part.size();
      for (std::size_t i = starts_[line]; i < std::min(end, cells.size()); ++i) {
        if (i > starts_[line]) part += kGap;
        part += padded(cells, i);
      }
      part.erase(part.find_last_not_of(' ') + 1);
      if (line > 0 && part.size() <= blank) continue;  // nothing stands there
      text += lines(part, style);
    }
    return text;
  }

 private:
  std::string padded(const Row& cells, std::size_t i) const {
    const std::string& cell = cells[i];
    if (is_free_text(cells, i, columns_.size())) return cell;
    const std::string blanks(widths_[i] - columns_of(cell), ' ');
    return columns_[i].right ? blanks + cell : cell + blanks;
  }

  /// A cell alone may be longer than a line.
  std::string lines(const std::string& part, Style style) const {
    const std::string indent = look_.indent + std::string(kFurther);
    const std::string wrapped = wrap_lines(part, look_.terminal.columns, indent);
    std::string text;
    for (std::size_t begin = 0; begin <= wrapped.size();) {
      const std::size_t end = std::min(wrapped.find('\n', begin), wrapped.size());
      text += styled(look_.terminal, style, wrapped.substr(begin, end - begin)) + "\n";
      begin = end + 1;
    }
    return text;
  }

  const std::vector<TableColumn>& columns_;
  const TableLook& look_;
  std::vector<std::size_t> widths_;
  std::vector<std::size_t> starts_;
};

std::string lines_of(const std::vector<TableColumn>& columns, const std::vector<Row>& rows, const TableLook& look) {
  const Layout layout(columns, rows, look);
  Row titles;
  for (const TableColumn& column : columns) titles.push_back(column.title);
  std::string text = layout.row(titles, Style::heading);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    text += layout.row(rows[i], look.style ? look.style(i) : Style::plain);
  }
  return text;
}

/// A table that loses columns.
struct NarrowTable {
  std::vector<TableColumn> columns;
  std::vector<Row> rows;

  void take_out(std::size_t column) {
    columns.erase(columns.begin() + static_cast<std::ptrdiff_t>(column));
    for (Row& row : rows) {
      const bool is_there = column < row.size() && !is_free_text(row, column, columns.size() + 1);
      if (is_there) row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
    }
  }

  /// Takes out columns that say nothing.
  void take_out_blank() {
    for (std::size_t i = columns.size(); i-- > 0;) {
      const bool is_blank =
          std::all_of(rows.begin(), rows.end(), [i](const Row& row) { return i >= row.size() || row[i].empty(); });
      if (columns[i].narrow == Narrow::leaves && is_blank) take_out(i);
    }
  }

  std::size_t last(Narrow narrow) const {
    std::size_t found = columns.size();
    for (std::size_t i = 0; i < columns.size(); ++i) found = columns[i].narrow == narrow ? i : found;
    return found;
  }
};

/// The first column and another one, of the rows that have something there.
NarrowTable beside_first(const NarrowTable& table, std::size_t column) {
  NarrowTable pair{{table.columns.front(), table.columns[column]}, {}};
  for (const Row& row : table.rows) {
    if (column < row.size() && !row[column].empty()) pair.rows.push_back({row.front(), row[column]});
  }
  return pair;
}

}  // namespace

std::string text_table(const std::vector<TableColumn>& columns, const std::vector<Row>& rows, const TableLook& look) {
  NarrowTable table{columns, rows};
  for (Row& row : table.rows) std::transform(row.begin(), row.end(), row.begin(), printable);
  const auto fits = [&] { return line_starts(widths_of(table.columns, table.rows), look).size() == 1; };
  std::string below;
  Row left;
  if (!fits()) table.take_out_blank();
  for (auto last = table.last(Narrow::below); !fits() && last < table.columns.size();
       last = table.last(Narrow::below)) {
    const NarrowTable pair = beside_first(table, last);
    below = "\n" + lines_of(pair.columns, pair.rows, {look.indent, look.terminal, {}}) + below;
    table.take_out(last);
  }
  for (auto last = table.last(Narrow::leaves); !fits() && last < table.columns.size();
       last = table.last(Narrow::leaves)) {
    left.insert(left.begin(), table.columns[last].title);
    table.take_out(last);
  }
  if (!left.empty()) {
    const std::string note = fmt::format("{}left out in {} columns: {}; a pipe and wider terminals show all\n",
                                         look.indent, look.terminal.columns, fmt::join(left, ", "));
    below = wrap_lines(note, look.terminal.columns, look.indent + std::string(kFurther)) + below;
  }
  return lines_of(table.columns, table.rows, look) + below;
}

}  // namespace stencil_tune
