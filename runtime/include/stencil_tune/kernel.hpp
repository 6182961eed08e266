// A kernel that a Library found: prepared once, launched as often as wanted.
#pragma once

#include "stencil_tune/error.hpp"
#include "stencil_tune/export.hpp"
#include "stencil_tune/grid.hpp"
#include "stencil_tune/placed_points.hpp"
#include "stencil_tune/span.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct CUstream_st;  // what the CUDA driver and runtime APIs call CUstream and cudaStream_t

namespace stencil_tune {

/// How well the kernel fits what was asked for, best first. docs/concepts.md has what each is worth.
enum class Match {
  exact,              ///< tuned for this stencil, element type, boundary, extents, pitch, steps and GPU model
  stale,              ///< exact, but the kernel's template has changed since: right, its rate may differ from then
  same_form,          ///< tuned for a stencil of the same form, which differs in numbers: the rate is the same or near
  nearest_size,       ///< tuned on this GPU model for other extents, pitch or steps, and fitted to these by the model
  same_architecture,  ///< tuned on another GPU model of the same architecture
  predicted,          ///< chosen by the performance model among what won for other stencils; no GPU was timed
  default_candidate,  ///< nothing has won anywhere: a fixed candidate that is legal here
};

/// "exact", "stale", "same form", "nearest size", "same architecture", "predicted", "default".
std::string_view name(Match match) noexcept;

/// Why this kernel, for one stage of the stencil. Where nothing was tuned, all but code, match, loss and notes is
/// empty.
struct Evidence {
  Match match = Match::default_candidate;  ///< how well it fits
  std::string code{};                      ///< the candidate that runs, e.g. "streaming.bx32.by4.rx4.ry1.v4.cz4.regs"
  /// What the match may cost, and the command that mends it; empty where that is nothing: exact, same form.
  std::string loss{};
  std::string tuned_code{};      ///< the winner it comes from; differs where the kernel was fitted to this grid
  Extents tuned_extents{};       ///< where the winner won
  std::int64_t tuned_pitch = 0;  ///< cells from one row to the next, then
  std::string gpu{};             ///< model name, then
  std::string driver{};          ///< then
  std::string nvrtc{};           ///< then
  std::string tuned_at{};        ///< ISO 8601, UTC
  double gstencils = 0;          ///< GStencil/s then
  double share = 0;              ///< rate over the copy ceiling's then, 0..1
  /// What a careful reader would want to know: another driver, other templates, winners passed over and why.
  std::vector<std::string> notes{};

  std::string sentence() const;  ///< all of it, for people
};

/// When a run that measures stops.
struct Until {
  std::int64_t every = 1;  ///< steps from one measurement to the next
  /// Is given the number of steps that the call has made and what was measured then, one number for each of
  /// measure_names(). Where it returns true, no further steps are launched.
  std::function<bool(std::int64_t steps, Span<const double> numbers)> stop{};
};

/// The arrays of a field in the steps of a run, evenly spaced: [step], or backwards.
struct History {
  int field = 0;
  std::int64_t bytes = 0;  ///< from a step's array to that of the next step
};

/// A handle: copies share one kernel. All functions may be called from several threads at once.
///
/// A kernel works on the fields of the stencil, one device address for each entry of Stencil::fields in that order,
/// each an array of pitch * ny * nz cells of the element type: cell (x, y, z) stands at (z * ny + y) * pitch + x.
/// Addresses must be multiples of alignment() bytes, and what a stage writes must not overlap what it reads.
/// Coefficients are one number for each entry of Stencil::coefficients; empty means the stencil's own values.
///
/// All work is asynchronous on the given stream and in the calling thread's current context, be it the primary one or
/// another; nothing here synchronises. Functions throw Error(invalid_argument) for null, misaligned or overlapping
/// addresses, memory that the GPU does not reach, wrong counts, a box outside the updated cells, or a current context
/// that is on another GPU than the one the kernel was looked up for. A kernel that was looked up for a GPU by its name
/// (Request::gpu) can be read and written out; what would run it throws Error(no_device).
class Kernel {
 public:
  struct State;
  /// Library::lookup() makes kernels.
  explicit Kernel(std::shared_ptr<State> state) : state_(std::move(state)) {}

