// Named constraints: what makes a candidate legal for a problem, judged before anything is compiled.
#pragma once

#include "generator/candidates/tuning.hpp"
#include "generator/stencil/problem.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace stencil_tune {

/// What an architecture allows; plain numbers, no GPU needed.
struct Limits {
  int compute_capability = 90;  ///< 90 for sm_90
  int max_threads_per_block = 1024;
  int max_registers_per_thread = 255;
  int registers_per_sm = 65536;
  int max_threads_per_sm = 2048;
  int max_blocks_per_sm = 32;
  std::size_t shared_per_block = 232448;  ///< with opt-in, bytes
  std::size_t shared_per_sm = 233472;

  bool has_clusters() const noexcept { return compute_capability >= 90; }  ///< of blocks
  bool operator==(const Limits&) const = default;
};

/// "sm_90" -> limits. Throws Error(unknown_name) for what is not sm_NN with NN >= 70.
Limits limits_of_architecture(std::string_view arch);

struct Constraint {
  std::string_view name;     ///< "threads_per_block"
  std::string_view meaning;  ///< one sentence
  /// What is violated, with the numbers; nothing when the candidate keeps it.
  std::optional<std::string> (*violation)(const Problem&, const Limits&, const Tuning&);
};

std::span<const Constraint> constraints();

struct Violation {
  std::string_view constraint;
  std::string message;
};

/// The first constraint the candidate breaks, in table order.
std::optional<Violation> first_violation(const Problem& problem, const Limits& limits, const Tuning& tuning);
bool is_legal(const Problem& problem, const Limits& limits, const Tuning& tuning);

}  // namespace stencil_tune
