/** @file
 * stencil-tune from C: the same library as stencil_tune.hpp.
 *
 * Every function that can fail returns a stencil_tune_status; on anything but STENCIL_TUNE_OK,
 * stencil_tune_error_message() says on the same thread what was asked, what was found and what to do.
 * Handles may be used from several threads at once, but not while they are being closed or released. Kernels may
 * outlive the library they came from. The ABI is stable: functions are only added, and structures only grow at
 * their end, which their first member tells apart.
 */
#ifndef STENCIL_TUNE_H
#define STENCIL_TUNE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st; /**< what the CUDA runtime API calls cudaStream_t points to it */

/** An open database of winners, a compiler and the kernels made so far. */
typedef struct stencil_tune_library stencil_tune_library;
/** A kernel that stencil_tune_lookup() found. */
typedef struct stencil_tune_kernel stencil_tune_kernel;

/** 0 is success; the others are the error codes of the C++ library, in its order. */
typedef enum stencil_tune_status {
  STENCIL_TUNE_OK = 0,
  STENCIL_TUNE_INVALID_ARGUMENT = 1,
  STENCIL_TUNE_UNKNOWN_NAME = 2,
  STENCIL_TUNE_MALFORMED_CODE = 3,
  STENCIL_TUNE_MALFORMED_DEFINITION = 4,
  STENCIL_TUNE_ILLEGAL_CANDIDATE = 5,
  STENCIL_TUNE_NOTHING_TO_UPDATE = 6,
  STENCIL_TUNE_EXCEEDS_DEVICE_MEMORY = 7,
  STENCIL_TUNE_MISSING_LIBRARY = 8,
  STENCIL_TUNE_UNSUPPORTED_DRIVER = 9,
  STENCIL_TUNE_NO_DEVICE = 10,
  STENCIL_TUNE_DEVICE_LOST = 11,
  STENCIL_TUNE_COMPILE_FAILED = 12,
  STENCIL_TUNE_LAUNCH_FAILED = 13,
  STENCIL_TUNE_TIMEOUT = 14,
  STENCIL_TUNE_DATABASE_CORRUPT = 15,
  STENCIL_TUNE_DATABASE_NEWER = 16,
  STENCIL_TUNE_DATABASE_FOREIGN = 17,
  STENCIL_TUNE_DATABASE_LOCKED = 18,
  STENCIL_TUNE_DATABASE_IO = 19,
  STENCIL_TUNE_FILE_IO = 20,
  STENCIL_TUNE_INTERNAL = 21
} stencil_tune_status;

/** How well a kernel fits what was asked for, best first. */
typedef enum stencil_tune_match {
  STENCIL_TUNE_MATCH_EXACT = 0,
  STENCIL_TUNE_MATCH_STALE = 1, /**< exact, but the kernel's template has changed since */
  STENCIL_TUNE_MATCH_NEAREST_SIZE = 2,
  STENCIL_TUNE_MATCH_SAME_ARCHITECTURE = 3,
  STENCIL_TUNE_MATCH_PREDICTED = 4,
  STENCIL_TUNE_MATCH_DEFAULT = 5
} stencil_tune_match;

/** What a kernel is wanted for. */
typedef struct stencil_tune_request {
  size_t struct_size;   /**< set by STENCIL_TUNE_REQUEST_INIT */
  const char* stencil;  /**< name of a built-in ("heat3d", "star3d2r") or path of a definition (*.toml) */
  const char* type;     /**< "f64", "f32", "f16", "bf16"; NULL: what the definition asks for, else "f32" */
  const char* boundary; /**< "hold", or "x=periodic,y=hold,z=zero"; NULL: "hold" */
  int64_t extents[3];   /**< nx, ny, nz in cells, x fastest; 1 beyond the stencil's rank */
  int64_t pitch;        /**< cells from one row to the next; 0: rows are dense */
  int32_t device;       /**< ordinal; -1: the GPU of the current context */
  int32_t steps;        /**< of a typical stencil_tune_advance(), which may fuse as many in one launch; 0: 1 */
  size_t alignment;     /**< bytes that the fields' addresses are multiples of; 0: 256, as cudaMalloc gives */
} stencil_tune_request;

/** A request begins with it: 0 and NULL mean the defaults. */
#define STENCIL_TUNE_REQUEST_INIT \
  { sizeof(stencil_tune_request), NULL, NULL, NULL, {1, 1, 1}, 0, -1, 0, 0 }

/** Where winners are from, and what happens when something is missing. */
typedef struct stencil_tune_options {
  size_t struct_size;            /**< set by STENCIL_TUNE_OPTIONS_INIT */
  const char* database;          /**< as in stencil_tune_open() */
  double tune_on_miss_s;         /**< seconds to tune for when a lookup finds no exact match, by the installed
                                    `stencil-tune` (STENCIL_TUNE_PROGRAM, else on the PATH); 0: never. A stale
                                    match serves meanwhile: a lookup after the tuning finds the new winner, and
                                    stencil_tune_close() waits for it */
  int32_t compile_in_background; /**< 1: stencil_tune_prepare() does not wait for the compiler; linear stencils run on a
                                    slower kernel until theirs is there */
  int32_t reserved;              /**< 0 */
} stencil_tune_options;

