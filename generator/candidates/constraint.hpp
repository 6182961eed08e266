// A named constraint: what makes a candidate legal for a problem, judged before anything is compiled.
#pragma once

#include "generator/candidates/limits.hpp"
#include "generator/candidates/shape.hpp"
#include "generator/stencil/axis_names.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace stencil_tune {

/// What is violated, with the numbers; nothing when the candidate keeps the constraint.
using Verdict = std::optional<std::string>;

struct Constraint {
  std::string_view name;     ///< "threads_per_block"
  std::string_view meaning;  ///< one sentence
  Verdict (*violation)(const Candidate&, const Limits&);
};

inline constexpr int kWarpSize = 32;

inline std::int64_t widest_bytes(const Problem& problem) {
  return static_cast<std::int64_t>(widest_cell_bytes(problem));
}
inline std::int64_t storage_bytes(const Problem& problem) { return static_cast<std::int64_t>(size_of(problem.type)); }

}  // namespace stencil_tune
