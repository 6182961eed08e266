/** @file
 * stencil-tune from C: the same library as stencil_tune.hpp.
 *
 * Every function that can fail returns a stencil_tune_status; on anything but STENCIL_TUNE_OK,
 * stencil_tune_error_message() says on the same thread what was asked, what was found and what to do.
 * Functions that return a value in place of a status may be given NULL for a handle: they return 0 or NULL,
 * STENCIL_TUNE_MATCH_DEFAULT as a match, and -1 as a device, an axis or a next field, as where there is none.
 * Handles may be used from several threads at once, but not while they are being closed or released. Kernels may
 * outlive the library they came from.
 *
 * Programs link the archive of the C++ library, or libstencil_tune.so, which a build with BUILD_SHARED_LIBS gives and
 * which exports these functions alone. Its ABI is stable: functions are only added, each under the version that brought
 * it, and structures only grow at their end, which their first member tells apart.
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
/** An update rule, from text. */
typedef struct stencil_tune_stencil stencil_tune_stencil;
/** A kernel that stencil_tune_lookup() found. */
typedef struct stencil_tune_kernel stencil_tune_kernel;
/** A kernel of the user's own that stencil_tune_user_kernel_find() found. */
typedef struct stencil_tune_user_kernel stencil_tune_user_kernel;
/** Sources and receivers that were placed for a kernel. */
typedef struct stencil_tune_points stencil_tune_points;

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

/** How well a kernel fits what was asked for. From best to worst: exact, stale, same form, nearest size, same
    architecture, predicted, default. The numbers are no ranks: a value keeps the one that it was given. */
typedef enum stencil_tune_match {
  STENCIL_TUNE_MATCH_EXACT = 0,
  STENCIL_TUNE_MATCH_NEAREST_SIZE = 1,
  STENCIL_TUNE_MATCH_SAME_ARCHITECTURE = 2,
  STENCIL_TUNE_MATCH_PREDICTED = 3,
  STENCIL_TUNE_MATCH_DEFAULT = 4,
  STENCIL_TUNE_MATCH_STALE = 5, /**< exact, but the kernel's template has changed since: no reason to tune on a miss */
  STENCIL_TUNE_MATCH_SAME_FORM = 6 /**< tuned for a stencil of the same form, which differs in numbers */
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
  int32_t steps;        /**< steps of a typical stencil_tune_advance(), which may fuse as many in one launch; 0: 1 */
  size_t alignment;     /**< bytes that the fields' addresses are multiples of; 0: 256, as cudaMalloc gives */
  const stencil_tune_stencil* parsed; /**< in place of `stencil`; needed until stencil_tune_lookup() returns */
  const char* gpu; /**< in place of a GPU that is here, one by name: "NVIDIA H200", "h200", or an architecture alone,
                      "sm_90". Needs neither GPU nor driver; the kernel can be read and exported, not launched */
  const char* objective; /**< which winner, where there are several: "time", "burst" or "energy"; NULL: "time" */
  int32_t slabs;         /**< 1: the array of a field in layers holds these alone, the low slab and then the high one
                            (stencil_tune_field_array()); 0: the whole grid */
  int32_t reserved;      /**< 0 */
  double race_s; /**< seconds for a race where the match may cost something: the installed `stencil-tune` times the
                    best few candidates for so long on the GPU, and the fastest is kept in the database; 0: what
                    STENCIL_TUNE_RACE says ("2s"), else none. Where it is not to be had, a note says why */
} stencil_tune_request;

/** A request begins with it: 0 and NULL mean the defaults. */
#define STENCIL_TUNE_REQUEST_INIT \
  { sizeof(stencil_tune_request), NULL, NULL, NULL, {1, 1, 1}, 0, -1, 0, 0, NULL, NULL, NULL, 0, 0, 0 }

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
  const char* program; /**< the `stencil-tune` that tunes on a miss, and races; NULL: STENCIL_TUNE_PROGRAM, else
                          the one on the PATH */
} stencil_tune_options;

/** Options begin with it. */
#define STENCIL_TUNE_OPTIONS_INIT \
  { sizeof(stencil_tune_options), NULL, 0, 0, 0, NULL }

/** Why this kernel, for one stage or for runs. Texts live as long as the kernel. Where nothing was tuned, all but
 * sentence, code, notes and match is empty or 0. */
typedef struct stencil_tune_evidence {
  size_t struct_size;       /**< set by STENCIL_TUNE_EVIDENCE_INIT */
  const char* sentence;     /**< all of it, for people */
  const char* code;         /**< the candidate that runs */
  const char* tuned_code;   /**< the winner it comes from; differs when the grid here needs narrower vectors */
  const char* gpu;          /**< model name, then */
  const char* driver;       /**< then */
  const char* nvrtc;        /**< then */
  const char* tuned_at;     /**< ISO 8601, UTC */
  const char* notes;        /**< a line each */
  int64_t tuned_extents[3]; /**< where the winner won: nx, ny, nz */
  int64_t tuned_pitch;      /**< cells from one row to the next, then */
  double gstencils;         /**< GStencil/s then */
  double share;             /**< rate over the copy ceiling's then, 0..1 */
  stencil_tune_match match; /**< how well it fits */
  int32_t fused_steps;      /**< steps that one launch of it makes */
} stencil_tune_evidence;

