// Is a kernel right? Whole arrays, on the device, against the independent reference.
#pragma once

#include "tuner/measure/launcher.hpp"
#include "tuner/verify/check_case.hpp"
#include "tuner/verify/check_kernels.hpp"
#include "tuner/verify/field_set.hpp"
#include "tuner/verify/reference/device_reference.hpp"
#include "tuner/verify/reference/step_references.hpp"
#include "tuner/verify/sharpness.hpp"

#include <map>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace stencil_tune {

/// Everything verification needs for one session, on one stream and its thread's context.
///
/// A check fills the inputs, poisons everything else (outputs, guard bands, the padding of rows), runs one launch and
/// looks at every cell of all that it stores: updated ones against the reference, all others against what they held.
/// The numbers that go in are such that the check would notice a wrong kernel (tuner/verify/sharpness.hpp).
class Verification {
 public:
  /// Compiles the checking kernels, allocates, has the device's reference agree with the CPU's on a small grid, and
  /// computes the problem's reference into what device memory is left (where that does not hold all of it, piece by
  /// piece again for each candidate). A large grid (checks_in_slabs) is compared in slabs along its last axis. `fields`
  /// are the problem's own, used for checking and timing alike; problem and fields must outlive this. Throws Error:
  /// exceeds_device_memory, or invalid_argument for a stencil whose results cannot be bounded.
  Verification(Driver& driver, const std::string& architecture, const Limits& limits, const Problem& problem,
               const FieldSet& fields, std::uint64_t seed, CUstream_st* stream);

  /// Runs the candidate on the problem, of which a large grid is compared at both ends and in two slabs between them,
  /// others for each candidate; then on awkward small grids, there also (one sweep, stencils that can) with
  /// integers that must agree to the bit. Returns what is wrong, in a sentence; nothing when all is right. Throws Error
  /// when the kernel cannot be launched or breaks the context, or (exceeds_device_memory) memory does not hold the
  /// reference for the steps that it fuses.
  std::optional<std::string> verify(const Launcher& candidate);

  /// How sharp the candidate's checks are, right after it has been verified: below kSharp it has not been.
  Sharpness sharpness(const Launcher& candidate);

  /// Runs it so many times on the problem: threads that race are not wrong every time. On a large grid
  /// each launch is compared in other slabs, which cover all cells, or in as few as a candidate is.
  std::optional<std::string> verify_launches(const Launcher& candidate, int launches, bool all_cells = true);

  /// Fills all fields for timing: random, with the same held layers in all buffers that rotate.
  void fill_for_timing();

 private:
  /// One launch of a candidate, and what its results are compared with.
  struct CheckedLaunch {
    const Problem& problem;
    const FieldSet& fields;
    const CheckCase& how;
    int steps = 1;                     ///< steps that the kernel makes
    StepReferences* levels = nullptr;  ///< null: a sweep of one stage, compared slab by slab
    std::optional<StepSlab> slab{};    ///< what is compared with the levels; nothing: all
  };
  /// What a launch stores: the field, under its name before the last rotation, and where.
  struct Stored {
    int field = 0;
    int place = 0;
    Box box;
  };

  std::vector<Stored> stored_by(const CheckedLaunch& launch) const;
  bool has_levels(int steps) const { return steps > 1 || stages_.size() > 1; }
  void fill(const CheckedLaunch& launch, int place);
  void prepare_fields(const CheckedLaunch& launch);
  void agree_with_cpu();
  void compute_whole();
  void compare_stored(const CheckedLaunch& launch, std::size_t output, const Stored& stored);
  const CheckCase& case_of(int steps);
  StepReferences& whole_levels(int steps);
  std::optional<std::string> check(const Launcher& candidate, const CheckedLaunch& launch,
                                   std::span<const StepSlab> slabs = {});
  std::optional<std::string> compare_slab(CheckedLaunch launch, const std::vector<Stored>& stored,
                                          const StepSlab& slab);
  std::vector<StepSlab> slabs_of(int steps, std::int64_t cells);
  std::vector<StepSlab> some_slabs(int steps);
  void look_at_other_cells(const CheckedLaunch& launch, const Stored& stored);
  void look_at_inputs(const CheckedLaunch& launch, const std::vector<Stored>& stored);
  std::optional<std::string> check_small(const Launcher& candidate, const Extents& extents, std::int64_t pitch);
  void clear_report();
  std::string describe(const CheckedLaunch& launch, std::size_t output, const Stored& stored,
                       const check::Report& report);
  std::string describe_mismatch(const CheckedLaunch& launch, std::size_t output, const Stored& stored,
                                const check::Report& report);

  Driver& driver_;
  const Problem& problem_;
  const FieldSet& fields_;
  Limits limits_;
  std::uint64_t seed_;
  std::vector<Problem> stages_;          ///< stages of problem_
  std::map<int, SharpNumbers> numbers_;  ///< by steps
  CheckCase single_;                     ///< one step's
  std::optional<CheckCase> exact_;       ///< one step's, on small grids
  std::optional<CheckCase> fused_case_;  ///< the case of the steps that were checked last
  CheckKernels kernels_;
  FieldSet small_fields_;
  DeviceBuffer report_;
  bool in_slabs_;                           ///< the problem's grid is compared in slabs
  double slab_bytes_ = 0;                   ///< their references may take
  std::mt19937_64 places_;                  ///< of those that candidates are compared in
  std::uint64_t unbounded_ = 0, seen_ = 0;  ///< cells of the last check in slabs: that may hold anything, and all
  std::optional<ReferencePool> slab_pool_;
  std::int64_t slab_capacity_ = 0;          ///< cells of its references
  bool fits_ = true;                        ///< the device holds the reference of one sweep
  std::optional<DeviceReference> whole_;    ///< one sweep's, output after output, where it fits and is asked for
  std::optional<DeviceReference> scratch_;  ///< everything else of single sweeps, computed when needed
  ReferencePool small_pool_;                ///< for levels on small grids
  ReferencePool whole_pool_;                ///< for levels on the problem's grid
  std::optional<StepReferences> levels_;    ///< references of the problem, with the case that was checked last
  const CheckCase* levels_case_ = nullptr;  ///< the case that levels_ belongs to
};

}  // namespace stencil_tune
