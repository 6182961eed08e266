/* What an exported launcher asks the CUDA runtime for, as launch_recorder.cpp notes it. */
#ifndef STENCIL_TUNE_TESTS_LAUNCH_RECORD_H
#define STENCIL_TUNE_TESTS_LAUNCH_RECORD_H

#include <stddef.h>

struct LaunchRecord {
  int launches;
  unsigned grid[3];
  unsigned block[3];
  size_t shared_bytes;
  size_t allowed_shared_bytes; /* dynamic shared memory that was asked for beforehand; 0 when none was */
  void* arguments;             /* room for the kernel's one parameter, the caller's */
  size_t argument_bytes;
};

/* What the recorder writes in the place of a tensor map. */
struct TensorMapRecord {
  unsigned long long address;
  unsigned long long extents[3];
  unsigned long long strides[2];
  unsigned box[3];
  unsigned rank;
};

#endif
