#include "generator/definition/corpus.hpp"

#include "generator/cut/zones.hpp"
#include "generator/stencil/derivatives/adjoint.hpp"
#include "generator/stencil/step.hpp"
#include "generator/suggest.hpp"
#include "stencil_tune/batch.hpp"
#include "stencil_tune/definition.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace stencil_tune {
namespace {

constexpr std::string_view kFolder = "corpus/";
constexpr std::string_view kEnding = ".toml";

std::string_view name_of(const TemplateFile& file) {
  return file.name.substr(kFolder.size(), file.name.size() - kFolder.size() - kEnding.size());
}

bool is_builtin(std::string_view name) {
  const auto names = builtin_names();
  return std::find(names.begin(), names.end(), name) != names.end() || name.ends_with("-symmetric");
}

}  // namespace

std::vector<std::string> equation_names() {
  std::vector<std::string> names;
  for (const TemplateFile& file : corpus_files()) {
    if (!is_builtin(name_of(file))) names.emplace_back(name_of(file));
  }
  return names;
}

Stencil find_stencil(std::string_view name) {
  if (is_builtin(name)) return find_builtin(name);
  for (const TemplateFile& file : corpus_files()) {
    if (name_of(file) == name) return parse_definition(file.text, file.name);
  }
  std::vector<std::string> names = builtin_names();
  for (std::string& equation : equation_names()) names.push_back(std::move(equation));
  throw Error(ErrorCode::unknown_name,
              fmt::format("unknown stencil '{}'{} (`stencil-tune stencils` lists all; a definition file is named by "
                          "its path, which ends in .toml)",
                          name.substr(0, 60), did_you_mean(name, names)));
}

namespace {

/// Those that are known.
void add_steps_back(const Stencil& stencil, std::vector<Stencil>& found) try {
  found.push_back(adjoint_step_of(stencil, {}));
  for (const int field : analyse_step(stencil).constants) {
    if (is_profile(stencil, field) || layer_axis(stencil, field) >= 0) continue;
    found.push_back(adjoint_step_of(stencil, {stencil.fields[static_cast<std::size_t>(field)]}));
  }
} catch (const Error& error) {
  if (error.code() != ErrorCode::invalid_argument) throw;
}

/// What winners of the name may be of: the stencil of the corpus, the same for a batch of grids, and where it has
/// layers steps back of both, with the gradient of one of the fields that steps leave alone, or of none.
std::vector<Stencil> named(std::string_view name) {
  std::vector<Stencil> found{find_stencil(name)};
  if (found.front().rank < kMaxRank) found.push_back(batched(found.front()));
  if (found.front().layer_fields.empty()) return found;
  for (const Stencil& stencil : std::vector<Stencil>(found)) add_steps_back(stencil, found);
  return found;
}

}  // namespace

std::optional<Stencil> known_stencil(std::string_view name, std::string_view key) {
  try {
    for (Stencil& stencil : named(name)) {
      if (stencil_key(stencil) == key) return std::move(stencil);
      if (auto zone = zone_stencil(stencil, key)) return std::move(zone->stencil);
    }
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unknown_name) throw;
  }
  return std::nullopt;
}

}  // namespace stencil_tune
