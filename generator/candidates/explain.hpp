// Why a candidate is legal or not, and what it costs: the text of `stencil-tune explain CODE`.
#pragma once

#include "generator/candidates/constraints.hpp"
#include "generator/candidates/textbook.hpp"
#include "generator/candidates/tile.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stencil_tune {

struct Explanation {
  Tuning tuning;
  std::vector<Violation> violations;  ///< all of them, in table order; empty when legal
  std::int64_t threads = 0;           ///< per block
  std::int64_t live_registers = 0;    ///< estimate, see generator/candidates/estimate.hpp

  /// What there is to say of a tile that is not empty.
  struct Figures {
    std::array<std::int64_t, kMaxRank> tile{};    ///< output cells of a block, kernel axes
    std::array<std::int64_t, kMaxRank> blocks{};  ///< over the whole grid, kernel axes
    SharedTile shared;
    Intensity intensity;
  };
  std::optional<Figures> figures;
};

Explanation explain_candidate(const Problem& problem, const Limits& limits, const Tuning& tuning);

/// The same for a person, several lines ending in a newline.
std::string explain(const Problem& problem, const Limits& limits, const Tuning& tuning);

}  // namespace stencil_tune
