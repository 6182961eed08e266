#include "tuner/terminal/terminal.hpp"

#include <fmt/format.h>

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>

namespace stencil_tune {
namespace {

constexpr int kFewestColumns = 40;

/// The text of an environment variable; empty where it is not set.
std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

std::optional<int> asked_columns() {
  const std::string_view text = variable("COLUMNS");
  int columns = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), columns);
  if (error != std::errc{} || end != text.data() + text.size() || columns < 1) return std::nullopt;
  return columns;
}

int terminal_columns(std::FILE* stream) {
  winsize size{};
  if (ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return kPlainColumns;
}

bool wants_colour(bool is_terminal) {
  if (!variable("NO_COLOR").empty()) return false;
  const std::string_view force = variable("CLICOLOR_FORCE");
  if (!force.empty() && force != "0") return true;
  return is_terminal && variable("TERM") != "dumb";
}

std::string_view escape_of(Style style) {
  switch (style) {
    case Style::plain:
      return "";
    case Style::heading:
    case Style::winner:
      return "1";  // bold
    case Style::warning:
      return "33";  // yellow
    case Style::error:
      return "1;31";  // bold, red
  }
  return "";
}

}  // namespace

Terminal terminal_of(std::FILE* stream) {
  const bool is_terminal = isatty(fileno(stream)) != 0;
  Terminal terminal{0, wants_colour(is_terminal)};
  if (is_terminal) terminal.columns = std::max(kFewestColumns, asked_columns().value_or(terminal_columns(stream)));
  return terminal;
}

std::string styled(const Terminal& terminal, Style style, std::string_view text) {
  if (!terminal.colour || style == Style::plain || text.empty()) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", escape_of(style), text);
}

}  // namespace stencil_tune
