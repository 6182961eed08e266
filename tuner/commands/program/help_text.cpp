#include "tuner/commands/program/help_text.hpp"

#include "tuner/terminal/wrap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <vector>

namespace stencil_tune {
namespace {

constexpr std::size_t kIndent = 2;
constexpr std::size_t kGap = 2;                        // between an option and what it means
constexpr int kShareOfOptions = 2;                     // options take at most one in so many of the columns
constexpr std::string_view kCommentIndent = "      ";  // indents a comment below its command

std::string option_help(const po::option_description& option, std::size_t first_column, int columns) {
  const std::string left = spelling(option);
  const std::size_t margin = kIndent + first_column + kGap;
  const int room = columns - static_cast<int>(margin);
  std::string text(kIndent, ' ');
  text += left;
  const bool beside = left.size() <= first_column;
  bool first = true;
  for (const std::string& line : wrap(option.description(), room)) {
    if (first && beside) {
      text += std::string(first_column - left.size() + kGap, ' ') + line;
    } else {
      text += "\n" + std::string(margin, ' ') + line;
    }
    first = false;
  }
  return text + "\n";
}

/// A command that is too long, on several lines as a shell reads them.
std::string continued(std::string_view command, int columns) {
  std::string text;
  for (const std::string& line : wrap(command, columns - 2)) text += (text.empty() ? "" : " \\\n    ") + line;
  return text;
}

std::string example_help(std::string_view line, int columns) {
  if (columns_of(line) <= static_cast<std::size_t>(columns)) return std::string(line) + "\n";
  const std::size_t front = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t command_end = std::min(line.find("  ", front), line.size());
  std::string text = continued(line.substr(0, command_end), columns) + "\n";
  const std::size_t comment = line.find_first_not_of(' ', command_end);
  if (comment == std::string_view::npos) return text;
  const int room = columns - static_cast<int>(kCommentIndent.size());
  for (const std::string& part : wrap(line.substr(comment), room)) (text.append(kCommentIndent) += part) += "\n";
  return text;
}

}  // namespace

std::string spelling(const po::option_description& option) {
  const std::string letter = option.canonical_display_name(po::command_line_style::allow_dash_for_short);
  std::string text = "--" + option.long_name();
  if (letter.size() == 2 && letter[0] == '-') text.insert(0, letter + ", ");
  if (!option.format_parameter().empty()) text += " " + option.format_parameter();
  return text;
}

std::size_t width_of_options(const po::options_description& options, const Terminal& terminal) {
  const auto most = static_cast<std::size_t>(terminal.columns / kShareOfOptions) - kIndent - kGap;
  std::size_t width = 0;
  for (const auto& option : options.options()) {
    if (const std::size_t size = spelling(*option).size(); size <= most) width = std::max(width, size);
  }
  return width;
}

std::string options_help(std::string_view title, const po::options_description& options, std::size_t first_column,
                         const Terminal& terminal) {
  std::string text;
  if (!title.empty()) text += "\n" + styled(terminal, Style::heading, fmt::format("{}:", title)) + "\n";
  for (const auto& option : options.options()) text += option_help(*option, first_column, terminal.columns);
  return text;
}

std::string examples_help(std::string_view examples, int columns) {
  std::string text;
  while (!examples.empty()) {
    const std::size_t end = std::min(examples.find('\n'), examples.size());
    text += example_help(examples.substr(0, end), columns);
    examples.remove_prefix(std::min(end + 1, examples.size()));
  }
  return text;
}

Terminal help_terminal() {
  Terminal terminal = terminal_of(stdout);
  if (terminal.columns == 0) terminal.columns = kPlainColumns;
  return terminal;
}

}  // namespace stencil_tune
