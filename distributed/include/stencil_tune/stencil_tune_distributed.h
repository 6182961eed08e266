/**
 * The C interface to grids over many GPUs: each rank of an NCCL communicator owns a part, and halos travel between
 * them.
 *
 *     stencil_tune_request request = STENCIL_TUNE_REQUEST_INIT;      extents: of the whole grid
 *     stencil_tune_grid* grid;
 *     stencil_tune_distribute(library, comm, &request, NULL, stream, &grid);
 *     stencil_tune_grid_scatter(grid, 0, 0, cells, bytes);           from rank 0, which has them all
 *     stencil_tune_grid_advance(grid, steps, NULL, 0, NULL, 0);
 *     stencil_tune_grid_gather(grid, 0, 0, cells, bytes);
 *     stencil_tune_grid_release(grid);
 *
 * Every rank makes the same calls in the same order, from one thread at a time, with its own GPU's context current.
 * Cells are raw bytes of the element type, dense, x fastest. Functions return a status; stencil_tune_error_message()
 * says more. What fails on one rank in set-up fails on all. Link stencil_tune::distributed (C++ archives).
 */
#ifndef STENCIL_TUNE_DISTRIBUTED_H
#define STENCIL_TUNE_DISTRIBUTED_H

#include "stencil_tune/stencil_tune.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ncclComm; /**< what NCCL calls ncclComm_t points to it */

/** One rank's part of a grid: its kernel, its fields and the stream that they run on. */
typedef struct stencil_tune_grid stencil_tune_grid;

/** How a grid is cut. */
typedef struct stencil_tune_cut {
  size_t struct_size;         /**< set by STENCIL_TUNE_CUT_INIT */
  int32_t parts[3];           /**< along x, y, z; all 0: those for which least is sent */
  int32_t steps_per_exchange; /**< 0: as many as the kernel fuses */
  int32_t overlap;            /**< 1: halos travel while cells are updated that need nothing of them */
  int32_t reserved;           /**< 0 */
  double timeout_s;           /**< how long a rank waits for another; 0: 300 */
} stencil_tune_cut;

/** A cut begins with it: 0 means the defaults. */
#define STENCIL_TUNE_CUT_INIT \
  { sizeof(stencil_tune_cut), {0, 0, 0}, 0, 0, 0, 0 }

/** Collective. Cuts the grid, looks up and compiles this rank's kernel, and makes its fields, zero at first. `cut` may
 * be NULL. The communicator outlives the grid; after STENCIL_TUNE_LAUNCH_FAILED or STENCIL_TUNE_TIMEOUT it may have
 * been aborted, and must not be destroyed then. */
stencil_tune_status stencil_tune_distribute(stencil_tune_library* library, struct ncclComm* communicator,
                                            const stencil_tune_request* request, const stencil_tune_cut* cut,
                                            struct CUstream_st* stream, stencil_tune_grid** grid);
void stencil_tune_grid_release(stencil_tune_grid* grid); /**< NULL is fine */

/** Cells of the grid that this rank owns: low[a] <= i < high[a]; three numbers each. */
void stencil_tune_grid_owned(const stencil_tune_grid* grid, int64_t* low, int64_t* high);
int32_t stencil_tune_grid_steps_per_exchange(const stencil_tune_grid* grid);
/** Why this rank's kernel, for people. Lives as long as the grid. */
const char* stencil_tune_grid_evidence(const stencil_tune_grid* grid);

/** This rank's own cells of a field, to its array and back; of a profile all cells of its axis, to it alone. */
stencil_tune_status stencil_tune_grid_write(stencil_tune_grid* grid, int32_t field, const void* cells, size_t bytes);
stencil_tune_status stencil_tune_grid_read(const stencil_tune_grid* grid, int32_t field, void* cells, size_t bytes);

/** Collective: all cells of the grid, on `root`, to their owners and back. Other ranks pass NULL and 0. */
stencil_tune_status stencil_tune_grid_scatter(stencil_tune_grid* grid, int32_t field, int32_t root, const void* cells,
                                              size_t bytes);
stencil_tune_status stencil_tune_grid_gather(const stencil_tune_grid* grid, int32_t field, int32_t root, void* cells,
                                             size_t bytes);

/** stencil_tune_advance_at() of the whole grid; `origin` may be NULL. Asynchronous on the grid's stream. */
stencil_tune_status stencil_tune_grid_advance(stencil_tune_grid* grid, int64_t steps, const double* coefficients,
                                              int32_t coefficient_count, const int64_t* origin, int64_t step);
/** Until the stream's work is done. */
stencil_tune_status stencil_tune_grid_wait(stencil_tune_grid* grid);

/** Collective: own cells of all fields to the file `path`.RANK of each rank, and back. `steps` is the caller's number
 * of steps made so far. */
stencil_tune_status stencil_tune_grid_save(const stencil_tune_grid* grid, const char* path, int64_t steps);
stencil_tune_status stencil_tune_grid_load(stencil_tune_grid* grid, const char* path, int64_t* steps);

#ifdef __cplusplus
}
#endif

#endif
