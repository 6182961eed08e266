// What a session tries next, and the compilers that work ahead of the device.
#pragma once

#include "tuner/search/strategy.hpp"
#include "tuner/workers/worker.hpp"

#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace stencil_tune {

/// First come incumbents, warm starts and baselines, then what the strategy proposes, none of them twice.
class CandidateQueue {
 public:
  /// `most`: new candidates that are submitted ahead, incumbents apart; 0: no limit. `devices`: that work side by
  /// side. The others must outlive this.
  CandidateQueue(SearchStrategy<std::string>& strategy, CompileWorkers& compilers, int most, int devices = 1)
      : strategy_(strategy), compilers_(compilers), most_(most), devices_(devices) {}

  /// A known candidate, compiled anew because the race needs its binary.
  void add_incumbent(const std::string& code);
  void add_warm_start(const std::string& code);
  void add_before_all(const std::string& code);            ///< a warm start too
  void add_baseline(const std::string& code, bool known);  ///< one that is known is not tried again

  bool is_baseline(const std::string& code) const { return baselines_.contains(code); }
  bool is_incumbent(const std::string& code) const { return incumbents_.contains(code); }

  /// Whether it is tried without the strategy's asking for it.
  bool comes_first(const std::string& code) const;

  /// Whether it was one; from here on it is none.
  bool take_incumbent(const std::string& code) { return incumbents_.erase(code) > 0; }

  /// Keeps every compile process busy and a little work ready for the device, but no more: a candidate that is
  /// submitted now was chosen without the results of those that wait. Returns the new candidates. Asks for no further
  /// one when `goes_on` says no.
  std::vector<std::string> submit_ahead(const std::function<bool()>& goes_on);

  /// One more, beside the queue.
  void submit(const std::string& code) { compilers_.submit(code); }

  /// Whether a compiler is done with one.
  bool has_compiled();

  /// The next that a compiler is done with; waits a moment where there is none.
  std::optional<CompileResult> next_compiled();

  /// Candidates with the compilers, or compiled and waiting.
  int outstanding() const { return compilers_.pending() + static_cast<int>(ready_.size()); }

  /// The strategy has no more, and nothing waits.
  bool is_exhausted() const { return strategy_is_done_ && outstanding() == 0; }

 private:
  std::optional<std::string> next_candidate();

  SearchStrategy<std::string>& strategy_;
  CompileWorkers& compilers_;
  int most_;
  int devices_;
  int submitted_ = 0;              // new candidates
  std::deque<std::string> first_;  // before the strategy is asked
  std::set<std::string> incumbents_, warm_starts_, baselines_;
  std::deque<CompileResult> ready_;  // compiled, waiting for the device
  bool strategy_is_done_ = false;
};

}  // namespace stencil_tune