/** Evidence to be filled in begins with it. */
#define STENCIL_TUNE_EVIDENCE_INIT                                                                     \
  {                                                                                                    \
    sizeof(stencil_tune_evidence), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, {0, 0, 0}, 0, 0, 0, \
        STENCIL_TUNE_MATCH_DEFAULT, 0                                                                  \
  }

/** How a kernel is written out as a CUDA file. */
typedef struct stencil_tune_export_options {
  size_t struct_size;       /**< set by STENCIL_TUNE_EXPORT_OPTIONS_INIT */
  const char* name;         /**< name of the launcher, a C identifier; NULL: after the file, else after the stencil */
  const char* architecture; /**< compiled for; NULL: what the kernel was looked up for */
  int32_t stage;            /**< one of the stencil's; -1: whole steps, where one launch makes them */
  int32_t with_main;        /**< 1: adds a self-check against a plain CPU loop, and a benchmark */
  int32_t split_header;     /**< 1: declares the launcher in NAME.h, which the source includes */
  int32_t reserved;         /**< 0 */
} stencil_tune_export_options;

/** Options of an export begin with it. */
#define STENCIL_TUNE_EXPORT_OPTIONS_INIT \
  { sizeof(stencil_tune_export_options), NULL, NULL, 0, 0, 0, 0 }

/** One cell of a source or a receiver; a point off the grid has several (stencil_tune_spread()). */
typedef struct stencil_tune_point_cell {
  int32_t point;   /**< number of the source or receiver, from 0 */
  int32_t field;   /**< in the order of a launch's addresses, from 0 */
  int64_t cell[3]; /**< x, y, z; 0 beyond the stencil's rank */
  double weight;   /**< weight of the cell */
} stencil_tune_point_cell;

/** What runs do at points, for any number of steps; step s counts from the first one of a call, 0.
 *
 * Sources: at step s `field[cell] += weight * series[s][point]`, right after the stage that writes the field and before
 * anything reads it. The field is one that a stage writes, under that name ("u_next"). Entries for one cell add in the
 * order of the list.
 *
 * Receivers: after every `every`th step, where (s + 1) % every is 0, `records[record][point]` is the sum of
 * weight * field[cell] over the point's entries, in the order of the list. The field is one of the state that the step
 * has changed, under the name that it has after the step ("u").
 *
 * No cell may lie in the layers that boundary hold keeps there. */
typedef struct stencil_tune_point_list {
  size_t struct_size;                            /**< set by STENCIL_TUNE_POINT_LIST_INIT */
  const stencil_tune_point_cell* source_cells;   /**< in any order */
  const stencil_tune_point_cell* receiver_cells; /**< in any order */
  int64_t source_cell_count;                     /**< entries of source_cells */
  int64_t receiver_cell_count;                   /**< entries of receiver_cells */
  int32_t sources;                               /**< columns of the series */
  int32_t receivers;                             /**< columns of the records */
  int32_t every;                                 /**< steps from one record to the next; 0: 1 */
  int32_t reserved;                              /**< 0 */
} stencil_tune_point_list;

/** A list begins with it: no points. */
#define STENCIL_TUNE_POINT_LIST_INIT \
  { sizeof(stencil_tune_point_list), NULL, NULL, 0, 0, 0, 0, 0, 0 }

/** The library's version: "0.1.0". */
const char* stencil_tune_version(void);

/** Text of the last error on this thread; empty when there was none. Valid until the next call on this thread. */
const char* stencil_tune_error_message(void);
/** "unknown_name" and its like. */
const char* stencil_tune_status_name(stencil_tune_status status);
/** "nearest size" and its like. */
const char* stencil_tune_match_name(stencil_tune_match match);

/** database: path, or NULL for STENCIL_TUNE_DB, else the user's data folder (no file yet is no error). */
stencil_tune_status stencil_tune_open(const char* database, stencil_tune_library** library);
/** The same with options. */
stencil_tune_status stencil_tune_open_with(const stencil_tune_options* options, stencil_tune_library** library);
void stencil_tune_close(stencil_tune_library* library); /**< NULL is fine */
/** Forgets what was looked up and reads the database anew: after tuning went on. */
stencil_tune_status stencil_tune_reload(stencil_tune_library* library);

/* Stencils from text. Those of `stencil_tune_request::stencil` need none of these. */

/** By name, of a built-in or of an equation of the corpus, or from a definition file (*.toml). */
stencil_tune_status stencil_tune_stencil_load(const char* name_or_file, stencil_tune_stencil** stencil);
/** From a one-liner such as "u_next = u + alpha * laplacian(u); alpha = 0.1". Its fields: what is read in the order of
 * the text, arrays along axes or time before others, then what is written: u, u_next. rank: axes, 1 to 3. */
