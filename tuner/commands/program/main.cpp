// stencil-tune: the command line. The first word is the verb; without one it is `tune`.
#include "generator/printable.hpp"
#include "generator/suggest.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/commands/command.hpp"
#include "tuner/commands/commit.hpp"
#include "tuner/commands/program/help_text.hpp"
#include "tuner/commands/program/inherited_state.hpp"
#include "tuner/commands/program/interrupt.hpp"
#include "tuner/commands/winner/no_winner.hpp"
#include "tuner/session/say.hpp"
#include "tuner/terminal/wrap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <string>
#include <system_error>
#include <vector>

namespace stencil_tune {
namespace {

constexpr int kFailed = 1;
constexpr int kWrongUse = 2;

void print_help() {
  const Terminal terminal = help_terminal();
  const std::string what =
      fmt::format("stencil-tune {} finds the fastest CUDA kernel for a stencil on your GPU\n", STENCIL_TUNE_VERSION);
  fmt::print("{}\nusage: stencil-tune [VERB] [options]\n\n{}\n", wrap_lines(what, terminal.columns),
             styled(terminal, Style::heading, "verbs:"));
  for (const Command& command : commands()) {
    if (command.summary.empty()) continue;
    const std::string line = fmt::format("  {:<10} {}\n", command.name, command.summary);
    fmt::print("{}", wrap_lines(line, terminal.columns, "             "));
  }
  fmt::print("\n`stencil-tune help VERB` says more about each.\n\n{}\n{}",
             styled(terminal, Style::heading, "examples:"),
             examples_help("  stencil-tune --dims 512    tune the 3D 7-point star on 512^3 cells in f32\n"
                           "  stencil-tune list          what was found so far\n",
                           terminal.columns));
}

bool wrong_use(ErrorCode code) {
  return code == ErrorCode::invalid_argument || code == ErrorCode::unknown_name || code == ErrorCode::malformed_code ||
         code == ErrorCode::malformed_definition;
}

void complain(const std::string& what) {
  const Terminal terminal = terminal_of(stderr);
  constexpr std::string_view kName = "stencil-tune:";
  const std::string text = wrap_lines(fmt::format("{} {}", kName, printable_lines(what)), terminal.columns, "  ");
  say(stderr, styled(terminal, Style::error, kName) + text.substr(kName.size()) + "\n");
}

constexpr const char* kCannotWrite = "cannot write to standard output";

/// Standard output may be a full disk: then a file there is not whole.
void flush_output() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
  throw std::system_error(errno, std::generic_category(), kCannotWrite);
}

/// How many words an option takes that may stand before the verb, itself among them; 0: it is none of those.
std::size_t words_of_global_option(const std::string& word) {
  if (word == "--db") return 2;
  return word.starts_with("--db=") || word == "-q" || word == "--quiet" ? 1 : 0;
}

/// `--db FILE list` as `list --db FILE`.
void move_verb_to_front(Arguments& arguments) {
  std::size_t verb = 0;
  while (verb < arguments.size()) {
    const std::size_t words = words_of_global_option(arguments[verb]);
    if (words == 0) break;
    verb += words;
  }
  if (verb == 0 || verb >= arguments.size() || arguments[verb].starts_with('-')) return;
  const auto at = arguments.begin() + static_cast<std::ptrdiff_t>(verb);
  std::rotate(arguments.begin(), at, at + 1);
}

int run(Arguments arguments) {
  move_verb_to_front(arguments);
  if (arguments.size() > 1 && arguments.front() == "help") arguments = {arguments[1], "--help"};
  const std::string first = arguments.empty() ? "--help" : arguments.front();
  if (first == "--help" || first == "-h" || first == "help") {
    print_help();
    return 0;
  }
  if (first == "--version" || first == "version") {
    if (arguments.size() > 1) throw Error(ErrorCode::invalid_argument, "too many words; usage: stencil-tune --version");
    fmt::print("stencil-tune {} ({})\n", STENCIL_TUNE_VERSION, built_from_commit());
    return 0;
  }
  if (first.starts_with('-')) return run_tune(arguments);

  arguments.erase(arguments.begin());
  std::vector<std::string> names;
  for (const Command& command : commands()) {
    if (command.name == first) return command.run(arguments);
    if (!command.summary.empty()) names.emplace_back(command.name);
  }
  throw Error(ErrorCode::unknown_name, fmt::format("unknown verb '{}'{} (verbs: {})", first, did_you_mean(first, names),
                                                   fmt::join(names, ", ")));
}

}  // namespace
}  // namespace stencil_tune

int main(int argc, char** argv) {
  using namespace stencil_tune;
  mend_inherited_state();
  try {
    const int status = run(Arguments(argv + 1, argv + argc));
    flush_output();
    return status;
  } catch (const NoWinner& error) {
    complain(error.what());
    return kFailed;
  } catch (const Error& error) {
    complain(error.what());
    return InterruptGuard::exit_status(wrong_use(error.code()) ? kWrongUse : kFailed);
  } catch (const std::system_error& error) {
    const bool is_output = std::ferror(stdout) != 0;  // fmt's error says "file", whichever it is
    if (error.code() != std::errc::broken_pipe) {
      complain(is_output ? std::system_error(error.code(), kCannotWrite).what() : error.what());
    }
    return kFailed;
  } catch (const std::exception& error) {
    complain(fmt::format("internal error: {}", error.what()));
    return kFailed;
  }
}
