// Winners that nobody tuned: with them in a database, lookup gives the kernels that a test wants.
#include "db/merge.hpp"
#include "generator/candidates/constraints.hpp"
#include "generator/candidates/family.hpp"
#include "generator/candidates/limits.hpp"
#include "generator/kernel_source/signature.hpp"
#include "runtime/bindings/c_handles.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace stencil_tune {
namespace {

constexpr const char* kArchitecture = "sm_90";  // architecture of FakeDriver's GPUs
constexpr int kTries = 300;                     // for the first legal one; a walk of a tenth goes on from there

/// Where the family fuses steps, `fused` of them, or what it can.
std::optional<Tuning> draw(const Problem& problem, const Family& family, int fused, std::mt19937_64& random) {
  const Limits limits = limits_of_architecture(kArchitecture);
  if (!family.serves(problem)) return std::nullopt;
  const auto legal = [&](const Tuning& tuning) { return is_legal({problem, tuning}, limits); };
  const auto change = [&](Tuning& tuning, const Parameter& parameter) {
    parameter.set(tuning, parameter.values[random() % parameter.values.size()]);
  };
  const std::vector<Tuning> defaults = family.defaults(problem);
  std::optional<Tuning> found;
  for (int tries = 0; tries < kTries && !found; ++tries) {
    Tuning tuning = defaults[static_cast<std::size_t>(tries) % defaults.size()];
    if (static_cast<std::size_t>(tries) >= defaults.size()) {
      for (const Parameter& parameter : family.parameters) change(tuning, parameter);
    }
    if (family.fuses_steps && tries < kTries / 2) tuning.steps = fused;
    tuning = with_used_values_alone(tuning);
    if (legal(tuning)) found = tuning;
  }
  for (int tries = 0; tries < kTries / 10 && found; ++tries) {
    Tuning next = *found;
    change(next, family.parameters[random() % family.parameters.size()]);
    next = with_used_values_alone(next);
    if (next.steps == found->steps && legal(next)) found = next;
  }
  return found;
}

WinnerRecord winner_of(const Problem& problem, const Tuning& tuning) {
  WinnerRecord record;
  record.trial.problem = {.stencil_key = stencil_key(problem.stencil),
                          .stencil_name = problem.stencil.name,
                          .form = stencil_form(problem.stencil, problem.stage),
                          .stage = problem.stage,
                          .type = problem.type,
                          .boundaries = problem.boundaries,
                          .extents = problem.extents,
                          .pitch = problem.pitch,
                          .steps = problem.steps};
  record.trial.platform = {.gpu = "Fake GPU",
                           .architecture = kArchitecture,
                           .driver = "13.0",
                           .nvrtc = "13.0",
                           .template_signature = template_signature(tuning)};
  record.trial.code = code(tuning);
  record.trial.timing = {.median_ms = 1, .low_ms = 1, .high_ms = 1, .samples = 1};
  record.trial.rate = 1;
  record.trial.raced = true;
  record.trial.session = "random";
  record.trial.created_at = "2026-01-01T00:00:00Z";
  return record;
}

}  // namespace
}  // namespace stencil_tune

/// Adds one of the family that the seed draws to the database, for one stage (-1: whole steps) of what is asked;
/// `fused` is how many steps a launch makes, where the family can. code: its code; empty where none is legal. Returns
/// 0, or 1 with a message in `code`.
extern "C" __attribute__((visibility("default"))) int on_host_add_winner(const char* database,
                                                                         const stencil_tune_request* request,
                                                                         const char* family, int stage, int fused,
                                                                         std::uint64_t seed, char* code,
                                                                         std::size_t size) {
  using namespace stencil_tune;
  const auto say = [&](const std::string& text) { std::snprintf(code, size, "%s", text.c_str()); };
  say("");
  try {
    const Request asked = to_request(*request);
    const Problem problem = make_problem(asked.stencil, asked.type, asked.boundaries, asked.extents, asked.pitch,
                                         fused > 1 ? asked.steps : 1, stage);
    std::mt19937_64 random(seed);
    const auto tuning = draw(problem, family_named(family), fused, random);
    if (!tuning) return 0;
    Database file = Database::open(database);
    const WinnerRecord winner = winner_of(problem, *tuning);
    merge_winners(file, {&winner, 1});
    say(winner.trial.code);
    return 0;
  } catch (const std::exception& error) {
    say(error.what());
    return 1;
  }
}
