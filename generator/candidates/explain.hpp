// Why a candidate is legal or not, and what it costs: the text of `stencil-tune explain CODE`.
#pragma once

#include "generator/candidates/constraints.hpp"
#include "generator/candidates/shape.hpp"
#include "generator/candidates/textbook/textbook.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stencil_tune {

struct BrokenConstraint {
  std::string_view constraint;
  std::string_view meaning;
  std::string message;
};

struct Explanation {
  Tuning tuning;
  int constraints = 0;                       ///< how many constraints judged it
  std::vector<BrokenConstraint> violations;  ///< all of them, in their order; empty when legal
  KernelAxes axes;
  std::int64_t threads = 0;         ///< per block
  std::int64_t live_registers = 0;  ///< estimate, see KernelShape

  /// What there is to say of a tile that is not empty.
  struct Figures {
    Lengths tile{};    ///< output cells of a block, kernel axes
    Lengths blocks{};  ///< over the whole grid, kernel axes
    SharedTile shared;
    Intensity intensity;
  };
  std::optional<Figures> figures;
};

Explanation explain_candidate(const Candidate& candidate, const Limits& limits);

/// The same for a person, several lines ending in a newline.
std::string explain(const Problem& problem, const Limits& limits, const Tuning& tuning);

}  // namespace stencil_tune
