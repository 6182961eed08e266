#include "tuner/search/scan.hpp"

#include <algorithm>
#include <numeric>

namespace stencil_tune {

Scan::Scan(const SearchSpace& space)
    : space_(space),
      size_(space.size()),
      step_(std::max<std::uint64_t>(1, static_cast<std::uint64_t>(0.6180339887 * static_cast<double>(size_)))) {
  while (size_ > 0 && std::gcd(step_, size_) != 1) ++step_;
}

std::optional<Tuning> Scan::next(Thinking& thinking) {
  constexpr std::uint64_t kAtOnce = 256;  // numbers
  while (!is_done()) {
    ++visited_;
    number_ = number_ >= size_ - step_ ? number_ - (size_ - step_) : number_ + step_;
    if (auto tuning = space_.at(number_)) return tuning;
    if (visited_ % kAtOnce == 0 && thinking.is_over()) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace stencil_tune
