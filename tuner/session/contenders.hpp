// The fastest candidates so far with their binaries: the finalists of the race.
#pragma once

#include "generator/candidates/tuning.hpp"
#include "runtime/compile/compiler.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

namespace stencil_tune {

class Contenders {
 public:
  explicit Contenders(std::size_t most) : most_(most) {}

  /// Keeps the candidate while it is among the fastest.
  void add(const Tuning& tuning, CompiledKernel kernel, double time_ms) {
    by_time_.emplace(time_ms, std::pair(tuning, std::move(kernel)));
    if (by_time_.size() > most_) by_time_.erase(std::prev(by_time_.end()));
  }

  /// Fastest first; none is left here.
  std::vector<std::pair<Tuning, CompiledKernel>> take() {
    std::vector<std::pair<Tuning, CompiledKernel>> result;
    for (auto& [time, contender] : by_time_) result.push_back(std::move(contender));
    by_time_.clear();
    return result;
  }

 private:
  std::size_t most_;
  std::multimap<double, std::pair<Tuning, CompiledKernel>> by_time_;
};

}  // namespace stencil_tune
