// The fastest candidates so far with their binaries: the finalists of the race.
#pragma once

#include "tuner/workers/worker.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace stencil_tune {

struct Finalists {
  std::vector<CodedKernel> candidates;
  int under_load = 0;  ///< so many of them, from the first on, race under load too
};

/// Whoever wins in a burst often loses a run: what draws less power keeps its clocks. Under load there race all within
/// 15 % of the fastest, and the fastest of each kind (Subject::kinds).
class Contenders {
 public:
  /// So many of the fastest race in bursts. under_load: whether any race under load. The subject must outlive it.
  Contenders(const Subject& subject, std::size_t most, bool under_load)
      : subject_(subject), most_(most), under_load_(under_load) {}

  /// Keeps the candidate while it may be a finalist. is_sure: it is one however slow in a burst, as it won before.
  void add(const std::string& code, CompiledKernel kernel, double time_ms, bool is_sure = false);

  using Condition = std::function<bool(const std::string& code)>;
  bool any(const Condition& condition) const;
  /// Drops all others.
  void keep(const Condition& condition);

  /// The codes of those that take() would give.
  std::vector<std::string> finalists(int most_under_load) const;

  /// No more than so many race under load: the fastest and those that are sure first, then those of other
  /// kinds that are not far behind, then the rest within 15 %. None is left here.
  Finalists take(int most_under_load);

 private:
  struct Contender {
    double time_ms = 0;
    std::string code;
    std::vector<std::string> kinds;
    CompiledKernel kernel;
    bool is_sure = false;
    bool leads = false;  ///< the fastest of one of its kinds
  };

  bool is_close(const Contender& contender, double factor) const {
    return contender.time_ms <= factor * contenders_.front().time_ms;
  }
  void mark_leaders();

  struct Choice {
    std::vector<std::size_t> places;  ///< in contenders_
    int under_load = 0;
  };
  Choice choose(int most_under_load) const;

  const Subject& subject_;
  std::size_t most_;
  bool under_load_;
  std::vector<Contender> contenders_;  // fastest first
};

}  // namespace stencil_tune
