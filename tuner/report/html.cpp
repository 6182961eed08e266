#include "tuner/report/html.hpp"

namespace stencil_tune {
namespace {

constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --page: #fff; --text: #1c2330; --faint: #5b6472; --rule: #d8dde5; --mark: #0b62c4;
        --trial: #8a94a3; --roof: #b4460a; --code: #f4f6f9; }
@media (prefers-color-scheme: dark) {
  :root { --page: #14181f; --text: #e6eaf0; --faint: #a3adba; --rule: #39424f; --mark: #6cb2ff; --trial: #7d8796;
          --roof: #ff9a5c; --code: #1d232c; } }
body { background: var(--page); color: var(--text); font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 60rem;
       padding: 1rem; overflow-wrap: break-word; }
h1 { font-size: 1.5rem; line-height: 1.25; } h2 { font-size: 1.2rem; margin-top: 2rem; }
.rate { font-size: 2rem; font-weight: 600; color: var(--mark); margin: 0; }
.faint { color: var(--faint); }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(22rem, 100%), 1fr)); gap: 1rem; }
figure { margin: 0; } figcaption { color: var(--faint); font-size: 0.9rem; }
svg { display: block; width: 100%; height: auto; } svg text { fill: var(--faint); font: 10px system-ui, sans-serif; }
.grid { stroke: var(--rule); stroke-width: 0.6; }
.trial { fill: var(--trial); fill-opacity: 0.6; } .best-trial { fill: var(--mark); }
.best, .roof { fill: none; stroke: var(--mark); stroke-width: 1.6; } .roof { stroke: var(--roof); stroke-dasharray: 5 3; }
.bar { fill: var(--mark); } .other { fill: var(--trial); }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-size: 0.9rem; }
th, td { border-bottom: 1px solid var(--rule); padding: 0.25rem 0.8rem 0.25rem 0; text-align: left; vertical-align: top; }
code, pre { font: 0.85rem ui-monospace, monospace; } pre { background: var(--code); overflow-x: auto; padding: 0.8rem;
       overflow-wrap: normal; } .commands { white-space: pre-wrap; overflow-wrap: anywhere; }
@media (max-width: 30rem) { table { font-size: 0.8rem; } th, td { padding-right: 0.4rem; } }
@media print { body { max-width: none; } pre { white-space: pre-wrap; } }
)";

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
      case '\t':
        result += "&#160;";
        break;
      default:
        result += (c >= ' ' && c <= '~') || c == '\n' ? c : '?';
    }
  }
  return result;
}

std::string html_head(std::string_view title) {
  const std::string shown = escape_html(title);
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>" +
         shown + "</title>\n<style>" + std::string(kStyle) + "</style>\n</head>\n<body>\n<h1>" + shown + "</h1>\n";
}

std::string html_table(const TableRow& head, const std::vector<TableRow>& rows) {
  std::string text = "<div class=\"wide\"><table>\n<thead>" + html_row(head, "th") + "</thead>\n<tbody>\n";
  for (const TableRow& row : rows) text += html_row(row, "td");
  return text + "</tbody></table></div>\n";
}

}  // namespace stencil_tune
