// What a Points handle stands for: the tables of a placement, in one piece of device memory.
#pragma once

#include "runtime/library/kernel_state.hpp"
#include "stencil_tune/placed_points.hpp"
#include "templates/points/point_arguments.cuh"
#include "templates/points/point_tables.cuh"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace stencil_tune {

/// Bytes of tables behind a parameter that has tensor maps, which are aligned to 64 bytes.
inline constexpr std::size_t kMostTableBytes = (sizeof(PointTables<double>) + 63) / 64 * 64;

/// The points of a kernel that fuses steps or stages.
struct FusedPoints {
  std::shared_ptr<LoadedKernel> kernel;  ///< null where it sees no points: the one without runs
  std::size_t table_bytes = 0;           ///< the kernel's parameter has, padding included
  PointTables<double> tables{};          ///< addresses; those of values may be floats'
  std::size_t first_captured = 0;        ///< place of its first cell among those that the part captures
};

/// The points in a part of the plan.
struct PartPoints {
  bool takes_part = true;            ///< false: its kernel takes no points, so that runs with them go without it
  std::vector<FusedPoints> fused{};  ///< one a kernel; none where the part is made stage by stage
  DevicePointer captured = 0;        ///< where launches leave the receivers' cells
  std::size_t captured_cells = 0;    ///< how many in a step
  DevicePointer places = 0;          ///< places of receivers' cells among the captured
  int launches_between_sums = 1;     ///< launches whose captured cells there is room for
};

/// The sources of a stage, for steps that are made stage by stage.
struct StageSources {
  std::vector<int> fields{};    ///< that they add to
  SourceLists<double> lists{};  ///< but for the series; addresses of values may be floats'
};

/// The receivers, for all parts.
struct Receivers {
  std::vector<int> fields{};      ///< recorded, under their names after a step
  ReceiverLists<double> lists{};  ///< but for the record. Numbers of fields go on from the last stage's sources
};

struct Points::State {
  State(std::shared_ptr<const Kernel::State> kernel, const PointList& points);
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State();  ///< frees the memory where its context is current, else leaves it to the context

  std::shared_ptr<const Kernel::State> kernel;
  std::uint64_t context_id = 0;
  int sources = 0, receivers = 0, every = 1;
  std::vector<PartPoints> parts;         ///< one for each of the plan's
  std::vector<StageSources> sources_of;  ///< [stage]
  Receivers recorded;
  bool receivers_apart = false;             ///< they take a launch of their own: too many share cells with sources
  std::shared_ptr<LoadedKernel> step, sum;  ///< null where there is nothing to do for them
  int fused_steps = 1;
  std::vector<std::string> notes;
  DevicePointer memory = 0;
  std::size_t bytes = 0;
};

}  // namespace stencil_tune
