// What an application sees of the installed package: the public headers and stencil_tune::runtime, nothing else.
#include "stencil_tune/grid.hpp"
#include "stencil_tune/stencil.hpp"

#include <cstdio>

int main() {
  const stencil_tune::Stencil star = stencil_tune::make_builtin(stencil_tune::Shape::star, 3, 1);
  const stencil_tune::StageFacts facts = stencil_tune::analyse(star, 0);
  std::printf("%s has %zu taps, key %s\n", star.name.c_str(), facts.taps.size(),
              stencil_tune::stencil_key(star).c_str());
  return facts.taps.size() == 7 ? 0 : 1;
}
