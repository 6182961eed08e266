#include "tuner/commands/options/understood.hpp"

#include "generator/printable.hpp"
#include "generator/stencil/describe.hpp"
#include "tuner/session/say.hpp"
#include "tuner/terminal/terminal.hpp"
#include "tuner/terminal/wrap.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace stencil_tune {
namespace {

std::vector<std::string> names_of(const Stencil& stencil, const std::vector<int>& fields) {
  std::vector<std::string> names;
  for (const int field : fields) names.push_back(stencil.fields[static_cast<std::size_t>(field)]);
  return names;
}

std::string coefficients_text(const Stencil& stencil) {
  if (stencil.coefficients.empty()) return "none";
  std::vector<std::string> texts;
  for (const Coefficient& each : stencil.coefficients)
    texts.push_back(fmt::format("{} = {:.6g}", each.name, each.value));
  return fmt::format("{}", fmt::join(texts, ", "));
}

bool is_written(const Stencil& stencil, const StageFacts& facts, int field) {
  return std::find(facts.outputs.begin(), facts.outputs.end(), field) != facts.outputs.end() ||
         std::any_of(stencil.rotations.begin(), stencil.rotations.end(),
                     [&](const Rotation& rotation) { return rotation.to == field; });
}

std::vector<int> possibly_coefficients(const Stencil& stencil, const StageFacts& facts) {
  std::vector<int> found;
  for (const int field : facts.inputs) {
    const bool beyond_the_cell = std::any_of(facts.taps.begin(), facts.taps.end(), [&](const Tap& tap) {
      return tap.field == field && tap.offset != Offset{0, 0, 0};
    });
    const bool is_stored = storage_of(stencil, field, ElementType::f32) != ElementType::f32;
    if (!beyond_the_cell && !is_stored && !is_written(stencil, facts, field)) found.push_back(field);
  }
  return found.size() < facts.inputs.size() ? found : std::vector<int>();  // some field must be one
}

}  // namespace

std::string understood_text(const Stencil& stencil) {
  const StageFacts facts = analyse(stencil, 0);
  std::vector<std::string> read = names_of(stencil, facts.inputs);
  for (const Profile& profile : stencil.profiles) read.push_back(declared_name(stencil, profile.field));
  const std::string rotations = rotations_text(stencil);
  std::string text = fmt::format("understood: reads {}; writes {}; {}coefficients: {}\n", fmt::join(read, ", "),
                                 fmt::join(names_of(stencil, facts.outputs), ", "),
                                 rotations.empty() ? "" : rotations + "; ", coefficients_text(stencil));
  for (const std::string& field : names_of(stencil, possibly_coefficients(stencil, facts))) {
    text += fmt::format(
        "  {0} is read as a field. If it is a number, give it a value to make it a coefficient: --expr \"...; {0} = "
        "0.1\"\n",
        field);
  }
  return printable_lines(text);
}

void say_what_was_understood(const po::variables_map& values, const Stencil& stencil) {
  if (values.count("expr") > 0) say(stderr, wrap_lines(understood_text(stencil), terminal_of(stderr).columns, "  "));
}

}  // namespace stencil_tune
