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
 * says more. What fails on one rank in set-up fails on all. Link stencil_tune::distributed (C++ archives), or
 * libstencil_tune.so.
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
  int32_t steps_per_exchange; /**< 0: as many as the kernel fuses, or what is faster as measured */
  int32_t overlap;            /**< 1: halos travel while cells are updated that need nothing of them */
  int32_t reserved;           /**< 0 */
  double timeout_s;           /**< how long a rank waits for another; 0: 300 */
} stencil_tune_cut;

/** A cut begins with it: 0 means the defaults. */
#define STENCIL_TUNE_CUT_INIT \
  { sizeof(stencil_tune_cut), {0, 0, 0}, 0, 0, 0, 0 }

/** Bytes that go to a rank, or come from it. */
typedef struct stencil_tune_transfer {
  void* data;       /**< in the memory of the grid's GPU */
  size_t bytes;     /**< how many go or come */
  int32_t peer;     /**< the other rank */
  int32_t reserved; /**< 0 */
} stencil_tune_transfer;

/** Ranks of the program's own in place of NCCL's: MPI's, say. Its functions are called from the thread that calls those
 * of the grid, and return 0, or another number where they failed: the group is given up then. `context` is handed to
 * each, and outlives the grid. */
typedef struct stencil_tune_ranks {
  size_t struct_size; /**< set by STENCIL_TUNE_RANKS_INIT */
  void* context;      /**< the program's own */
  /** All transfers of one exchange; none waits for another. Returns when they are done. From one rank to another, the
   * first send meets the first receive of the call, the second the second. */
  int32_t (*exchange)(void* context, const stencil_tune_transfer* sends, int32_t send_count,
                      const stencil_tune_transfer* receives, int32_t receive_count);
  /** Each rank's bytes, in host memory, to `all` of every rank, in the order of ranks. */
  int32_t (*all_gather)(void* context, const void* mine, size_t bytes, void* all);
  /** Ends the waiting of other ranks for this one, as MPI_Abort does; may be NULL. */
  void (*abort)(void* context);
  int32_t rank; /**< this one, from 0 */
  int32_t size; /**< ranks */
  int32_t
      device_memory; /**< 1: exchange() takes device addresses (CUDA-aware MPI); 0: the library copies to the host */
  int32_t reserved;  /**< 0 */
} stencil_tune_ranks;

/** Ranks begin with it. */
#define STENCIL_TUNE_RANKS_INIT \
  { sizeof(stencil_tune_ranks), NULL, NULL, NULL, NULL, 0, 1, 0, 0 }

/** Collective. Cuts the grid, looks up and compiles this rank's kernel, and makes its fields, zero at first. `cut` may
 * be NULL. The communicator outlives the grid; after STENCIL_TUNE_LAUNCH_FAILED or STENCIL_TUNE_TIMEOUT it may have
 * been aborted, and must not be destroyed then. */
stencil_tune_status stencil_tune_distribute(stencil_tune_library* library, struct ncclComm* communicator,
                                            const stencil_tune_request* request, const stencil_tune_cut* cut,
                                            struct CUstream_st* stream, stencil_tune_grid** grid);
/** The same over ranks of the program's own. Halos wait for the stream, and steps for halos: overlap gains nothing, and
 * such steps cannot be captured in a graph. */
stencil_tune_status stencil_tune_distribute_over(stencil_tune_library* library, const stencil_tune_ranks* ranks,
                                                 const stencil_tune_request* request, const stencil_tune_cut* cut,
                                                 struct CUstream_st* stream, stencil_tune_grid** grid);
void stencil_tune_grid_release(stencil_tune_grid* grid); /**< NULL is fine */

/** Cells of the grid that this rank owns: low[a] <= i < high[a]; three numbers each. */
void stencil_tune_grid_owned(const stencil_tune_grid* grid, int64_t* low, int64_t* high);
int32_t stencil_tune_grid_steps_per_exchange(const stencil_tune_grid* grid);
/** Why this rank's kernel, for people. Lives as long as the grid. */
const char* stencil_tune_grid_evidence(const stencil_tune_grid* grid);

/** This rank's own cells of a field, to its array and back; of a profile all its cells, to it alone. */
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
/** Exchanges the halos of fields that were written: before a stream is captured, and before a launch of the graph after
 * such a change. Otherwise advance does it. */
stencil_tune_status stencil_tune_grid_refresh(stencil_tune_grid* grid);

/** Collective: stencil_tune_place_points() of the whole grid, whose cells are counted from its first. */
stencil_tune_status stencil_tune_grid_place_points(stencil_tune_grid* grid, const stencil_tune_point_list* list,
                                                   stencil_tune_points** points);
/** stencil_tune_advance_with_points() of the whole grid: every rank passes the whole series, and room for all records,
 * of which it writes its own share, 0 for receivers elsewhere. */
stencil_tune_status stencil_tune_grid_advance_with_points(stencil_tune_grid* grid, const stencil_tune_points* points,
                                                          const void* series, void* records, int64_t steps,
                                                          const double* coefficients, int32_t coefficient_count,
                                                          const int64_t* origin, int64_t step);
/** Collective: the sum of all ranks' shares of records, in host memory of `root`; others pass NULL and 0. */
stencil_tune_status stencil_tune_grid_gather_records(const stencil_tune_grid* grid, const stencil_tune_points* points,
                                                     const void* records, int64_t steps, int32_t root, void* sums,
                                                     size_t bytes);

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