stencil_tune_status stencil_tune_stencil_parse(const char* expression, int32_t rank, stencil_tune_stencil** stencil);
/** From the text of a TOML definition; source names it in messages. */
stencil_tune_status stencil_tune_stencil_define(const char* toml, const char* source, stencil_tune_stencil** stencil);
/** The adjoint of a stencil of one stage, for gradients: reads "grad_u_next" and what derivatives depend on, writes
 * "grad_u". It is the adjoint on periodic and zero boundaries. Of one that is placed it is right on a grid with zeros
 * outside, and with room for what cells read beyond its edges; the coefficients x.first, x.last (coordinates of the
 * edge cells) and x.zero (1 where that is the boundary), and those of other axes, say where they are. */
stencil_tune_status stencil_tune_stencil_adjoint(const stencil_tune_stencil* stencil, stencil_tune_stencil** adjoint);
/** For each coefficient that counts "grad_NAME": what each cell adds to the derivative with respect to it.
 */
stencil_tune_status stencil_tune_stencil_coefficient_adjoint(const stencil_tune_stencil* stencil,
                                                             stencil_tune_stencil** adjoint);
/** A step back through all stages, as a step that runs can repeat: its state is the gradient of each field of the
 * stencil's state, "grad_u", and of what is wanted, names of fields that no step changes and of coefficients between
 * commas (NULL: none), to whose gradients a step back adds; a field that a stage writes and a later one reads
 * may be wanted too, and has its gradient in "grad_q" after the step. That of an older time level may be kept as its
 * negative, "negated_grad_u_prev", which takes the place of the newer one's. It reads the fields that derivatives
 * depend on as they were before the stencil's step. It is right where stencil_tune_stencil_adjoint() is, and beside
 * layers that hold keeps, but for what these would get, where gradients are 0 there: under hold, if it keeps as many as
 * each stage of the stencil does, or under zero on the axes of `held`, the sum of 1 for x, 2 for y and 4 for z. */
stencil_tune_status stencil_tune_stencil_adjoint_step(const stencil_tune_stencil* stencil, const char* wanted,
                                                      int32_t held, stencil_tune_stencil** adjoint);
/** The stencil whose step makes the state before of the state after a step, by the same names: of leapfrog schemes,
 * where what a step overwrites is a term of what it leaves, at the cell and with factor 1 or -1. */
stencil_tune_status stencil_tune_stencil_reversed(const stencil_tune_stencil* stencil, stencil_tune_stencil** reversed);
/** The stencil of one stage with a tangent beside each field that its steps change: "tangent_u", the derivative with
 * respect to the coefficient. It runs as any other, from tangents of zero. */
stencil_tune_status stencil_tune_stencil_tangent(const stencil_tune_stencil* stencil, int32_t coefficient,
                                                 stencil_tune_stencil** tangent);
/** One of its stages as a stencil of its own, of the fields that it uses, with all coefficients. */
stencil_tune_status stencil_tune_stencil_stage(const stencil_tune_stencil* stencil, int32_t stage,
                                               stencil_tune_stencil** alone);
/** The same stencil with widths for the layers at the ends of its axes, in cells: "20", "20:0" or "x=20,z=0:20", as
 * --layer of the program takes them. They are no part of its key. */
stencil_tune_status stencil_tune_stencil_with_layers(const stencil_tune_stencil* stencil, const char* layers,
                                                     stencil_tune_stencil** with);
/** What runs may measure, as a stencil of one stage: the same fields, and behind them an output for each measure, by
 * its name. STENCIL_TUNE_INVALID_ARGUMENT where the definition measures nothing. */
stencil_tune_status stencil_tune_stencil_measured(const stencil_tune_stencil* stencil, stencil_tune_stencil** measured);
/** The same stencil for many grids of one size, which lie one behind the other along one more axis, the last one: of
 * rank 2 for one of rank 1, of rank 3 for one of rank 2. shared: fields that all grids have one array of, "v" or
 * "v,rho", that no step changes and that are read at the cell itself; NULL for none. */
stencil_tune_status stencil_tune_stencil_batched(const stencil_tune_stencil* stencil, const char* shared,
                                                 stencil_tune_stencil** batch);
void stencil_tune_stencil_release(stencil_tune_stencil* stencil); /**< NULL is fine */

/* What was understood. Texts live as long as the stencil; an index beyond the last gives NULL or 0. */

