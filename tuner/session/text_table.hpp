// Tables for people: columns as wide as what stands in them.
#pragma once

#include <string>
#include <vector>

namespace stencil_tune {

struct TableColumn {
  std::string title;
  bool right = true;  ///< aligned to the right, as numbers are
};

/// A line for the titles and one for each row, each beginning with `indent` and ending with a newline. A row may be
/// shorter than the table is wide: its last cell is then free text, which widens no column. Cells are made printable.
std::string text_table(const std::vector<TableColumn>& columns, const std::vector<std::vector<std::string>>& rows,
                       const std::string& indent = "");

}  // namespace stencil_tune
