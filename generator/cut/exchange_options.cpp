#include "generator/cut/exchange_options.hpp"

namespace stencil_tune {
namespace {

constexpr int kMostLaunches = 4;  // from one exchange to the next

}  // namespace

void each_exchange_option(int steps, const std::function<std::optional<LocalKernel>(int steps)>& kernel_for,
                          const std::function<bool(const LocalKernel& kernel, int per_exchange)>& visit) {
  for (const int fused : {1, 2, 3, 4, 5, 6, 8, 12, 16}) {
    if (fused > steps) break;
    const auto kernel = kernel_for(fused);
    if (!kernel) break;
    if (!(kernel->gstencils > 0)) continue;
    for (int launches = 1; launches <= kMostLaunches; ++launches) {
      const int per_exchange = launches * kernel->fused_steps;
      if (per_exchange > steps || !visit(*kernel, per_exchange)) break;
    }
  }
}

}  // namespace stencil_tune
