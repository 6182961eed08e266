// Tables for people: columns as wide as what stands in them.
#pragma once

#include "tuner/terminal/terminal.hpp"

#include <functional>
#include <string>
#include <vector>

namespace stencil_tune {

/// What becomes of a column where the terminal is narrower than the table.
enum class Narrow {
  stays,
  leaves,  ///< the last of them first
  below,   ///< its cells stand below the table, a line each, beside those of the first column
};

struct TableColumn {
  std::string title;
  bool right = true;  ///< aligned to the right, as numbers are
  Narrow narrow = Narrow::stays;
};

struct TableLook {
  std::string indent{};  ///< begins every line
  Terminal terminal{};
  std::function<Style(std::size_t row)> style{};  ///< style of a row; empty: all plain
};

/// A line for the titles and one for each row, each ending with a newline. A row may be shorter than the table is wide:
/// its last cell is then free text, which widens no column. Cells are made printable. Where the terminal is narrower
/// than the table, columns leave it, which a last line says, until a row takes one line. Those that stay and do not fit
/// then stand on further lines, titles and rows alike: nothing is cut.
std::string text_table(const std::vector<TableColumn>& columns, const std::vector<std::vector<std::string>>& rows,
                       const TableLook& look = {});

}  // namespace stencil_tune