const char* stencil_tune_stencil_name(const stencil_tune_stencil* stencil);      /**< for people */
const char* stencil_tune_stencil_key(const stencil_tune_stencil* stencil);       /**< equal for equal updates */
const char* stencil_tune_stencil_text(const stencil_tune_stencil* stencil);      /**< its canonical text */
const char* stencil_tune_stencil_type(const stencil_tune_stencil* stencil);      /**< it asks for; NULL: any */
int32_t stencil_tune_stencil_rank(const stencil_tune_stencil* stencil);          /**< axes */
int32_t stencil_tune_stencil_stage_count(const stencil_tune_stencil* stencil);   /**< sweeps a step */
int32_t stencil_tune_stencil_field_count(const stencil_tune_stencil* stencil);   /**< addresses of a launch */
int32_t stencil_tune_stencil_measure_count(const stencil_tune_stencil* stencil); /**< what runs may measure */
/** How the measure makes one number of all cells: "sum", "min", "max". */
const char* stencil_tune_stencil_reduction(const stencil_tune_stencil* stencil, int32_t measure);
int32_t stencil_tune_stencil_coefficient_count(const stencil_tune_stencil* stencil); /**< numbers of a launch */
/** In the order of a launch's addresses. */
const char* stencil_tune_stencil_field_name(const stencil_tune_stencil* stencil, int32_t field);
/** In the order of a launch's numbers. */
const char* stencil_tune_stencil_coefficient_name(const stencil_tune_stencil* stencil, int32_t coefficient);
/** What a launch without numbers takes. */
double stencil_tune_stencil_coefficient_value(const stencil_tune_stencil* stencil, int32_t coefficient);
/** 1 where a step, or one after it, reads what the field held before it, else 0. */
int32_t stencil_tune_stencil_field_is_input(const stencil_tune_stencil* stencil, int32_t field);
/** 1 where a step writes the field, else 0. */
int32_t stencil_tune_stencil_field_is_output(const stencil_tune_stencil* stencil, int32_t field);
/** 1 where cells read the field at themselves alone, if at all, else 0. */
int32_t stencil_tune_stencil_field_is_pointwise(const stencil_tune_stencil* stencil, int32_t field);
/** What the field varies along alone: the sum of 1 for x, 2 for y and 4 for z. Its array has as many cells as the grid
 * has along them, dense, the first axis fastest. 8 for time: its array has an entry for each step's number, to the last
 * one that is made. 0 for a field of the whole grid. */
int32_t stencil_tune_stencil_field_along(const stencil_tune_stencil* stencil, int32_t field);
/** 0, 1 or 2 where the field exists in the layers at the ends of x, y or z alone; its array is one of the whole grid,
 * or with stencil_tune_request::slabs one of these. -1 for any other field. */
int32_t stencil_tune_stencil_field_layer_axis(const stencil_tune_stencil* stencil, int32_t field);
/** The type that the field's cells are stored in, "u8", where the definition gives it one of its own: "f64", "f32",
 * "f16", "bf16", "u8", "i8", "u16", "i16" or "i32". NULL for a field of the request's type. */
const char* stencil_tune_stencil_field_storage(const stencil_tune_stencil* stencil, int32_t field);
/** The field whose buffer stands for this one after a step: where u_next becomes u, the two change places; the field
 * itself where it stays. -1 beyond the last. */
int32_t stencil_tune_stencil_field_next(const stencil_tune_stencil* stencil, int32_t field);
/** The field whose held layers this one's buffer has once steps have written it: u_next and u_prev have those of u; the
 * field itself where it keeps its own. -1 beyond the last. */
int32_t stencil_tune_stencil_field_layers(const stencil_tune_stencil* stencil, int32_t field);
/** 1 where each stage writes weighted sums of cells alone, with weights that no field enters, else 0. */
int32_t stencil_tune_stencil_is_linear(const stencil_tune_stencil* stencil);
/** 1 where updates are not the same everywhere (coordinates, arrays along axes, layers, distances from edges), 2 where they
 * are not the same in each step (its number, random numbers, fields of time), else 0. low, high: how far arrays along axes are read, as
 * stencil_tune_stencil_reach() has it of fields. */
int32_t stencil_tune_stencil_is_placed(const stencil_tune_stencil* stencil, int32_t* low, int32_t* high);
/** Widths of the layers at the low and the high end of each axis, in cells, three numbers each. 1 where they are known,
 * else 0, and all are 0. */
int32_t stencil_tune_stencil_layer_widths(const stencil_tune_stencil* stencil, int64_t* low, int64_t* high);
/** How far a stage reads on each axis, the farthest of all: three numbers each, low <= 0 <= high, in cells. */
stencil_tune_status stencil_tune_stencil_reach(const stencil_tune_stencil* stencil, int32_t* low, int32_t* high);
/** What was understood, with a picture of the cells that are read, for people. The caller's: stencil_tune_free_text().
 */
stencil_tune_status stencil_tune_stencil_describe(const stencil_tune_stencil* stencil, char** text);
/** A TOML definition of an equal update, for other programs; its fields and coefficients are numbered, without those
 * that nothing uses. The caller's: stencil_tune_free_text(). */
stencil_tune_status stencil_tune_stencil_definition(const stencil_tune_stencil* stencil, char** text);

/** Refuses what stencil_tune_lookup() would refuse of the request whatever the GPU, and a grid of which boundary hold
 * keeps every cell: a lookup takes it, and launches do nothing. boundary: what lies beyond the edges of the grid, where
 * a definition says it itself too, as `boundary` of a request; stencil_tune_free_text(). NULL is fine. */
stencil_tune_status stencil_tune_check_request(const stencil_tune_request* request, char** boundary);
/** The array that kernels of the request take for a field: its cells along x, y and z, and how many lie from one to the
 * next along each, three numbers each. Of a field along some axes alone the others have one cell;
 * STENCIL_TUNE_INVALID_ARGUMENT for one of time. */
stencil_tune_status stencil_tune_field_array(const stencil_tune_request* request, int32_t field, int64_t* extents,
                                             int64_t* strides);
