#include "tuner/report/html.hpp"

namespace stencil_tune {
namespace {

std::string html_row(const TableRow& cells, std::string_view tag) {
  std::string text = "<tr>";
  for (const std::string& cell : cells) {
    text += '<' + std::string(tag) + '>' + escape_html(cell) + "</" + std::string(tag) + '>';
  }
  return text + "</tr>\n";
}

}  // namespace

std::string escape_html(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += (c >= ' ' && c <= '~') || c == '\n' ? c : '?';
    }
  }
  return result;
}

std::string html_table(const TableRow& head, const std::vector<TableRow>& rows) {
  std::string text = "<div class=\"wide\"><table>\n<thead>" + html_row(head, "th") + "</thead>\n<tbody>\n";
  for (const TableRow& row : rows) text += html_row(row, "td");
  return text + "</tbody></table></div>\n";
}

}  // namespace stencil_tune
