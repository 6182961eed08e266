// What the database holds, as plain values.
#pragma once

#include "stencil_tune/grid.hpp"

#include <cstdint>
#include <string>

namespace stencil_tune {

/// How a trial ended.
enum class Outcome {
  ok,
  compile_failed,
  exceeds_limits,
  wrong_result,
  launch_failed,
  timeout,  ///< the kernel did not end
  device_lost,
  worker_killed,    ///< its worker died by a signal or disappeared
  compile_timeout,  ///< its compiler did not end
};

std::string_view name(Outcome outcome) noexcept;
Outcome parse_outcome(std::string_view text);  ///< throws Error(unknown_name)

/// What the machine may have caused and not the candidate, such as a system short of memory: one failure of this kind
/// says little.
bool deserves_another_try(Outcome outcome) noexcept;

/// Whether a problem is a stencil's or a kernel of the user's own.
enum class SubjectKind {
  stencil,
  kernel,  ///< a kernel of the user's own
};

std::string_view name(SubjectKind kind) noexcept;
SubjectKind parse_subject_kind(std::string_view text);  ///< throws Error(unknown_name)

/// What was tuned. Two problems with equal keys have the same winner.
struct ProblemKey {
  std::string stencil_key;   ///< hash of the canonical expression, or of what a user's kernel is
  std::string stencil_name;  ///< for people; not compared
  std::string form{};        ///< what problems of other keys may share winners by (stencil_form); not compared
  int stage = 0;
  ElementType type = ElementType::f32;
  Boundaries boundaries{};
  Extents extents;
  std::int64_t pitch = 0;
  int steps = 1;
  SubjectKind kind = SubjectKind::stencil;
  std::string sizes{};              ///< a user's kernel's: "m=1024 n=1024"; its extents are 1
  std::string unit = "GStencil/s";  ///< what rates are in; not compared

  friend bool operator==(const ProblemKey& a, const ProblemKey& b);
};

/// Where and with what it was tuned.
struct PlatformKey {
  std::string gpu;                   ///< model name; for predictions the modelled GPU
  std::string architecture;          ///< "sm_90"
  std::string driver;                ///< the GPU driver's version; "" for predictions
  std::string nvrtc;                 ///< the compiler's version
  std::string template_signature{};  ///< hash of the candidate's template text (generator/kernel_source/signature.hpp)
  std::string model{};               ///< the performance model's version; "" for what was measured
};

/// Time of one launch and how well it is known.
struct Timing {
  double median_ms = 0;
  double low_ms = 0;  ///< confidence interval of the median, 95 %
  double high_ms = 0;
  int samples = 0;
};

struct TrialRecord {
  std::int64_t id = 0;  ///< set by the store
  ProblemKey problem;
  PlatformKey platform;
  std::string
      machine_code;  ///< hash of what its kernel compiled to (runtime/compile/machine_code.hpp); "" if nothing did
  std::string code;  ///< the candidate
  Outcome outcome = Outcome::ok;
  std::string message;  ///< why it failed; empty when ok
  Timing timing;
  double rate = 0;         ///< in the problem's unit, in bursts; with a plan, of all of it: steps left over count too
  double ceiling_gbs = 0;  ///< copy ceiling of the run, GB/s
  double share = 0;        ///< rate over the copy ceiling's, 0..1
  int registers = 0;
  int spill_bytes = 0;
  std::int64_t shared_bytes = 0;  ///< per block, static + dynamic
  double occupancy = 0;           ///< resident warps over the SM's maximum, 0..1
  bool predicted = false;         ///< no GPU took part: figures come from the performance model
  bool raced = false;             ///< re-measured interleaved with the other finalists
  std::string session;            ///< groups the trials of one run
  std::string created_at;         ///< ISO 8601, UTC

  /// How many wrong cells the check notices. It was tried with one step too few, zeros, and a shift by one cell: the
  /// least share it told apart of the cells where exact results differ by more than rounding, 0..1; -1: not known.
  double sharpness = -1;
  std::string sharpness_note;  ///< what mathematics itself makes equal: "15 and 16 steps are equal in 93 % ..."
  std::string plan;            ///< launches of a run, steps x how many: "12x8+4x1"; empty for one kernel
  Objective objective = Objective::burst;  ///< what its race ranked by; see merit()
  double sustained_rate = 0;               ///< the rate under continuous load; 0: not raced so
  double watts = 0;                        ///< the GPU's under that load; 0 unknown
  double nanojoules = 0;                   ///< energy of one update under that load; 0 unknown
  int sm_clock_mhz = 0;                    ///< the lowest during the race; 0 unknown
  int memory_clock_mhz = 0;                ///< 0 unknown
  std::string throttle;                    ///< why clocks were lowered; empty: not at all, or unknown
};

/// A check that tells fewer cells apart is none: its candidate cannot win.
inline constexpr double kSharp = 0.95;

/// The best ok trial of a problem on a GPU model, with its evidence.
struct WinnerRecord {
  TrialRecord trial;
  double naive_rate = 0;  ///< the naive kernel's rate in the same session; 0 unknown
  int trials_seen = 0;    ///< how many trials it was best of
};

}  // namespace stencil_tune
