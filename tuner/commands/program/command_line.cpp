#include "tuner/commands/program/command_line.hpp"

#include "generator/suggest.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/commands/program/help_text.hpp"
#include "tuner/terminal/wrap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace stencil_tune {
namespace {

/// Options of other verbs, which people try at the wrong one.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kElsewhere{
    {{"--output", "`export` and `report` write files: -o FILE"},
     {"-o", "`export` and `report` write files: -o FILE"},
     {"--code", "`export` has it; to tune given candidates, --candidates"},
     {"--suite", "`bench` has it"},
     {"--csv", "`list` has it; here there is --json"},
     {"--dry-run", "`tune` has it"}}};

Error unknown_option(const std::string& option, const po::options_description& known) {
  std::vector<std::string> names;
  for (const auto& [name, hint] : kElsewhere) {
    if (option == name) return {ErrorCode::unknown_name, fmt::format("unknown option '{}' here; {}", option, hint)};
  }
  for (const auto& description : known.options()) names.push_back("--" + description->long_name());
  return {ErrorCode::unknown_name, fmt::format("unknown option '{}'{}", option, did_you_mean(option, names))};
}

/// "; --order R: points on each side of the centre, 1 to 16"
std::string meaning_of(const po::error_with_option_name& error, const po::options_description& known) {
  std::string name = error.get_option_name();
  name.erase(0, name.find_first_not_of('-'));
  const po::option_description* option = known.find_nothrow(name, false);
  return option == nullptr ? "" : fmt::format("; {}: {}", spelling(*option), option->description());
}

}  // namespace

CommandLine::CommandLine(std::string usage, std::string what, std::string examples)
    : usage_(std::move(usage)), what_(std::move(what)), examples_(std::move(examples)) {}

po::options_description& CommandLine::group(const std::string& title) {
  for (const auto& [known, options] : groups_) {
    if (known == title) return *options;
  }
  groups_.emplace_back(title, std::make_unique<po::options_description>(title));
  return *groups_.back().second;
}

void CommandLine::positional(const char* name, int most) {
  hidden_.add_options()(name, po::value<std::vector<std::string>>());
  positional_.add(name, most);
}

std::optional<po::variables_map> CommandLine::parse(const Arguments& arguments) {
  po::options_description visible;
  po::options_description help;
  help.add_options()("help,h", "this text");
  visible.add(help);
  for (const auto& [title, options] : groups_) visible.add(*options);
  po::options_description all;
  all.add(visible).add(hidden_);

  po::variables_map values;
  try {
    const auto style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
    po::store(po::command_line_parser(arguments).options(all).positional(positional_).style(style).run(), values);
    po::notify(values);
  } catch (const po::unknown_option& error) {
    throw unknown_option(error.get_option_name(), visible);
  } catch (const po::too_many_positional_options_error&) {
    throw Error(ErrorCode::invalid_argument, fmt::format("too many words; usage: {}", usage_));
  } catch (const po::error_with_option_name& error) {
    throw Error(ErrorCode::invalid_argument, fmt::format("{}{}", error.what(), meaning_of(error, visible)));
  } catch (const po::error& error) {
    throw Error(ErrorCode::invalid_argument, fmt::format("{}; usage: {}", error.what(), usage_));
  }
  if (values.count("help") == 0) return values;

  fmt::print("{}", help_text(visible, help));
  return std::nullopt;
}

std::string CommandLine::help_text(const po::options_description& visible, const po::options_description& help) const {
  const Terminal terminal = help_terminal();
  const std::size_t width = width_of_options(visible, terminal);
  std::string text = wrap_lines("usage: " + usage_ + "\n", terminal.columns, "         ") + "\n";
  text += wrap_lines(what_, terminal.columns) + "\n" + options_help("", help, width, terminal);
  for (const auto& [title, options] : groups_) text += options_help(title, *options, width, terminal);
  text += "\n" + styled(terminal, Style::heading, "examples:") + "\n";
  return text + examples_help(examples_, terminal.columns);
}

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

}  // namespace stencil_tune
