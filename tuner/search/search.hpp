// Search strategies: which candidate to try next.
#pragma once

#include "generator/candidates/space.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace stencil_tune {

/// Proposes candidates and learns from their scores. Proposals run ahead of reports: several candidates are being
/// compiled while one is timed, so propose() may be called many times between two reports.
class Strategy {
 public:
  virtual ~Strategy() = default;

  virtual std::string_view name() const = 0;

  /// A legal candidate never proposed before and not among the known ones; nothing when the strategy has no more.
  virtual std::optional<Tuning> propose() = 0;

  /// time_ms of a proposed (or known) candidate; infinity when it failed.
  virtual void report(const Tuning& tuning, double time_ms) = 0;
};

/// Ranks candidates; a lower cost is better.
class CostModel {
 public:
  virtual ~CostModel() = default;
  virtual double cost(const Tuning& tuning) const = 0;  ///< predicted ms
};

std::unique_ptr<Strategy> make_exhaustive(const Space& space);
/// These candidates in this order, and no others. Throws Error(illegal_candidate) naming the constraint.
std::unique_ptr<Strategy> make_listed(const Space& space, const std::vector<Tuning>& candidates);
std::unique_ptr<Strategy> make_random(const Space& space, std::uint64_t seed);
/// The default: iterated local search that starts at the model's optima of every template.
std::unique_ptr<Strategy> make_local(const Space& space, const CostModel& model, std::uint64_t seed);

}  // namespace stencil_tune
