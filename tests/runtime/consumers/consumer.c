/* A C program on the C interface: one Jacobi step on the GPU where there is one, errors where there is none. */
#include "stencil_tune/stencil_tune.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void expect(int truth, const char* what) {
  if (truth) return;
  fprintf(stderr, "failed: %s (last error: %s)\n", what, stencil_tune_error_message());
  exit(1);
}

/* The average of a linear function over a symmetric star is its value at the centre. */
static void step_on_the_gpu(void) {
  enum { kN = 40, kCells = kN * kN };
  static float host[kCells];
  static float result[kCells];
  const double weights[5] = {0.2, 0.2, 0.2, 0.2, 0.2};
  void* fields[2];
  stencil_tune_library* library = NULL;
  stencil_tune_kernel* kernel = NULL;
  stencil_tune_request request = STENCIL_TUNE_REQUEST_INIT;
  int i;

  request.stencil = "star2d1r";
  request.extents[0] = kN;
  request.extents[1] = kN;
  for (i = 0; i < kCells; ++i) host[i] = (float)(i % kN + 2 * (i / kN));
  expect(stencil_tune_open(NULL, &library) == STENCIL_TUNE_OK, "open");
  expect(stencil_tune_lookup(library, &request, &kernel) == STENCIL_TUNE_OK, "lookup");
  expect(stencil_tune_prepare(kernel) == STENCIL_TUNE_OK, "prepare");
  expect(stencil_tune_allocate(sizeof(host), &fields[0]) == STENCIL_TUNE_OK, "allocate");
  expect(stencil_tune_allocate(sizeof(host), &fields[1]) == STENCIL_TUNE_OK, "allocate");
  expect(stencil_tune_copy_to_device(fields[0], host, sizeof(host), NULL) == STENCIL_TUNE_OK, "copy");
  expect(stencil_tune_advance(kernel, NULL, fields, 2, 3, weights, 5) == STENCIL_TUNE_OK, "advance");
  expect(stencil_tune_copy_to_host(result, fields[0], sizeof(host), NULL) == STENCIL_TUNE_OK, "copy back");
  for (i = 0; i < kCells; ++i) expect(fabsf(result[i] - host[i]) < 1e-3f, "linear functions are kept");
  printf("one GPU: %s\n", stencil_tune_kernel_evidence(kernel));
  stencil_tune_free(fields[0]);
  stencil_tune_free(fields[1]);
  stencil_tune_release(kernel);
  stencil_tune_close(library);
}

/* A one-liner for an H200, which need not be here: its kernel is read, not launched. */
static void write_for_a_named_gpu(void) {
  stencil_tune_request request = STENCIL_TUNE_REQUEST_INIT;
  stencil_tune_evidence evidence = STENCIL_TUNE_EVIDENCE_INIT;
  stencil_tune_library* library = NULL;
  stencil_tune_stencil* heat = NULL;
  stencil_tune_kernel* kernel = NULL;
  char* source = NULL;

  expect(stencil_tune_stencil_parse("u_next = u + a * laplacian(u); a = 0.1", 3, &heat) == STENCIL_TUNE_OK, "parse");
  request.parsed = heat;
  request.gpu = "h200";
  request.extents[0] = request.extents[1] = request.extents[2] = 64;
  expect(stencil_tune_open(NULL, &library) == STENCIL_TUNE_OK, "open");
  expect(stencil_tune_lookup(library, &request, &kernel) == STENCIL_TUNE_OK, "lookup for a named GPU");
  stencil_tune_stencil_release(heat);
  expect(stencil_tune_kernel_evidence_of(kernel, 0, &evidence) == STENCIL_TUNE_OK, "evidence");
  printf("%s\n", evidence.sentence);
  expect(stencil_tune_export_text(kernel, NULL, &source, NULL) == STENCIL_TUNE_OK && *source == '/', "export");
  stencil_tune_free_text(source);
  expect(stencil_tune_prepare(kernel) == STENCIL_TUNE_NO_DEVICE, "a GPU by its name launches nothing");
  stencil_tune_release(kernel);
  stencil_tune_close(library);
}

int main(void) {
  stencil_tune_library* library = NULL;
  stencil_tune_status status;

  expect(stencil_tune_open("/no/such/folder/winners.db", &library) == STENCIL_TUNE_DATABASE_IO, "a missing database");
  expect(library == NULL, "no library without a database");
  expect(stencil_tune_padded_pitch(509, "f32") == 512, "padded pitch");

  write_for_a_named_gpu();
  status = stencil_tune_use_device(0);
  if (status == STENCIL_TUNE_OK) {
    step_on_the_gpu();
  } else {
    expect(status == STENCIL_TUNE_MISSING_LIBRARY || status == STENCIL_TUNE_NO_DEVICE, "no GPU is a named error");
    printf("no GPU: %s\n", stencil_tune_error_message());
  }
  return 0;
}
