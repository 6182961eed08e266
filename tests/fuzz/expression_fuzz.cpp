// Fuzz target: a one-liner, on each rank.
#include "tests/fuzz/reception.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  for (int rank = 1; rank <= 3; ++rank) {
    const std::string harm = stencil_tune::receive_expression({reinterpret_cast<const char*>(data), size}, rank).harm;
    if (harm.empty()) continue;
    std::fprintf(stderr, "%s\n", harm.c_str());
    std::abort();
  }
  return 0;
}
