// Fuzz target: a definition file.
#include "tests/fuzz/reception.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string harm = stencil_tune::receive_definition({reinterpret_cast<const char*>(data), size}).harm;
  if (!harm.empty()) {
    std::fprintf(stderr, "%s\n", harm.c_str());
    std::abort();
  }
  return 0;
}
