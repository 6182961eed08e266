// What one launch of a candidate asks of the machine, counted from its geometry alone.
#pragma once

#include "generator/candidates/shape.hpp"
#include "runtime/model/calibration.hpp"

#include <array>
#include <cstddef>

namespace stencil_tune {

inline constexpr int kSectorBytes = 32;      ///< the unit in which L2 answers
inline constexpr int kWavefrontBytes = 128;  ///< what L1 and shared memory move a clock

/// Arrays run over the kernel's axes (generator/candidates/shape.hpp); counts are of the whole launch unless they say
/// otherwise.
struct Work {
  double blocks = 0;  ///< each takes one tile; a block that takes several counts as often
  double tiles_of_block = 1;
  int threads = 0;                       ///< threads of a block
  std::size_t shared_bytes = 0;          ///< dynamic shared memory of a block
  double steps = 1;                      ///< planes a block walks
  std::array<double, kMaxRank> tile{};   ///< output cells of a block, clipped to the grid
  std::array<double, kMaxRank> tiles{};  ///< tiles of the grid on each axis, the last one in part
  std::array<double, kMaxRank> halo{};   ///< cells read beyond the tile, both sides together
  double cells = 0;                      ///< updated
  double cell_bytes = 0;                 ///< bytes of a cell over all fields read and written
  double read_bytes = 0;                 ///< each input cell once
  double write_bytes = 0;                ///< each updated cell once
  double l2_read_sectors = 0;            ///< when L1 serves every repeat within a block
  double l2_write_sectors = 0;
  double split_sectors = 0;      ///< sectors of which two blocks store a part each, which costs DRAM more
  double l1_working_set = 0;     ///< bytes that a block wants kept in L1 for its other threads
  double l1_wavefronts = 0;      ///< wavefronts of global loads and stores
  double shared_wavefronts = 0;  ///< wavefronts of shared-memory loads and stores
  double instructions = 0;       ///< issued by warps, all kinds
  double arithmetic = 0;         ///< those among them in the lanes of the compute type
  double rounds = 0;             ///< trips to memory that a block makes one after the other
  double barriers = 0;           ///< barriers that a block passes
  bool asynchronous = false;     ///< inputs arrive while threads compute: they wait for no transfer of their own
  double live_values = 0;        ///< values that a thread holds at once
  double other_registers = 0;    ///< registers beside them, and beside those that every kernel needs
  double spilling_levels = 1;    ///< levels in which a thread needs as many registers
  double loop_instructions = 0;  ///< instructions of the body that a walk repeats; 0: small
};

/// Counts by the textbook's way: tiles with their halos, a row a run of whole sectors, a thread's distinct reads. One
/// function a kernel family (family_model.hpp).
Work count_direct_work(const Candidate& candidate, const Calibration& calibration);
Work count_tiled_work(const Candidate& candidate, const Calibration& calibration);
Work count_streaming_work(const Candidate& candidate, const Calibration& calibration);

/// These count all steps of the launch together.
Work count_temporal_work(const Candidate& candidate, const Calibration& calibration);
Work count_system_work(const Candidate& candidate, const Calibration& calibration);
Work count_systolic_work(const Candidate& candidate, const Calibration& calibration);
Work count_resident_work(const Candidate& candidate, const Calibration& calibration);

}  // namespace stencil_tune
