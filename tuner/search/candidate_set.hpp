// Candidates that a strategy must not propose again.
#pragma once

#include "generator/candidates/tuning.hpp"

#include <string>
#include <unordered_set>

namespace stencil_tune {

class CandidateSet {
 public:
  /// False when it was in already.
  bool add(const Tuning& tuning) { return codes_.insert(code(tuning)).second; }
  bool contains(const Tuning& tuning) const { return codes_.count(code(tuning)) > 0; }

 private:
  std::unordered_set<std::string> codes_;
};

}  // namespace stencil_tune