/** The best kernel known for the request. Compiles nothing yet. */
stencil_tune_status stencil_tune_lookup(stencil_tune_library* library, const stencil_tune_request* request,
                                        stencil_tune_kernel** kernel);
void stencil_tune_release(stencil_tune_kernel* kernel); /**< NULL is fine */

/* What was found. Texts live as long as the kernel. */

/** How well the stage fits that matches worst. */
stencil_tune_match stencil_tune_kernel_match(const stencil_tune_kernel* kernel);
const char* stencil_tune_kernel_code(const stencil_tune_kernel* kernel);     /**< code of the first stage */
const char* stencil_tune_kernel_evidence(const stencil_tune_kernel* kernel); /**< a sentence a stage */
double stencil_tune_kernel_gstencils(const stencil_tune_kernel* kernel);     /**< GStencil/s when tuned, else 0 */
/** The whole of it, for one stage in a launch; -1: of the kernel that most of a long stencil_tune_advance() goes
 * through, of several the worst match with the rate of all together. evidence: from STENCIL_TUNE_EVIDENCE_INIT. */
stencil_tune_status stencil_tune_kernel_evidence_of(const stencil_tune_kernel* kernel, int32_t stage,
                                                    stencil_tune_evidence* evidence);
const char* stencil_tune_kernel_architecture(const stencil_tune_kernel* kernel); /**< looked up for: "sm_90" */
int32_t stencil_tune_kernel_stage_count(const stencil_tune_kernel* kernel);      /**< how many the stencil has */
/** Steps that one launch of stencil_tune_advance() makes; 1 where none are fused. */
int32_t stencil_tune_kernel_fused_steps(const stencil_tune_kernel* kernel);
/** The cells that a step writes: three indices each, low <= cell < high. */
stencil_tune_status stencil_tune_kernel_updated_box(const stencil_tune_kernel* kernel, int32_t stage, int64_t* low,
                                                    int64_t* high);
/** Device addresses that a launch takes. */
int32_t stencil_tune_kernel_field_count(const stencil_tune_kernel* kernel);
/** Coefficients that a launch takes, where any are given. */
int32_t stencil_tune_kernel_coefficient_count(const stencil_tune_kernel* kernel);
/** Bytes of the array of a field of the whole grid. */
size_t stencil_tune_kernel_field_bytes(const stencil_tune_kernel* kernel);
/** Bytes that the fields' addresses must be multiples of. */
size_t stencil_tune_kernel_alignment(const stencil_tune_kernel* kernel);
/** Ordinal of the GPU that it was looked up for; -1 for one by its name. */
int32_t stencil_tune_kernel_device(const stencil_tune_kernel* kernel);
/** Bytes of spare buffers that each stream takes which advances. */
size_t stencil_tune_kernel_workspace_bytes(const stencil_tune_kernel* kernel);

/* The kernel as text. What these return is the caller's: stencil_tune_free_text(). */

/** CUDA source of one stage, as NVRTC is given it. */
stencil_tune_status stencil_tune_kernel_source(const stencil_tune_kernel* kernel, int32_t stage, char** text);
/** A file that nvcc alone builds, with a launcher and its evidence in a comment. options: NULL for the defaults.
 * header: empty unless split; may be NULL where it is not. */
stencil_tune_status stencil_tune_export_text(const stencil_tune_kernel* kernel,
                                             const stencil_tune_export_options* options, char** source, char** header);
/** The same into a file, and into its neighbour NAME.h where it is split. */
stencil_tune_status stencil_tune_export_file(const stencil_tune_kernel* kernel,
                                             const stencil_tune_export_options* options, const char* path);
void stencil_tune_free_text(char* text); /**< NULL is fine */

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

/** One stage of a step, or some cells of it. */
stencil_tune_status stencil_tune_launch_stage(const stencil_tune_kernel* kernel, int32_t stage,
                                              struct CUstream_st* stream, void* const* fields, int32_t field_count,
                                              const double* coefficients, int32_t coefficient_count, const int64_t* low,
                                              const int64_t* high);

/** `steps` steps; fields[i] is afterwards the buffer that will hold field i. */
stencil_tune_status stencil_tune_advance(const stencil_tune_kernel* kernel, struct CUstream_st* stream, void** fields,
                                         int32_t field_count, int64_t steps, const double* coefficients,
                                         int32_t coefficient_count);

/* On any thread, whatever context is current there or none: for languages whose libraries look after contexts. Where
 * the current context is not on the kernel's GPU, that GPU's primary context is made current for the call.
 */

/** stencil_tune_prepare(), and where runs take spare buffers those of the stream. */
stencil_tune_status stencil_tune_prepare_on_device(stencil_tune_kernel* kernel, struct CUstream_st* stream);
/** stencil_tune_launch(), after stencil_tune_prepare_on_device() where that was not called in the context. */
stencil_tune_status stencil_tune_launch_on_device(stencil_tune_kernel* kernel, struct CUstream_st* stream,
                                                  void* const* fields, int32_t field_count, const double* coefficients,
                                                  int32_t coefficient_count, const int64_t* low, const int64_t* high);
