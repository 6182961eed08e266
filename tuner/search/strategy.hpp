// The one interface of search: what to try next, and what came of it.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

namespace stencil_tune {

/// A candidate, and another one that was reported before and is the same kernel, launched otherwise.
template <class Candidate>
struct Relaunch {
  Candidate candidate;
  Candidate compiled;
};

/// Proposes candidates and learns from their times. Proposals may run ahead of reports: several candidates are being
/// compiled while one is timed, so propose() may be called many times between two reports.
template <class Candidate>
class SearchStrategy {
 public:
  virtual ~SearchStrategy() = default;

  virtual std::string_view name() const = 0;

  /// A legal candidate never proposed before and not among the known ones; nothing when the strategy has no more, or
  /// has found none in the time that it may take (has_more).
  virtual std::optional<Candidate> propose() = 0;

  /// Whether a strategy that proposed nothing may be asked again.
  virtual bool has_more() const { return false; }

  using IsCompiled = std::function<bool(const Candidate&)>;

  /// A candidate like those of propose(), but one that no compiler is needed for: another launch of one that is
  /// compiled. Nothing where no such one may be as fast as the best.
  virtual std::optional<Relaunch<Candidate>> propose_relaunch(const IsCompiled&) { return std::nullopt; }

  /// time_ms of a proposed (or known) candidate; infinity when it failed.
  virtual void report(const Candidate& candidate, double time_ms) = 0;
};

}  // namespace stencil_tune
