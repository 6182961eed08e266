// stencil-tune stencils [list | show NAME|FILE]
#include "generator/describe.hpp"
#include "generator/suggest.hpp"
#include "stencil_tune/error.hpp"
#include "stencil_tune/library.hpp"
#include "stencil_tune/stencil.hpp"
#include "tuner/commands/command.hpp"
#include "tuner/commands/command_line.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace stencil_tune {
namespace {

void list_stencils() {
  for (const std::string& stencil_name : builtin_names()) {
    const Stencil stencil = find_builtin(stencil_name);
    const StageFacts facts = analyse(stencil, 0);
    fmt::print("{:<14} {}D, {} points, order {}, {} operations an update\n", stencil_name, stencil.rank,
               facts.taps.size(), *std::max_element(facts.radius.begin(), facts.radius.end()), facts.operations);
  }
  fmt::print("\nany star or box also as --shape star|box --order R --rank 1|2|3\n");
}

}  // namespace

int run_stencils(const Arguments& arguments) {
  CommandLine line(
      "stencil-tune stencils [list | show NAME|FILE]",
      "Stencils known by name, or what was understood of one or of a definition file: points, radius, "
      "linearity,\noperations, bytes, its shape.\n",
      "  stencil-tune stencils\n  stencil-tune stencils show heat3d\n  stencil-tune stencils show my_stencil.toml\n");
  line.positional("words", 2);
  const auto values = line.parse(arguments);
  if (!values) return 0;
  const auto words =
      values->count("words") > 0 ? (*values)["words"].as<std::vector<std::string>>() : std::vector<std::string>{"list"};
  if (words[0] == "list" && words.size() == 1) {
    list_stencils();
  } else if (words[0] == "show" && words.size() == 2) {
    fmt::print("{}", describe(load_stencil(words[1])));
  } else if (words[0] == "show") {
    throw Error(ErrorCode::invalid_argument, "show which stencil? `stencil-tune stencils` lists the names");
  } else {
    throw Error(ErrorCode::unknown_name,
                fmt::format("stencils {}: not known{}", words[0], did_you_mean(words[0], {"list", "show"})));
  }
  return 0;
}

}  // namespace stencil_tune