/** stencil_tune_advance(), in the same way. */
stencil_tune_status stencil_tune_advance_on_device(stencil_tune_kernel* kernel, struct CUstream_st* stream,
                                                   void** fields, int32_t field_count, int64_t steps,
                                                   const double* coefficients, int32_t coefficient_count);
/** One field's array to another, asynchronous on the stream. */
stencil_tune_status stencil_tune_copy_field_on_device(stencil_tune_kernel* kernel, struct CUstream_st* stream, void* to,
                                                      const void* from);
/** stencil_tune_copy_to_host() of an array on the kernel's GPU. */
stencil_tune_status stencil_tune_read_array_on_device(stencil_tune_kernel* kernel, struct CUstream_st* stream, void* to,
                                                      const void* from, size_t bytes);
/** stencil_tune_copy_to_device() of one. */
stencil_tune_status stencil_tune_write_array_on_device(stencil_tune_kernel* kernel, struct CUstream_st* stream,
                                                       void* to, const void* from, size_t bytes);

/* The same at a place, for definitions that use coordinates (x, y, z) or the number of the step (t); others do not ask.
 * origin: coordinates of the grid's first cell, three numbers; NULL for 0. step: the number of the first step that is
 * made. What says no place is at the origin, in step 0. */

/** stencil_tune_launch() at a place. */
stencil_tune_status stencil_tune_launch_at(const stencil_tune_kernel* kernel, const int64_t* origin, int64_t step,
                                           struct CUstream_st* stream, void* const* fields, int32_t field_count,
                                           const double* coefficients, int32_t coefficient_count, const int64_t* low,
                                           const int64_t* high);
/** stencil_tune_launch_stage() at a place. */
stencil_tune_status stencil_tune_launch_stage_at(const stencil_tune_kernel* kernel, const int64_t* origin, int64_t step,
                                                 int32_t stage, struct CUstream_st* stream, void* const* fields,
                                                 int32_t field_count, const double* coefficients,
                                                 int32_t coefficient_count, const int64_t* low, const int64_t* high);
/** stencil_tune_advance() at a place. */
stencil_tune_status stencil_tune_advance_at(const stencil_tune_kernel* kernel, const int64_t* origin, int64_t step,
                                            struct CUstream_st* stream, void** fields, int32_t field_count,
                                            int64_t steps, const double* coefficients, int32_t coefficient_count);

/* Points: sources, which add time series at cells during a run, and receivers, which record cells; exact inside fused
 * steps. */

/** Writes the cells around a position between them, weighted linearly along each axis, to `cells`, which has room for
 * 8; returns how many there are. position: three numbers in cells, where (0, 0, 0) is the middle of the first one. */
int32_t stencil_tune_spread(int32_t point, int32_t field, const double* position, stencil_tune_point_cell* cells);
/** Checks the points, sorts them for the kernel's launches, and copies them to the current context's device; does what
 * stencil_tune_prepare() does first. Kernels that take points are compiled here once; other points need no compiling.
 * Waits for the copies. STENCIL_TUNE_INVALID_ARGUMENT: the message names the first point that is wrong.
 * The points keep the kernel alive, and serve one stream at a time. */
stencil_tune_status stencil_tune_place_points(stencil_tune_kernel* kernel, const stencil_tune_point_list* list,
                                              stencil_tune_points** points);
void stencil_tune_release_points(stencil_tune_points* points); /**< NULL is fine; in the context that they are in */
/** Rows that a call of so many steps records: steps / every. */
int64_t stencil_tune_points_records(const stencil_tune_points* points, int64_t steps);
/** Steps that one launch of a long run with the points makes. */
int32_t stencil_tune_points_fused_steps(const stencil_tune_points* points);
/** What runs with the points go without, and why, a line each; empty where they run what all others do. Lives as long
 * as the points. */
const char* stencil_tune_points_notes(const stencil_tune_points* points);
/** stencil_tune_advance_at() with points. series: device memory [step of the call][source], NULL where there are no
 * sources. records: device memory [record][receiver], NULL where nothing is recorded. Both in the type that kernels
 * compute in: double for "f64", else float. Where several calls make one run, each is given its own rows, and all but
 * the last make a multiple of `every` steps. Can be captured in a graph. */
stencil_tune_status stencil_tune_advance_with_points(const stencil_tune_kernel* kernel,
                                                     const stencil_tune_points* points, const void* series,
                                                     void* records, const int64_t* origin, int64_t step,
                                                     struct CUstream_st* stream, void** fields, int32_t field_count,
                                                     int64_t steps, const double* coefficients,
                                                     int32_t coefficient_count);

/* On any thread, as stencil_tune_launch_on_device(), at a place and with points. */

/** stencil_tune_launch_at(). */
stencil_tune_status stencil_tune_launch_at_on_device(stencil_tune_kernel* kernel, const int64_t* origin, int64_t step,
                                                     struct CUstream_st* stream, void* const* fields,
                                                     int32_t field_count, const double* coefficients,
                                                     int32_t coefficient_count, const int64_t* low,
                                                     const int64_t* high);
