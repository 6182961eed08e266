// What the performance model takes from measurement: one table a GPU model, written by bench/fit from recorded trials.
//
// What a candidate asks of the machine is counted (work.hpp), and how times combine is code (sweep_time.cpp,
// temporal_time.cpp). The constants between the two stand here. Many are no unit cost that a counter shows, but what
// fits. Terms of single parameter values say what no constant does. A table is a file of runtime/model/calibrations/,
// which says to what it was fitted and how well.
#pragma once

#include "runtime/model/device_model.hpp"
#include "runtime/model/parameter_terms.hpp"

#include <nlohmann/json_fwd.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stencil_tune {

/// Constants of DRAM and L2, for all kernels.
struct MemoryConstants {
  double dram_efficiency;  ///< rate over the device model's: refresh and turn-around taken off
  double l2_efficiency;    ///< rate over the device model's
  double cache_from;       ///< part of a cache that surely still holds what was touched this many bytes ago
  double copy_norm;        ///< power of the norm of a plain copy's times
};

/// Constants of kernels that make one step.
struct SweepConstants {
  double norm;                      ///< power of the norm of the parts' times
  double beyond_copy;               ///< the power at which a time counts that is longer than the copy's
  double latency_ns;                ///< latency of a load from DRAM, with others on their way
  double block_start_ns;            ///< from a free slot to the first load, and from the last store to a free slot
  double barrier_ns;                ///< what one barrier costs a block
  double first_read_cost;           ///< L2's cost for a sector's first read, which DRAM bounds; that of a write is 1
  double reread_cost;               ///< L2's cost for a sector that another block reads again
  double strided_l1_cost;           ///< share that a wavefront costs more for each vector that a lane skips
  double strided_l2_cost;           ///< likewise for a sector in L2: parts of it are moved at a time
  double near_share;                ///< share of rereads' cost that clusters save where copies are on their way
  double near_share_of_short;       ///< likewise, where short blocks load by themselves
  double gather_ns;                 ///< wait until a cluster's places are free, for each doubling of its blocks
  double gather_of_walks_ns;        ///< likewise, for blocks that walk and load by themselves
  double turn_ns;                   ///< what each tile costs a block that takes several: none starts early in its place
  double overlap_between_barriers;  ///< factor of overlap: arithmetic and shared memory, warps that wait for no data
  double ready_share;               ///< share of the clocks in which a single warp has an instruction ready
  double arithmetic_clocks;         ///< clocks of a multiply-add, where lanes do one a clock: others hide most
  double other_clocks;              ///< clocks of any other instruction, many of them loads
  double waiting_clocks;            ///< likewise, where warps wait for what they load
  double l1_cost;                   ///< clocks of a wavefront: those of one access follow each other closely
  double shared_cost;               ///< clocks of a wavefront: warps come to shared memory at the same time
  double depth_cost;                ///< share of DRAM's rate lost each time that a walk is twice as deep
  double spill_cost;                ///< share of what is spilled that is moved at each plane
  double thread_instructions;       ///< instructions before the first load: indices, bounds, pointers
  double step_instructions;         ///< instructions for each plane walked, beside its rows' addresses
};

/// Constants of kernels that fuse several steps. Few of their warps share a scheduler.
struct FusedConstants {
  double norm;                   ///< power of the norm of the parts' times
  double ready_share;            ///< share of the clocks in which a single warp has an instruction ready
  double f32_clocks;             ///< a scheduler's clocks for a multiply-add: operands in one register bank wait
  double other_clocks;           ///< its clocks for any other instruction; some that are counted never come to be
  double cached_instructions;    ///< instructions of a loop's body that the instruction cache holds
  double fetch_cost;             ///< cost of an instruction beyond them, that of issuing it being 1
  double spill_cost;             ///< share of what is spilled that is moved at each plane
  double reread_cost;            ///< L2's cost for a sector that another block reads again
  double depth_cost;             ///< share of DRAM's rate lost each time that a walk is twice as deep
  double apart_cost;             ///< factor on DRAM's time where a column's chunks run at once, in planes far apart
  double stored_cost;            ///< factor on DRAM's time where what is stored stays in L2 in place of halos
  double split_sector_cost;      ///< sectors more that DRAM moves for one of which two blocks store a part each
  double block_start_ns;         ///< from a free slot to the first load, and from the last store to a free slot
  double trip_ns;                ///< trip of a group of planes from DRAM, with others on their way
  double seam_ns;                ///< wait of two blocks of a cluster for each other at each plane. Among more, each
                                 ///< waits for others that wait: as often as their number halves
  double overlap_of_warps;       ///< factor of overlap: arithmetic, shuffles and shared memory
  double overlap_with_barriers;  ///< the same where warps wait for each other
  double slack_of_last_level;    ///< by how much more overlaps where warps wait for each other before the last level is
                                 ///< updated, were that all of the work
  double step_instructions;      ///< instructions for a plane that belong to no level: addresses of copies and stores
  double level_instructions;     ///< instructions for a plane in each level
  double tma_instructions;       ///< instructions for a plane that TMA brings: the fence, which waits for stores
  double split_instructions;     ///< instructions for a plane where warps wait for each other within a step
  double block_instructions;     ///< instructions before and after the walk
};

