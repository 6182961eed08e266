// What a Points handle stands for: the tables of a placement, in one piece of device memory.
#pragma once

#include "runtime/library/kernel_state.hpp"
#include "stencil_tune/placed_points.hpp"
#include "templates/points/point_tables.cuh"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace stencil_tune {

/// The points of a kernel that fuses steps or stages.
struct FusedPoints {
  std::shared_ptr<LoadedKernel> kernel;  ///< null where it sees no points: the one without runs
  std::size_t parameter_multiple = 1;    ///< bytes that the kernel's parameter is a multiple of
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

/// The sources of one field, for steps that are made stage by stage.
struct FieldSources {
  int stage = 0;  ///< the stage that writes it
  int field = 0;
  std::int64_t cells = 0;
  DevicePointer places = 0, first = 0, source = 0, weight = 0;  ///< AddArguments
};

/// The receivers, for all parts.
struct ReceiverTables {
  std::vector<int> fields;                                    ///< recorded, under their names after a step
  DevicePointer first = 0, cells = 0, field = 0, weight = 0;  ///< RecordArguments
};

struct Points::State {
  State(std::shared_ptr<const Kernel::State> kernel, const PointList& points);
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State();  ///< frees the memory where its context is current, else leaves it to the context

  std::shared_ptr<const Kernel::State> kernel;
  std::uint64_t context_id = 0;
  int sources = 0, receivers = 0, every = 1;
  std::vector<PartPoints> parts;  ///< one for each of the plan's
  std::vector<FieldSources> field_sources;
  ReceiverTables receiver_tables;
  std::shared_ptr<LoadedKernel> add, record, sum;  ///< null where there is nothing to do for them
  int fused_steps = 1;
  std::vector<std::string> notes;
  DevicePointer memory = 0;
  std::size_t bytes = 0;
};

}  // namespace stencil_tune
