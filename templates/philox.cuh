// Random numbers that follow from a counter and a key alone: Philox 4x32-10 of J. Salmon, M. Moraes, R. Dror and D.
// Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
#pragma once

#include "stencil_tune/both_sides.cuh"

namespace stencil_tune {

struct PhiloxWords {
  unsigned word[4];
};

STENCIL_BOTH_SIDES PhiloxWords philox(PhiloxWords counter, unsigned key_0, unsigned key_1) {
  for (int round = 0; round < 10; ++round) {
    const unsigned long long a = 0xd2511f53ull * counter.word[0];
    const unsigned long long b = 0xcd9e8d57ull * counter.word[2];
    counter = {{static_cast<unsigned>(b >> 32) ^ counter.word[1] ^ key_0, static_cast<unsigned>(b),
                static_cast<unsigned>(a >> 32) ^ counter.word[3] ^ key_1, static_cast<unsigned>(a)}};
    key_0 += 0x9e3779b9u;
    key_1 += 0xbb67ae85u;
  }
  return counter;
}

/// In [0, 1): as many of the first bits as the type holds.
template <class Value>
STENCIL_BOTH_SIDES Value uniform(const PhiloxWords& words) {
  if constexpr (sizeof(Value) == 4) {
    return static_cast<Value>(words.word[0] >> 8) * Value(0x1p-24);
  } else {
    const unsigned long long bits = static_cast<unsigned long long>(words.word[0]) << 32 | words.word[1];
    return static_cast<Value>(bits >> 11) * Value(0x1p-53);
  }
}

}  // namespace stencil_tune