/// Registers of a thread, until the compiler has said how many. They hold 32-bit values.
struct RegisterConstants {
  double base;  ///< registers that every kernel takes

  // direct
  double direct_window;  ///< share of the cells that the register tile reads, held at once
  double direct_other;

  // streaming that keeps cells
  double registers_window;    ///< planes in registers: share of the cells that the register tile reads, held at once
  double registers_prefetch;  ///< share of the cells of a plane on its way
  double registers_other;
  double ring_window;  ///< planes in a pipeline in shared memory
  double ring_other;
  double shared_window;   ///< planes in shared memory, all or the current one
  double shared_results;  ///< beside the outputs that count as cells
  double shared_unroll;   ///< share of the outputs that each doubling of the unrolled planes adds
  double shared_other;

  // streaming that keeps sums, unrolled by a turn of them
  double sums_ring;   ///< share of the sums under way, with a pipeline in shared memory
  double cells_ring;  ///< share of the cells of a plane
  double other_ring;
  double sums_registers;   ///< share of the sums under way, without a pipeline
  double cells_registers;  ///< share of the cells of a plane
  double other_registers;

  // streaming that keeps sums, in a loop of single steps: share of the cells of a plane that are held
  double step_tma;        ///< TMA fills the pipeline
  double step_copies;     ///< threads fill it
  double step_registers;  ///< there is none

  // fused steps
  double fused_planes;     ///< planes of a thread's outputs, beside those that levels hold
  double fused_halo;       ///< share of the halo of its register tile
  double fused_edge_cell;  ///< for each cell at the grid's edges that sums remember
  double fused_other;
  double fused_level;  ///< for each level
};

/// What a table was fitted to, and how well it fits.
struct FitRecord {
  std::string trials;    ///< file of bench/results/
  int problems = 0;      ///< in it
  int candidates = 0;    ///< in it
  double deviation = 0;  ///< spread of log(predicted rate / measured rate) within a problem, by the fit's weights; mean
  double level = 0;      ///< part of that log that all candidates of a problem share; root mean square
  double highest = 0;    ///< log(highest predicted rate / highest measured one) of a problem; root mean square
  double lost = 0;       ///< share of the best rate that the best of the model's first twelve of a problem misses; mean
  double agreement = 0;  ///< rank correlation of predicted and measured rates of a problem; mean
};

struct Calibration {
  std::string gpu;   ///< model name, as the driver reports it
  std::string date;  ///< day of the fit
  std::string note;
  std::vector<FitRecord> fitted_to;
  MemoryConstants memory;
  SweepConstants sweep;
  FusedConstants fused;
  RegisterConstants registers;
  TermTable terms;  ///< corrections of times, on top of the constants
};

void to_json(nlohmann::json& json, const Calibration& calibration);
/// Throws nlohmann::json::exception where a constant is missing or is no number.
void from_json(const nlohmann::json& json, Calibration& calibration);

/// The calibrations that ship; the first stands for all GPUs without one of their own.
std::span<const Calibration> calibrations();

/// The GPU's own; without one the H200's, whose constants then scale with the device model's figures.
const Calibration& calibration_of(const DeviceModel& device);

/// Which calibration a prediction for the device rests on, for people: "fitted on NVIDIA H200, 2026-11-22".
std::string describe_calibration(const DeviceModel& device, const Calibration& calibration);

}  // namespace stencil_tune