  Match match() const noexcept;  ///< the worst in the part of the plan that most of a long advance() goes through
  int stages() const noexcept;   ///< how many the stencil has

  /// Why this kernel runs the stage in launch() and launch_stage(); with a single stage the same as run_evidence().
  const Evidence& evidence(int stage = 0) const;

  /// Why the kernel runs that most of a long advance() goes through. Where those are several, stages or zones of the
  /// grid, it is that of the worst match with the rate of all together.
  const Evidence& run_evidence() const noexcept;

  /// Whether that kernel makes all stages of a step in one pass over memory.
  bool fuses_stages() const noexcept;

  /// Steps that one launch of advance() makes where the request was for several; 1 where none are fused. match() and
  /// run_evidence() are then about the kernel that fuses them, with a note on the one for single steps.
  int fused_steps() const noexcept;

  std::size_t alignment() const noexcept;    ///< bytes that the fields' addresses must be multiples of
  std::size_t field_bytes() const noexcept;  ///< bytes of the array of a field of the whole grid
  /// The array of a field. With Request::slabs that of a field in layers has fewer cells along their axis: the low
  /// end's layer first, the other's last. Throws Error(invalid_argument) for fields of time.
  ArrayLayout array(int field) const;
  /// Device memory that prepare() takes for each stream: spare buffers, where fused steps store more fields than the
  /// caller has buffers for, as with two time levels.
  std::size_t workspace_bytes() const noexcept;
  Box updated_box(int stage = 0) const;  ///< the cells a step writes

  std::string architecture() const;  ///< the one that it was looked up for: "sm_90"
  int device() const noexcept;       ///< ordinal of the GPU that it was looked up for; -1 for one by its name

  /// The CUDA source of what evidence(stage) names, -1: run_evidence(), as NVRTC is given it: its templates written
  /// out.
  std::string source(int stage = 0) const;

  /// The same kernel as a file that nvcc alone builds: a launcher for any grid that it can serve, and its evidence in a
  /// comment. Throws Error(invalid_argument) for a name that is no C identifier, and for -1 where a step takes several
  /// launches; Error(illegal_candidate) for another architecture that cannot run it.
  ExportedFiles export_cuda(const ExportOptions& options = {}, int stage = 0) const;

  /// Compiles (or takes from the binary cache) and loads into the current context. Idempotent; needed once a context.
  /// After it, no launch allocates, loads or unloads anything until the last handle is gone, so that launches can be
  /// captured into a CUDA graph. With LibraryOptions::compile_in_background it does not wait for the compiler where
  /// another kernel can stand in. Throws Error: compile_failed, missing_library, unsupported_driver, ...
  /// Where workspace_bytes() is not 0, the first stream that advances uses the spare buffers that prepare() allocates,
  /// and each other one those of a prepare(stream) of its own. Throws Error(exceeds_device_memory) too.
  void prepare();
  void prepare(CUstream_st* stream);  ///< with spare buffers of this stream's own

  /// True once the kernel that was looked up is loaded in the current context. Before, where the library compiles in
  /// the background, a slower one with the same results (but for rounding) runs; launches change over by themselves.
  bool ready() const;

  /// prepare(), and until ready(). Throws what the background compiler failed with. The context that was current in
  /// prepare() must live until then, or until the last handle is gone.
  void wait();

  /// One step, also where advance() fuses them: every stage in order. `box` limits a kernel with one stage to some of
  /// updated_box(), e.g. the cells beside the halo while it is being exchanged.
  void launch(CUstream_st* stream, Span<void* const> fields, Span<const double> coefficients = {},
              const std::optional<Box>& box = std::nullopt) const;

  /// The same for stencils with one input and one output field.
  void launch(CUstream_st* stream, const void* in, void* out, Span<const double> coefficients = {},
              const std::optional<Box>& box = std::nullopt) const;

  /// One stage of a step, or some cells of it.
  void launch_stage(int stage, CUstream_st* stream, Span<void* const> fields, Span<const double> coefficients = {},
                    const std::optional<Box>& box = std::nullopt) const;

