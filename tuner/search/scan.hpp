// Visits every candidate of a space once, spread over the whole of it from the beginning.
#pragma once

#include "tuner/search/search_space.hpp"
#include "tuner/search/thinking.hpp"

#include <cstdint>
#include <optional>

namespace stencil_tune {

/// Steps by about the golden section of the space's size, made coprime to it: a scan that a budget cuts short has seen
/// all regions alike.
class Scan {
 public:
  explicit Scan(const SearchSpace& space);

  /// The next legal candidate; nothing when every number was visited, or the time for some of them is over.
  std::optional<Tuning> next(Thinking& thinking);
  bool is_done() const { return visited_ >= size_; }

 private:
  const SearchSpace& space_;
  std::uint64_t size_;
  std::uint64_t step_;
  std::uint64_t number_ = 0;
  std::uint64_t visited_ = 0;
};

}  // namespace stencil_tune