/** Options begin with it. */
#define STENCIL_TUNE_OPTIONS_INIT \
  { sizeof(stencil_tune_options), NULL, 0, 0, 0 }

/** Text of the last error on this thread; empty when there was none. Valid until the next call on this thread. */
const char* stencil_tune_error_message(void);
/** "unknown_name" and its like. */
const char* stencil_tune_status_name(stencil_tune_status status);
/** "nearest size" and its like. */
const char* stencil_tune_match_name(stencil_tune_match match);

/** database: path, or NULL for STENCIL_TUNE_DB, else the user's data folder (where no file is no error). */
stencil_tune_status stencil_tune_open(const char* database, stencil_tune_library** library);
/** The same with options. */
stencil_tune_status stencil_tune_open_with(const stencil_tune_options* options, stencil_tune_library** library);
void stencil_tune_close(stencil_tune_library* library); /**< NULL is fine */

/** The best kernel known for the request. Compiles nothing yet. */
stencil_tune_status stencil_tune_lookup(stencil_tune_library* library, const stencil_tune_request* request,
                                        stencil_tune_kernel** kernel);
void stencil_tune_release(stencil_tune_kernel* kernel); /**< NULL is fine */

/* What was found. Texts live as long as the kernel. */

/** How well it fits, of the stage that matches worst. */
stencil_tune_match stencil_tune_kernel_match(const stencil_tune_kernel* kernel);
const char* stencil_tune_kernel_code(const stencil_tune_kernel* kernel);     /**< of the first stage */
const char* stencil_tune_kernel_evidence(const stencil_tune_kernel* kernel); /**< a sentence a stage */
double stencil_tune_kernel_gstencils(const stencil_tune_kernel* kernel);     /**< GStencil/s when tuned, else 0 */
/** Device addresses that a launch takes. */
int32_t stencil_tune_kernel_field_count(const stencil_tune_kernel* kernel);
/** Coefficients that a launch takes, where any are given. */
int32_t stencil_tune_kernel_coefficient_count(const stencil_tune_kernel* kernel);
/** Of each field's array. */
size_t stencil_tune_kernel_field_bytes(const stencil_tune_kernel* kernel);
/** Bytes that the fields' addresses must be multiples of. */
size_t stencil_tune_kernel_alignment(const stencil_tune_kernel* kernel);

/** Compiles (or takes from the cache) and loads into the current context. Once a context; then launches allocate
 * nothing. */
stencil_tune_status stencil_tune_prepare(stencil_tune_kernel* kernel);

/** With compile_in_background: 1 once the kernel that was looked up is loaded in the current context, else 0. */
int32_t stencil_tune_kernel_ready(const stencil_tune_kernel* kernel);
/** Waits for that kernel; returns what the compiler failed with. */
stencil_tune_status stencil_tune_wait(stencil_tune_kernel* kernel);

/** One step, asynchronous on the stream. fields: field_count device addresses in the stencil's order, which
 * `stencil-tune stencils show` prints. coefficients: coefficient_count numbers, or NULL for the stencil's own. low,
 * high: three cell indices each that limit the launch to low <= cell < high; both NULL for all cells. */
stencil_tune_status stencil_tune_launch(const stencil_tune_kernel* kernel, struct CUstream_st* stream,
                                        void* const* fields, int32_t field_count, const double* coefficients,
                                        int32_t coefficient_count, const int64_t* low, const int64_t* high);

/** `steps` steps; fields[i] is afterwards the buffer that will hold field i. */
stencil_tune_status stencil_tune_advance(const stencil_tune_kernel* kernel, struct CUstream_st* stream, void** fields,
                                         int32_t field_count, int64_t steps, const double* coefficients,
                                         int32_t coefficient_count);

/** The smallest pitch of at least nx cells whose rows start on 128-byte lines; 0 on error. */
int64_t stencil_tune_padded_pitch(int64_t nx, const char* type);

/* For programs that use neither the CUDA runtime nor the driver themselves. */

/** Makes the GPU's primary context current on this thread and keeps it until the process ends. */
stencil_tune_status stencil_tune_use_device(int32_t device);
/** Device memory in the current context. */
stencil_tune_status stencil_tune_allocate(size_t bytes, void** address);
void stencil_tune_free(void* address); /**< NULL is fine */
/** Copies after what is on the stream, and waits for it. */
stencil_tune_status stencil_tune_copy_to_device(void* to, const void* from, size_t bytes, struct CUstream_st* stream);
/** The way back. */
stencil_tune_status stencil_tune_copy_to_host(void* to, const void* from, size_t bytes, struct CUstream_st* stream);

#ifdef __cplusplus
}
#endif

#endif
