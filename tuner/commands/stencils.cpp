// stencil-tune stencils [list | show NAME]
#include "generator/suggest.hpp"
#include "stencil_tune/error.hpp"
#include "stencil_tune/stencil.hpp"
#include "tuner/commands/command.hpp"
#include "tuner/commands/command_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace stencil_tune {
namespace {

void list_stencils() {
  for (const std::string& stencil_name : builtin_names()) {
    const Stencil stencil = find_builtin(stencil_name);
    const StageFacts facts = analyse(stencil, 0);
    fmt::print("{:<14} {}D, {} points, order {}, {} operations an update\n", stencil_name, stencil.rank, facts.taps.size(),
               *std::max_element(facts.radius.begin(), facts.radius.end()), facts.operations);
  }
  fmt::print("\nany star or box also as --shape star|box --order R --rank 1|2|3\n");
}

// The shape's layers along the last axis, offset by offset: o the centre, x a point that is read.
std::string picture(const Stencil& stencil, const StageFacts& facts) {
  std::set<Offset> points;
  for (const Tap& tap : facts.taps) points.insert(tap.offset);
  const int rx = facts.radius[0], ry = facts.radius[1], rz = facts.radius[2];
  std::string text;
  for (int y = -ry; y <= ry; ++y) {
    for (int z = -rz; z <= rz; ++z) {
      for (int x = -rx; x <= rx; ++x) {
        const bool read = points.count({x, y, z}) > 0;
        text += x == 0 && y == 0 && z == 0 ? " o" : read ? " x" : " .";
      }
      text += "  ";
    }
    text += "\n";
  }
  if (stencil.rank == 3) text += fmt::format("(layers z = {}..{}, side by side)\n", -rz, rz);
  return text;
}

void show_stencil(const std::string& stencil_name) {
  const Stencil stencil = find_builtin(stencil_name);
  fmt::print("{}, {}D, key {}\n", stencil.name, stencil.rank, stencil_key(stencil));
  for (int stage = 0; stage < static_cast<int>(stencil.stages.size()); ++stage) {
    const StageFacts facts = analyse(stencil, stage);
    fmt::print("stage {}: {} points, radius {}, {}{}, {} operations and at least {} bytes (f32) an update\n{}", stage,
               facts.taps.size(), fmt::join(facts.radius.begin(), facts.radius.begin() + stencil.rank, "x"),
               facts.star ? "star, " : "", facts.linear ? "linear" : "not linear", facts.operations,
               minimal_bytes(facts, ElementType::f32), picture(stencil, facts));
  }
  if (!stencil.coefficients.empty()) {
    fmt::print("coefficients:");
    for (const Coefficient& coefficient : stencil.coefficients) fmt::print(" {}={:g}", coefficient.name, coefficient.value);
    fmt::print("\n");
  }
  fmt::print("canonical: {}\n", canonical_text(stencil));
}

}  // namespace

int run_stencils(const Arguments& arguments) {
  CommandLine line("stencil-tune stencils [list | show NAME]",
                   "Stencils known by name, or what one of them is: points, radius, linearity, operations, bytes.\n",
                   "  stencil-tune stencils\n  stencil-tune stencils show heat3d\n");
  line.positional("words", 2);
  const auto values = line.parse(arguments);
  if (!values) return 0;
  const auto words = values->count("words") > 0 ? (*values)["words"].as<std::vector<std::string>>()
                                                : std::vector<std::string>{"list"};
  if (words[0] == "list" && words.size() == 1) {
    list_stencils();
  } else if (words[0] == "show" && words.size() == 2) {
    show_stencil(words[1]);
  } else if (words[0] == "show") {
    throw Error(ErrorCode::invalid_argument, "show which stencil? `stencil-tune stencils` lists the names");
  } else {
    throw Error(ErrorCode::unknown_name,
                fmt::format("stencils {}: not known{}", words[0], did_you_mean(words[0], {"list", "show"})));
  }
  return 0;
}

}  // namespace stencil_tune
