#include "db/stored_code.hpp"

#include "generator/candidates/constraints.hpp"
#include "generator/definition/corpus.hpp"
#include "generator/kernel_source/signature.hpp"
#include "generator/printable.hpp"
#include "generator/user_kernel/configuration.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <utility>

namespace stencil_tune {
namespace {

/// The code's values; nothing where it does not parse.
std::optional<Tuning> read_code(const std::string& code) {
  try {
    return parse_code(code);
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// The problem, where its stencil is known by name.
std::optional<Problem> known_problem(const ProblemKey& key) {
  std::optional<Stencil> stencil = known_stencil(key.stencil_name, key.stencil_key);
  if (!stencil) return std::nullopt;
  return problem_of(key, *std::move(stencil));
}

/// The first thing that `judge` finds wrong with the candidate, parsing included.
template <typename Judge>
std::optional<std::string> objection(const TrialRecord& trial, Judge&& judge) {
  try {
    const std::optional<Violation> violation = judge(parse_code(trial.code));
    if (!violation) return std::nullopt;
    return fmt::format("{}: {}: {}", trial.code, violation->constraint, violation->message);
  } catch (const Error& error) {
    return printable(fmt::format("{}: {}", trial.code, error.what()));
  }
}

}  // namespace

Problem problem_of(const ProblemKey& key, Stencil stencil) {
  return make_problem(std::move(stencil), key.type, key.boundaries, key.extents, key.pitch, key.steps, key.stage);
}

std::optional<std::string> objection_to(const TrialRecord& trial, const Problem& problem) {
  return objection(trial, [&](const Tuning& tuning) {
    return first_violation({problem, tuning}, limits_of_architecture(trial.platform.architecture));
  });
}

std::optional<std::string> objection_to(const TrialRecord& trial) {
  if (trial.problem.kind == SubjectKind::kernel) {
    if (is_configuration_code(trial.code)) return std::nullopt;
    return printable(fmt::format("{}: no configuration of a kernel", trial.code));
  }
  return objection(trial, [&](const Tuning& tuning) -> std::optional<Violation> {
    const auto problem = known_problem(trial.problem);
    if (!problem) return std::nullopt;
    return first_violation({*problem, tuning}, limits_of_architecture(trial.platform.architecture));
  });
}

bool is_readable(const TrialRecord& trial) {
  if (trial.problem.kind == SubjectKind::kernel) return is_configuration_code(trial.code);
  return read_code(trial.code).has_value();
}

bool is_stale(const TrialRecord& trial) {
  if (trial.problem.kind == SubjectKind::kernel) return false;
  const auto tuning = read_code(trial.code);
  return tuning && trial.platform.template_signature != template_signature(*tuning);
}

}  // namespace stencil_tune
