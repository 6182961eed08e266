// Random choices that are the same on every machine: the standard library's distributions differ between
// implementations, its engine does not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <type_traits>
#include <vector>

namespace stencil_tune {

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : engine_(seed) {}

  /// low..high, both included.
  template <class Integer>
  Integer between(Integer low, std::type_identity_t<Integer> high) {
    return low + static_cast<Integer>(engine_() % static_cast<std::uint64_t>(high - low + 1));
  }

  bool one_in(int chances) { return between(1, chances) == 1; }

  template <class Value>
  Value one_of(std::initializer_list<Value> values) {
    return values.begin()[between(std::size_t{0}, values.size() - 1)];
  }

  template <class Value>
  const Value& one_of(const std::vector<Value>& values) {
    return values[between(std::size_t{0}, values.size() - 1)];
  }

  std::mt19937_64& engine() noexcept { return engine_; }

 private:
  std::mt19937_64 engine_;
};

}  // namespace stencil_tune
