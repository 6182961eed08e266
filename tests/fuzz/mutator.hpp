// Changes text at random: the same changes on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>

namespace stencil_tune {

class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random_() % bound); }

  /// The text with up to six changes: bytes and words of the language put in, taken out, doubled, or taken from
  /// `other`.
  std::string mutate(std::string text, const std::string& other);

 private:
  void change(std::string& text, const std::string& other);

  std::mt19937_64 random_;
};

}  // namespace stencil_tune
