// The fastest candidates so far with their binaries: the finalists of the race.
#pragma once

#include "generator/candidates/tuning.hpp"
#include "runtime/compile/compiler.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace stencil_tune {

struct Finalists {
  std::vector<std::pair<Tuning, CompiledKernel>> candidates;
  int under_load = 0;  ///< so many of them, from the first on, race under load too
};

/// Whoever wins in a burst often loses a run: what draws less power keeps its clocks. Under load there race all within
/// 15 % of the fastest, and the fastest of each family and of each number of fused steps.
class Contenders {
 public:
  /// So many of the fastest race in bursts. under_load: whether any race under load.
  Contenders(std::size_t most, bool under_load) : most_(most), under_load_(under_load) {}

  /// Keeps the candidate while it may be a finalist. is_sure: it is one however slow in a burst, as it won before.
  void add(const Tuning& tuning, CompiledKernel kernel, double time_ms, bool is_sure = false);

  /// No more than so many race under load: the fastest and those that are sure first, then those of other families and
  /// numbers of steps that are not far behind, then the rest within 15 %. None is left here.
  Finalists take(int most_under_load);

 private:
  struct Contender {
    double time_ms = 0;
    Tuning tuning;
    CompiledKernel kernel;
    bool is_sure = false;
    bool leads = false;  ///< the fastest of its family, or of its number of fused steps
  };

  bool is_close(const Contender& contender, double factor) const {
    return contender.time_ms <= factor * contenders_.front().time_ms;
  }
  void mark_leaders();

  std::size_t most_;
  bool under_load_;
  std::vector<Contender> contenders_;  // fastest first
};

}  // namespace stencil_tune
