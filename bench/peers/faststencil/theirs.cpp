// FastStencil as its own function launches and times it: built against a checkout of its repository, none of which is
// here. RANK is the number of axes. Arguments: its name of a stencil, NX NY [NZ].
#include "timed.hpp"

#include "defines.h"

#include <cstdlib>
#include <string>

template <KernelType kernel>
void serve_runs(char** extents) {
  const int nx = std::atoi(extents[0]), ny = std::atoi(extents[1]), nz = RANK == 3 ? std::atoi(extents[2]) : 1;
  std::vector<double> in = random_cells(static_cast<std::size_t>(nx) * ny * nz), out(in.size());
  serve([&](int steps) {
#if RANK == 3
    FastStencil<kernel, double>(in.data(), out.data(), nz, ny, nx, steps, false);
#else
    FastStencil<kernel, double>(in.data(), out.data(), ny, nx, steps, false);
#endif
  });
}

int main(int, char** argv) {
  const std::string name = argv[1];
#define SERVE(kernel) \
  if (name == #kernel) serve_runs<KernelType::kernel>(argv + 2)
#if RANK == 3
  SERVE(j3d7pt);
  SERVE(j3d13pt);
  SERVE(poisson);
  SERVE(j3d27pt);
#else
  SERVE(j2d5pt);
  SERVE(j2d9pt);
  SERVE(j2ds9pt);
  SERVE(j2d13pt);
  SERVE(j2d25pt);
  SERVE(j2d49pt);
#endif
}
