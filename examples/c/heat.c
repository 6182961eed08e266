/* Heat between cold walls, from C: the 3D 7-point star in f32, boundary hold, many steps with fused kernels, and what
 * fusing them gains over one step a launch.
 *
 *     example_c_heat [CELLS_ON_AN_AXIS [STEPS]]      512 and 100 where nothing is given
 *
 * A product of sines keeps its shape and decays by 1 - 12 alpha sin^2(k / 2) a step, k radians a cell: every cell is
 * compared with that. Exit status: 0 right, 1 wrong or an error, 2 usage, 77 no GPU.
 */
#define _POSIX_C_SOURCE 199309L /* clock_gettime */

#include "stencil_tune/stencil_tune.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const double kPi = 3.14159265358979323846;

static void check(stencil_tune_status status) {
  if (status == STENCIL_TUNE_OK) return;
  fprintf(stderr, "%s\n", stencil_tune_error_message());
  exit(status == STENCIL_TUNE_NO_DEVICE || status == STENCIL_TUNE_MISSING_LIBRARY ? 77 : 1);
}

/* The kernel for runs of so many steps; 1: it fuses none. */
static stencil_tune_kernel* find_kernel(stencil_tune_library* library, long n, long steps) {
  stencil_tune_request request = STENCIL_TUNE_REQUEST_INIT;
  stencil_tune_kernel* kernel = NULL;

  request.stencil = "star3d1r";
  request.extents[0] = request.extents[1] = request.extents[2] = n;
  request.steps = (int32_t)steps;
  check(stencil_tune_lookup(library, &request, &kernel));
  check(stencil_tune_prepare(kernel));
  return kernel;
}

/* GStencil/s of a whole run. */
static double rate(const stencil_tune_kernel* kernel, void** fields, long n, long steps, const double* weights) {
  struct timespec begin, end;

  check(stencil_tune_synchronize(NULL));
  clock_gettime(CLOCK_MONOTONIC, &begin);
  check(stencil_tune_advance(kernel, NULL, fields, 2, steps, weights, 7));
  check(stencil_tune_synchronize(NULL));
  clock_gettime(CLOCK_MONOTONIC, &end);
  return pow((double)n - 2, 3) * (double)steps /
         ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec));
}

/* Cell (x, y, z) of the mode, times `amplitude`. */
static double mode(const double* sine, long n, long cell, double amplitude) {
  return amplitude * sine[cell % n] * sine[cell / n % n] * sine[cell / n / n];
}

int main(int argc, char** argv) {
  const long n = argc > 1 ? atol(argv[1]) : 512;
  const long steps = argc > 2 ? atol(argv[2]) : 100;
  const size_t bytes = (size_t)n * (size_t)n * (size_t)n * sizeof(float);
  const double alpha = 0.1; /* diffusivity * dt / h^2, stable up to 1/6 */
  /* The centre, then x-, x+, y-, y+, z-, z+. */
  const double weights[7] = {1 - 6 * alpha, alpha, alpha, alpha, alpha, alpha, alpha};
  stencil_tune_library* library = NULL;
  stencil_tune_kernel *kernel, *single;
  void* fields[2] = {NULL, NULL}; /* in, out: the order that `stencil-tune stencils show star3d1r` prints */
  double decay, fused_rate, single_rate, worst = 0;
  float* host;
  double* sine;
  long cell;

  if (n < 4 || steps < 1) {
    fprintf(stderr, "usage: example_c_heat [CELLS_ON_AN_AXIS [STEPS]], from 4 cells and 1 step on\n");
    return 2;
  }
  check(stencil_tune_use_device(0));
  host = malloc(bytes);
  sine = malloc((size_t)n * sizeof(double));
  if (!host || !sine) return 1;
  for (cell = 0; cell < n; ++cell) sine[cell] = sin(kPi * (double)cell / (double)(n - 1));
  for (cell = 0; cell < n * n * n; ++cell) host[cell] = (float)mode(sine, n, cell, 1);

  check(stencil_tune_open(NULL, &library));
  kernel = find_kernel(library, n, steps);
  printf("kernel: %s\n", stencil_tune_kernel_evidence(kernel));

  check(stencil_tune_allocate(bytes, &fields[0]));
  check(stencil_tune_allocate(bytes, &fields[1]));
  check(stencil_tune_copy_to_device(fields[0], host, bytes, NULL));
  check(stencil_tune_advance(kernel, NULL, fields, 2, steps, weights, 7));
  check(stencil_tune_copy_to_host(host, fields[0], bytes, NULL)); /* fields[0] is the newest state */

  decay = pow(1 - 12 * alpha * pow(sin(kPi / (double)(n - 1) / 2), 2), (double)steps);
  for (cell = 0; cell < n * n * n; ++cell) {
    const double error = fabs(host[cell] - mode(sine, n, cell, decay));
    if (!(error <= worst)) worst = error; /* a NaN stays */
  }
  printf("%ld steps: decayed to %.6f; largest error of a cell %.2g\n", steps, decay, worst);

  single = find_kernel(library, n, 1);
  single_rate = rate(single, fields, n, steps, weights);
  fused_rate = rate(kernel, fields, n, steps, weights);
  printf("%d steps a launch: %.1f GStencil/s; one a launch: %.1f; gained %.2f x\n",
         (int)stencil_tune_kernel_fused_steps(kernel), fused_rate, single_rate, fused_rate / single_rate);

  stencil_tune_free(fields[0]);
  stencil_tune_free(fields[1]);
  stencil_tune_release(single);
  stencil_tune_release(kernel);
  stencil_tune_close(library);
  free(host);
  free(sine);
  return worst < 1.2e-7 * (double)(steps + 1) ? 0 : 1; /* a few roundings of half a unit a step */
}