  /// The same at a place, for definitions that use coordinates (x, y, z) or the number of the step (t); others do not
  /// ask. What says no place is at the origin, in step 0.
  void launch_at(const Place& place, CUstream_st* stream, Span<void* const> fields,
                 Span<const double> coefficients = {}, const std::optional<Box>& box = std::nullopt) const;
  /// One stage of a step at a place.
  void launch_stage_at(const Place& place, int stage, CUstream_st* stream, Span<void* const> fields,
                       Span<const double> coefficients = {}, const std::optional<Box>& box = std::nullopt) const;

  /// `steps` steps, rotating the buffers after each launch as the stencil's rotations say: steps / fused_steps() fused
  /// launches, one more for what those leave of Request::steps where it is two steps or more, then single steps. When
  /// it returns, fields[i] is the buffer that will hold field i once the stream gets there; which of the caller's
  /// buffers that is, the number of launches says, not that of steps. Fields between stages, which no rotation moves,
  /// then hold anything. Where fused steps use spare buffers, at most as many copies of a field end the call. Under
  /// boundary hold the layers that are never written are
  /// first copied from the current field to the buffers it rotates with. Throws Error(invalid_argument) for a negative
  /// number or a stencil without rotations.
  void advance(CUstream_st* stream, Span<void*> fields, std::int64_t steps, Span<const double> coefficients = {}) const;

  /// The same at a place, of which the first step is given: each of the steps has the number after the last one's.
  void advance_at(const Place& place, CUstream_st* stream, Span<void*> fields, std::int64_t steps,
                  Span<const double> coefficients = {}) const;

  /// Checks the points, sorts them for the kernels of this run, and copies them to the device; does what prepare() does
  /// first. The kernels that take points are compiled here once; other points need no compiling. Waits for the copies,
  /// so not while a stream is being captured. Throws Error(invalid_argument) that names the first point that
  /// is wrong, Error(exceeds_device_memory), and what prepare() throws.
  Points place_points(const PointList& points);

  /// advance() with points, exactly as if all steps were made one by one. `data` stays the caller's, and is read and
  /// written when the stream gets there. Step s of the call reads row s of the series. Where several calls make one
  /// run, each is given its own rows, and all but the last make a multiple of PointList::every steps. Fused steps of
  /// 16-bit types keep f32 between them, and receivers see that. Throws Error(invalid_argument) also for points that
  /// were placed for another kernel or context, and for addresses that are missing or that the GPU does not reach.
  void advance_with_points(const Points& points, const PointData& data, CUstream_st* stream, Span<void*> fields,
                           std::int64_t steps, Span<const double> coefficients = {}, const Place& place = {}) const;

  /// advance_at(), or with points advance_with_points(), with another array for some fields in each step: a run that
  /// leaves all of its states behind, or reads those of another. `fields` has the first step's. All steps are made one
  /// by one. points: null for none.
  void advance_with_histories(Span<const History> histories, const Points* points, const PointData& data,
                              CUstream_st* stream, Span<void*> fields, std::int64_t steps,
                              Span<const double> coefficients = {}, const Place& place = {}) const;

  /// Measures the fields as they stand: one f64 number for each of measure_names(), in device memory, when the stream
  /// gets there. Outputs' names in a measure stand for what the next step makes of the fields, with the entry that
  /// fields of time have for it. The order in which cells are joined follows from the grid alone; sums are made in f64;
  /// NaN in a cell is NaN in the number. Spare buffers are asked for as in advance(). Throws Error(invalid_argument)
  /// for a definition that measures nothing, too.
  void measure(CUstream_st* stream, Span<void* const> fields, double* numbers, Span<const double> coefficients = {},
               const Place& place = {}) const;

  /// advance_at() that measures after each `until.every` steps, and after the last, and stops when it is told to. The
  /// GPU does not wait for the answer: it has the next steps to do when `until.stop` is asked, so that the run ends so
  /// many steps later. With 0 steps it measures the fields as they stand. Returns the number of steps that were made;
  /// waits for the last measurement. What `stop` throws ends the run too, and is thrown once the fields are in place.
  std::int64_t advance_until(const Until& until, CUstream_st* stream, Span<void*> fields, std::int64_t steps,
                             Span<const double> coefficients = {}, const Place& place = {}) const;

  const State& state() const noexcept { return *state_; }  ///< for the library's own parts

 private:
  void load();

  std::shared_ptr<State> state_;
};

}  // namespace stencil_tune