/** stencil_tune_advance_at(). */
stencil_tune_status stencil_tune_advance_at_on_device(stencil_tune_kernel* kernel, const int64_t* origin, int64_t step,
                                                      struct CUstream_st* stream, void** fields, int32_t field_count,
                                                      int64_t steps, const double* coefficients,
                                                      int32_t coefficient_count);
/** stencil_tune_place_points(). */
stencil_tune_status stencil_tune_place_points_on_device(stencil_tune_kernel* kernel,
                                                        const stencil_tune_point_list* list,
                                                        stencil_tune_points** points);
/** stencil_tune_release_points(); the kernel is the one that they were placed for. */
stencil_tune_status stencil_tune_release_points_on_device(stencil_tune_kernel* kernel, stencil_tune_points* points);
/** stencil_tune_advance_with_points(). */
stencil_tune_status stencil_tune_advance_with_points_on_device(stencil_tune_kernel* kernel,
                                                               const stencil_tune_points* points, const void* series,
                                                               void* records, const int64_t* origin, int64_t step,
                                                               struct CUstream_st* stream, void** fields,
                                                               int32_t field_count, int64_t steps,
                                                               const double* coefficients, int32_t coefficient_count);

/** The arrays of a field in the steps of a run, evenly spaced. */
typedef struct stencil_tune_history {
  int64_t bytes; /**< from a step's array to that of the next step; negative where they go backwards */
  int32_t field;
  int32_t reserved; /**< 0 */
} stencil_tune_history;
/** stencil_tune_advance_at_on_device(), or with points stencil_tune_advance_with_points_on_device(), with another array
 * for some fields in each step: a run that leaves all of its states behind, or reads those of another. fields: has the
 * first step's. Steps are made one by one. points: NULL for none. */
stencil_tune_status stencil_tune_advance_with_histories_on_device(
    stencil_tune_kernel* kernel, const stencil_tune_history* histories, int32_t history_count,
    const stencil_tune_points* points, const void* series, void* records, const int64_t* origin, int64_t step,
    struct CUstream_st* stream, void** fields, int32_t field_count, int64_t steps, const double* coefficients,
    int32_t coefficient_count);

/* Fewer arguments and fewer calls for languages in which both cost more than the launch. */

/** stencil_tune_launch_on_device() of the whole grid with the stencil's own coefficients; all fields are given. */
stencil_tune_status stencil_tune_step_on_device(stencil_tune_kernel* kernel, struct CUstream_st* stream,
                                                void* const* fields);
/** The same with coefficients into outputs that hold nothing yet: the layers that boundary hold keeps are copied there
 * first, from the fields that the outputs become. */
stencil_tune_status stencil_tune_step_into_new_on_device(stencil_tune_kernel* kernel, struct CUstream_st* stream,
                                                         void* const* fields, const double* coefficients,
                                                         int32_t coefficient_count);
/** stencil_tune_advance_at_on_device() of fields whose arrays carry the same held layers already, as after another run
 * of theirs: they are not copied again. */
stencil_tune_status stencil_tune_advance_again_on_device(stencil_tune_kernel* kernel, const int64_t* origin,
                                                         int64_t step, struct CUstream_st* stream, void** fields,
                                                         int32_t field_count, int64_t steps, const double* coefficients,
                                                         int32_t coefficient_count);
/** Is given what a run has measured after so many of its steps, one number for each output of
 * stencil_tune_stencil_measured(). Other than 0 ends the run. */
typedef int32_t (*stencil_tune_stop)(void* user, int64_t steps, const double* numbers, int32_t count);
/** stencil_tune_advance_at_on_device() that measures after each `every` steps, and after the last. The GPU has the next
 * `every` steps to do when `stop` is asked, so that the run ends so many later. With 0 steps it measures the fields as
 * they stand. Waits for the last measurement. made: the number of steps that were made. */
stencil_tune_status stencil_tune_advance_until_on_device(stencil_tune_kernel* kernel, const int64_t* origin,
                                                         int64_t step, struct CUstream_st* stream, void** fields,
                                                         int32_t field_count, int64_t steps, const double* coefficients,
                                                         int32_t coefficient_count, int64_t every,
                                                         stencil_tune_stop stop, void* user, int64_t* made);
/** stencil_tune_launch_on_device() for each of some boxes, in order, for stencils of one stage. boxes: low x, y, z,
 * then high x, y, z of each. Where one is refused, those before it were launched. */
stencil_tune_status stencil_tune_launch_boxes_on_device(stencil_tune_kernel* kernel, struct CUstream_st* stream,
                                                        void* const* fields, int32_t field_count,
                                                        const double* coefficients, int32_t coefficient_count,
                                                        const int64_t* boxes, int32_t box_count);

