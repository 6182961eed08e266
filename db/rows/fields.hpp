// The columns of a trial, listed once and in the order of the schema: storing, reading, checksums and exchange all
// walk this list. Changing it needs a migration (schema.cpp) and a new exchange version (exchange.cpp).
#pragma once

#include "db/records.hpp"
#include "stencil_tune/grid.hpp"

#include <string_view>
#include <type_traits>

namespace stencil_tune {

/// The columns that tell problems apart; the name is for people. `Problem` is ProblemKey, const or not.
template <typename Problem, typename Visitor>
void visit_problem_identity(Problem& problem, Visitor&& visit) {
  visit("stencil_key", problem.stencil_key);
  visit("stage", problem.stage);
  visit("type", problem.type);
  visit("boundary_x", problem.boundaries[0]);
  visit("boundary_y", problem.boundaries[1]);
  visit("boundary_z", problem.boundaries[2]);
  visit("rank", problem.extents.rank);
  visit("nx", problem.extents.n[0]);
  visit("ny", problem.extents.n[1]);
  visit("nz", problem.extents.n[2]);
  visit("pitch", problem.pitch);
  visit("steps", problem.steps);
  visit("sizes", problem.sizes);
}

template <typename Platform, typename Visitor>
void visit_platform(Platform& platform, Visitor&& visit) {
  visit("gpu", platform.gpu);
  visit("architecture", platform.architecture);
  visit("driver", platform.driver);
  visit("model", platform.model);
  visit("nvrtc", platform.nvrtc);
  visit("template_signature", platform.template_signature);
}

/// All columns but id and checksum.
template <typename Trial, typename Visitor>
void visit_trial(Trial& trial, Visitor&& visit) {
  visit("kind", trial.problem.kind);
  visit_problem_identity(trial.problem, visit);
  visit("stencil_name", trial.problem.stencil_name);
  visit("form", trial.problem.form);
  visit("unit", trial.problem.unit);
  visit_platform(trial.platform, visit);
  visit("machine_code", trial.machine_code);
  visit("code", trial.code);
  visit("outcome", trial.outcome);
  visit("message", trial.message);
  visit("median_ms", trial.timing.median_ms);
  visit("low_ms", trial.timing.low_ms);
  visit("high_ms", trial.timing.high_ms);
  visit("samples", trial.timing.samples);
  visit("rate", trial.rate);
  visit("ceiling_gbs", trial.ceiling_gbs);
  visit("share", trial.share);
  visit("registers", trial.registers);
  visit("spill_bytes", trial.spill_bytes);
  visit("shared_bytes", trial.shared_bytes);
  visit("occupancy", trial.occupancy);
  visit("predicted", trial.predicted);
  visit("raced", trial.raced);
  visit("session", trial.session);
  visit("created_at", trial.created_at);
  visit("sharpness", trial.sharpness);
  visit("sharpness_note", trial.sharpness_note);
  visit("plan", trial.plan);
  visit("objective", trial.objective);
  visit("sustained_rate", trial.sustained_rate);
  visit("watts", trial.watts);
  visit("nanojoules", trial.nanojoules);
  visit("sm_clock_mhz", trial.sm_clock_mhz);
  visit("memory_clock_mhz", trial.memory_clock_mhz);
  visit("throttle", trial.throttle);
}

/// Enumerations are kept as the names they print.
template <typename Value>
inline constexpr bool kIsNamed =
    std::is_same_v<Value, ElementType> || std::is_same_v<Value, Boundary> || std::is_same_v<Value, Outcome> ||
    std::is_same_v<Value, SubjectKind> || std::is_same_v<Value, Objective>;

inline void parse_name(std::string_view text, ElementType& value) { value = parse_element_type(text); }
inline void parse_name(std::string_view text, Boundary& value) { value = parse_boundary(text); }
inline void parse_name(std::string_view text, Outcome& value) { value = parse_outcome(text); }
inline void parse_name(std::string_view text, SubjectKind& value) { value = parse_subject_kind(text); }
inline void parse_name(std::string_view text, Objective& value) { value = parse_objective(text); }

/// Walks any list of fields and calls `use` with what a column holds: text, integer, real or flag.
template <typename Use>
auto as_columns(Use&& use) {
  return [&use](std::string_view column, const auto& value) {
    using Value = std::remove_cvref_t<decltype(value)>;
    if constexpr (kIsNamed<Value>) {
      use(column, name(value));
    } else if constexpr (std::is_same_v<Value, std::string>) {
      use(column, std::string_view(value));
    } else {
      use(column, value);
    }
  };
}

}  // namespace stencil_tune
