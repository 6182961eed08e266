#include "tuner/session/trials/kept_binaries.hpp"

#include <algorithm>

namespace stencil_tune {
namespace {

constexpr std::size_t kMostBinaries = 100;

}  // namespace

void KeptBinaries::add(const std::string& code, const CompiledKernel& kernel, double time_ms) {
  binaries_[code] = {kernel, time_ms};
  if (binaries_.size() <= kMostBinaries) return;
  binaries_.erase(std::max_element(binaries_.begin(), binaries_.end(),
                                   [](const auto& a, const auto& b) { return a.second.time_ms < b.second.time_ms; }));
}

}  // namespace stencil_tune
