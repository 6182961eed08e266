// How sharp the checks of all stencils are: a table, and failure where one is not sharp and should be.
#include "tests/tuner/verify/sharpness_cases.hpp"

#include <cstdio>

int main() {
  using namespace stencil_tune;
  std::size_t blunt = 0;
  for (const Boundary boundary :
       {Boundary::hold, Boundary::zero, Boundary::clamp, Boundary::periodic, Boundary::reflect}) {
    const Sharpened result = sharpen(sharpness_cases(/*highest_order=*/16, {1, 2, 4, 8, 12, 16, 32}), boundary);
    for (const std::string& line : result.lines) std::printf("%-8s %s\n", name(boundary).data(), line.c_str());
    for (const std::string& line : result.blunt) std::printf("NOT SHARP: %s\n", line.c_str());
    std::fflush(stdout);
    blunt += result.blunt.size();
  }
  return blunt == 0 ? 0 : 1;
}
