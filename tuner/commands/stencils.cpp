// stencil-tune stencils [list | show NAME|FILE]
#include "generator/stencil/describe.hpp"
#include "generator/suggest.hpp"
#include "stencil_tune/definition.hpp"
#include "stencil_tune/error.hpp"
#include "stencil_tune/library.hpp"
#include "stencil_tune/stencil.hpp"
#include "tuner/commands/command.hpp"
#include "tuner/commands/program/command_line.hpp"
#include "tuner/terminal/counted.hpp"
#include "tuner/terminal/print_fitted.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace stencil_tune {
namespace {

constexpr const char* kUsage = "stencil-tune stencils [list | show NAME|FILE]";
constexpr int kOrdersListed = 4;

/// What one sweep of it is; of a step of several stages, of how many.
std::string summary(const Stencil& stencil) {
  if (stencil.stages.size() > 1) {
    return fmt::format("{}, {} a step", counted(stencil.fields.size(), "field"),
                       counted(stencil.stages.size(), "stage"));
  }
  const StageFacts facts = analyse(stencil, 0);
  return fmt::format("{}, order {}, {} operations an update", counted(facts.taps.size(), "point"),
                     *std::max_element(facts.radius.begin(), facts.radius.end()), facts.operations);
}

void print_line(const Stencil& stencil) {
  print_fitted("{:<23}  {}D, {}\n", stencil.name, stencil.rank, summary(stencil));
}

/// The equations, and the first of the stars and boxes: there are 96 of them, each in two forms.
void list_stencils() {
  for (const std::string& stencil_name : builtin_names()) {
    if (!stencil_name.ends_with('r')) print_line(find_builtin(stencil_name));
  }
  for (const std::string& stencil_name : equation_names()) print_line(find_stencil(stencil_name));
  for (const Shape shape : {Shape::star, Shape::box}) {
    for (int rank = 1; rank <= kMaxRank; ++rank) {
      for (int order = 1; order <= kOrdersListed; ++order) print_line(make_builtin(shape, rank, order));
    }
  }
  print_fitted(
      "\nstars and boxes go up to order 16: star3d16r, or --shape star --rank 3 --order 16; with one coefficient a "
      "distance in place of one a point: star3d2r-symmetric, or --coefficients symmetric\n");
}

}  // namespace

int run_stencils(const Arguments& arguments) {
  CommandLine line(
      kUsage,
      "Stencils known by name, or what was understood of one or of a definition file: points, radius, "
      "linearity, operations, bytes, its shape.\n",
      "  stencil-tune stencils\n  stencil-tune stencils show heat3d\n  stencil-tune stencils show my_stencil.toml\n");
  line.positional("words", 2);
  const auto values = line.parse(arguments);
  if (!values) return 0;
  const auto words =
      values->count("words") > 0 ? (*values)["words"].as<std::vector<std::string>>() : std::vector<std::string>{"list"};
  if (words[0] == "list" && words.size() == 1) {
    list_stencils();
  } else if (words[0] == "show" && words.size() == 2) {
    print_fitted("{}", describe(load_stencil(words[1])));
  } else if (words[0] == "show") {
    throw Error(ErrorCode::invalid_argument, "show which stencil? `stencil-tune stencils` lists the names");
  } else {
    throw Error(ErrorCode::unknown_name, fmt::format("stencils {}: not known{}; usage: {}", fmt::join(words, " "),
                                                     did_you_mean(words[0], {"list", "show"}), kUsage));
  }
  return 0;
}

}  // namespace stencil_tune