/** How arrays of a Python library are read where the library has DLPack 1.3's exchange interface in C: PyTorch. */
typedef struct stencil_tune_exchange {
  size_t struct_size;                       /**< sizeof(stencil_tune_exchange) */
  const void* table;                        /**< the DLPackExchangeAPI of the arrays' type, of dlpack.h 1 */
  void* (*item)(void* arrays, ptrdiff_t i); /**< array i, borrowed: PyTuple_GetItem() */
  void* (*release_lock)(void);              /**< releases the interpreter's lock for the launch: PyEval_SaveThread() */
  void (*take_lock)(void* thread);          /**< PyEval_RestoreThread() */
  const int32_t* fields;                    /**< the field that each array is */
  int32_t count;                            /**< how many arrays: as many as the stencil has fields */
  int32_t reserved;                         /**< 0 */
} stencil_tune_exchange;

/** stencil_tune_step_on_device() on arrays, on the current stream of their library; the caller holds the interpreter's
 * lock. STENCIL_TUNE_INVALID_ARGUMENT for an array on another GPU, or of another type, extents or pitch; where it is
 * none of the library's, a Python exception is set too. */
stencil_tune_status stencil_tune_step_of_arrays(stencil_tune_kernel* kernel, const stencil_tune_exchange* how,
                                                void* arrays);
/** stencil_tune_step_into_new_on_device() in the same way, with the stencil's own coefficients. */
stencil_tune_status stencil_tune_step_into_new_of_arrays(stencil_tune_kernel* kernel, const stencil_tune_exchange* how,
                                                         void* arrays);

/* Kernels of the user's own: docs/kernels-of-your-own.md. */

/** A size of a definition with the value that it is wanted for. */
typedef struct stencil_tune_user_kernel_size {
  const char* name; /**< as the definition has it */
  int64_t value;    /**< what the launches will have */
} stencil_tune_user_kernel_size;

/** The configuration that won for these sizes on a GPU, else the next best that is known. Compiles nothing yet.
 * definition: path of a source or definition (*.cu, *.toml), or a name that is looked for in the folders of
 * STENCIL_TUNE_KERNELS. device: ordinal; -1: the GPU of the current context, else 0. */
stencil_tune_status stencil_tune_user_kernel_find(stencil_tune_library* library, const char* definition,
                                                  const stencil_tune_user_kernel_size* sizes, int32_t size_count,
                                                  int32_t device, stencil_tune_user_kernel** kernel);
void stencil_tune_user_kernel_release(stencil_tune_user_kernel* kernel); /**< NULL is fine */

/* Texts live as long as the kernel. */
stencil_tune_match stencil_tune_user_kernel_match(const stencil_tune_user_kernel* kernel); /**< how well it fits */
const char* stencil_tune_user_kernel_code(const stencil_tune_user_kernel* kernel);         /**< "TILE=32,RX=4" */
const char* stencil_tune_user_kernel_evidence(const stencil_tune_user_kernel* kernel);     /**< all of it, for people */
double stencil_tune_user_kernel_rate(const stencil_tune_user_kernel* kernel);              /**< when tuned; 0: never */
const char* stencil_tune_user_kernel_unit(const stencil_tune_user_kernel* kernel); /**< unit of the rate: "GFLOP/s" */
int32_t stencil_tune_user_kernel_device(const stencil_tune_user_kernel* kernel);   /**< ordinal of its GPU */
/** The CUDA source as it is compiled; to be freed by stencil_tune_free_text(). */
stencil_tune_status stencil_tune_user_source(const stencil_tune_user_kernel* kernel, char** text);

/** How many arguments a launch takes. */
int32_t stencil_tune_user_kernel_argument_count(const stencil_tune_user_kernel* kernel);
/** NULL where there is no such argument. */
const char* stencil_tune_user_kernel_argument_name(const stencil_tune_user_kernel* kernel, int32_t argument);
/** "f32*": the address of an array; "i32": a value. NULL where there is no such argument. */
const char* stencil_tune_user_kernel_argument_type(const stencil_tune_user_kernel* kernel, int32_t argument);
/** That an array has at the least; 0: it is a value, or there is no such argument. */
int64_t stencil_tune_user_kernel_argument_cells(const stencil_tune_user_kernel* kernel, int32_t argument);
/** 1: an array that the kernel writes. */
int32_t stencil_tune_user_kernel_argument_is_written(const stencil_tune_user_kernel* kernel, int32_t argument);

/** Compiles (or takes from the binary cache) and loads into the current context. Needed once a context. */
stencil_tune_status stencil_tune_user_kernel_prepare(stencil_tune_user_kernel* kernel);
/** One launch in the current context, with the grid of the sizes that the kernel was looked up for. arguments: where
 * each argument stands, as cuLaunchKernel() takes them: a device address, or a value in the definition's type. */
stencil_tune_status stencil_tune_user_kernel_launch(stencil_tune_user_kernel* kernel, struct CUstream_st* stream,
                                                    void* const* arguments, int32_t argument_count);
/** The same on any thread: the kernel's GPU is made current for the call, and the kernel prepared there. */
stencil_tune_status stencil_tune_user_kernel_launch_on_device(stencil_tune_user_kernel* kernel,
                                                              struct CUstream_st* stream, void* const* arguments,
                                                              int32_t argument_count);

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
/** Waits for all work on the stream. */
stencil_tune_status stencil_tune_synchronize(struct CUstream_st* stream);

#ifdef __cplusplus
}
#endif

#endif
