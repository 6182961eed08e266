// Would the checks notice? Each test breaks a template on purpose, and the check of a kernel made from it must fail.
#include "generator/candidates/constraints.hpp"
#include "generator/candidates/family.hpp"
#include "generator/definition/definition.hpp"
#include "tests/kernels/fused/system_cases.hpp"
#include "tests/kernels/fused/systolic_cases.hpp"
#include "tests/kernels/fused/temporal_cases.hpp"

#include <gtest/gtest.h>

#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace stencil_tune {
namespace {

constexpr Boundaries kHold{Boundary::hold, Boundary::hold, Boundary::hold};
constexpr Boundaries kZero{Boundary::zero, Boundary::zero, Boundary::zero};
constexpr Boundaries kPeriodic{Boundary::periodic, Boundary::periodic, Boundary::periodic};
constexpr Boundaries kReflect{Boundary::reflect, Boundary::reflect, Boundary::reflect};

struct Mutation {
  std::string_view name;
  std::string_view file;
  std::string_view before;  ///< stands in the file exactly once
  std::string_view after;
  std::string_view code;  ///< of a candidate that the change breaks
  Boundaries boundaries;
  std::string_view noticed_as;  ///< part of the verdict's message
  std::string_view stencil{};   ///< its definition; empty: a star. Of whole steps its name, or a file of corpus/
};

void PrintTo(const Mutation& mutation, std::ostream* out) { *out << mutation.name; }

constexpr std::string_view kOneSided = "u_next = 0.4 * u + 0.3 * u[x-1,y,z] + 0.2 * u[x,y+1,z] + 0.1 * u[x,y,z-1]";
constexpr std::string_view kTwoRows = "u_next = 0.4 * u + 0.3 * u[x,y-2,z] + 0.2 * u[x,y+2,z+1] + 0.1 * u[x-1,y,z]";
constexpr std::string_view kWrongCell = "should be";
constexpr std::string_view kStrayWrite = "was written";
constexpr std::string_view kFault = "out_of_bounds";
constexpr std::string_view kUnawaited = "tensor copies to its shared memory were on their way";

// Whole steps. Yee's levels meet within a step; those of the predictor have rows of several planes published.
constexpr std::string_view kYeeStep = "system.bx32.by2.rx2.ry2.v2.pf2.t1.ch2";
constexpr std::string_view kYeeSteps = "system.bx32.by3.rx2.ry2.v2.pf2.t2.ch2";
constexpr std::string_view kAcousticSteps = "system.bx32.by3.rx2.ry4.v2.pf2.t2.ch2";
constexpr std::string_view kPredictorStep = "system.bx32.by3.rx2.ry4.v1.pf1.t1.ch2";
constexpr std::string_view kPredictorLate = "system.bx32.by3.rx2.ry4.v1.pf1.t1.late.ch2";

constexpr std::string_view kYeeRim = "system.bx32.by3.rx2.ry2.v2.pf2.t2.rim.ch2";

// The first level reads rows beyond the tile.
constexpr std::string_view kRim = "temporal.bx32.by3.rx2.ry4.v2.pf2.t2.rim.ch2";
constexpr std::string_view kRimByTma = "temporal.bx32.by3.rx2.ry4.tmarows.pf2.t2.rim.ch2";

// Rows pass from warp to warp.
constexpr std::string_view kRelay = "systolic.rx7.pf1.t8.tg4.rb2.sh3";
constexpr std::string_view kOneSidedRow = "u_next = 0.4 * u + 0.3 * u[x-1,y] + 0.2 * u[x,y-1]";

constexpr Mutation kMutations[]{
    {"TiledWithoutBarrier", "tiled.cuh", "  barrier();\n  if (!place.computes) return;",
     "  if (!place.computes) return;", "tiled.bx16.by4", kZero, kWrongCell},
    {"SharedPlanesReadBeforeTheyArrive", "streaming_shared.cuh", "    barrier();\n    if (place.computes) {",
     "    if (place.computes) {", "streaming.bx16.by4.cz4.shared", kZero, kWrongCell},
    {"SharedPlanesOverwrittenWhileRead", "streaming_shared.cuh", "    }\n    barrier();\n    oldest",
     "    }\n    oldest", "streaming.bx16.by4.cz4.shared", kZero, kWrongCell},
    {"CurrentPlaneReadBeforeItArrives", "streaming_mixed.cuh", "    barrier();\n    if (place.computes) {",
     "    if (place.computes) {", "streaming.bx16.by4.cz4.mixed", kZero, kWrongCell},
    {"CurrentPlaneOverwrittenWhileRead", "streaming_mixed.cuh", "    }\n    barrier();\n    column.shift();",
     "    }\n    column.shift();", "streaming.bx16.by4.cz4.mixed", kZero, kWrongCell},
    {"PlaneReadBeforeItArrives", "streaming_ring.cuh", "wait_phase(pipeline.full(newest.stage), newest.parity);", "",
     "streaming.bx32.by4.cz4.ring.pf1", kZero, kUnawaited},
    {"SumsTakeAPlaneBeforeItArrives", "streaming_ring_sums.cuh",
     "    wait_phase(pipeline.full(newest), parity);\n    if", "    if", "streaming.bx32.by4.cz4.ring.sums.pf1", kZero,
     kUnawaited},
    {"PlanesReleasedWhileLoadsAreInFlight", "ring.cuh", "  fence_async_proxy();\n", "",
     "streaming.bx32.by4.cz4.ring.sums.pf1", kZero, "it has not fenced"},
    {"StageRefilledWithThePlaneAfter", "streaming_ring_sums.cuh", "copy_arguments, tile, ahead)",
     "copy_arguments, tile, ahead + 1)", "streaming.bx32.by4.cz4.ring.sums", kZero, kWrongCell},
    {"EdgeCellsOfThePlaneBefore", "streaming_ring_sums.cuh", "tile.z + step + S::kHighZ + 1",
     "tile.z + step + S::kHighZ", "streaming.bx32.by4.cz4.ring.sums.pf1", kPeriodic, kWrongCell},
    {"EdgeCellsReadBeforeOthersWriteThem", "edge_cells.cuh", "    barrier();\n", "",
     "streaming.bx32.by4.cz4.ring.sums.pf1", kReflect, kWrongCell},
    {"EdgeCellsReadBeforeTheyArrive", "edge_cells.cuh", "    async_wait<0>();\n", "",
     "streaming.bx32.by4.cz4.ring.sums.pf1", kReflect, kWrongCell},
    {"EdgeBeginsOneCellLate", "edge_cells.cuh", "(x < 0 || x >= nx || ", "(x < 0 || x > nx || ",
     "streaming.bx32.by4.cz4.ring.sums.pf1", kPeriodic, kWrongCell},
    {"CopiedPlaneAddedBeforeItArrives", "streaming_copied_sums.cuh", "    async_wait<kStages - 2>();\n", "",
     "streaming.bx32.by4.cz4.ring.sums.cpasync.pf1", kZero, kWrongCell},
    {"CopiedPlaneAddedBeforeOthersHaveIt", "streaming_copied_sums.cuh", "    barrier();\n", "",
     "streaming.bx32.by4.cz4.ring.sums.cpasync.pf1", kZero, kWrongCell},
    {"CopiesBeyondTheEdge", "streaming_copied_sums.cuh", "column >= 0 && column + kVector <= nx", "column >= 0",
     "streaming.bx32.by4.cz4.ring.sums.cpasync.pf1", kPeriodic, kFault},
    {"SumsStayWhereTheyAre", "plane_sums.cuh", "pending[q][i][k] = pending[q + 1][i][k];", ";",
     "streaming.bx32.by4.cz4.regs.sums", kZero, kWrongCell},
    {"RowsOfOtherPlanesAddNothing", "plane_sums.cuh", "unrolled<kPeriod * kY * kX>", "unrolled<kY * kX>",
     "streaming.bx32.by4.rx2.cz4.regs.sums", kZero, ""},
    {"TapsOfOtherPlanesAddNothingInFusedSteps", "plane_sums.cuh", "unrolled<(kLast - kFirst + 1) * ", "unrolled<",
     "temporal.bx32.by4.rx2.ry4.sums.v2.pf2.t2.ch2", kZero, ""},
    {"BarrierThatHalfTheBlockSkips", "tiled.cuh", "  barrier();\n  if (!place.computes) return;",
     "  if (thread_x() < 8) barrier();\n  else barrier();", "tiled.bx16.by4", kZero, "mismatched_wait"},

    {"ReadBeyondTheEdge", "boundary.cuh", "return i < 0 ? Index(0) : (i >= n ? n - 1 : i);", "return i;",
     "tiled.bx16.by4", kHold, kFault},
    {"ReadBeforeThePeriod", "boundary.cuh", "return i < 0 ? i + n : i;", "return i;", "direct.bx32.by4", kPeriodic,
     kFault},
    {"ReadOneCellAfterThePeriod", "boundary.cuh", "i < n ? i : i - n;", "i < n ? i : i - n + 1;",
     "streaming.bx32.by4.cz4.regs", kPeriodic, kWrongCell},
    {"ThreadsWithNothingToStoreReadBeyondTheArray", "boundary.cuh",
     "inside<Boundary::clamp>(inside_once<kBoundary>(i, n), n)", "inside_once<kBoundary>(i, n)",
     "streaming.bx32.by4.rx4.ry2.cz4.regs", kReflect, kFault},
    {"CellsBesideTheThreadsOwnNotPatched", "window.cuh", "load_body<kAtOnce && kLeft + kRight == 0>", "load_body<true>",
     "direct.bx32.by4.rx4.v4", kPeriodic, kWrongCell},
    {"ReflectionRepeatsTheEdge", "boundary.cuh", "period = 2 * (n - 1)", "period = 2 * n - 1", "direct.bx32.by4",
     kReflect, kWrongCell},
    {"ZeroBeginsOneCellLate", "boundary.cuh", "return i < 0 || i >= n;", "return i < 0 || i > n;", "direct.bx32.by4",
     kZero, kWrongCell},

    {"WriteBeyondTheArray", "output.cuh", "store_cells<T::kStore, kVector>(row + first, cells + i);",
     "store_cells<T::kStore, kVector>(row + first + 1, cells + i);", "direct.bx32.by4", kZero, kFault},
    {"WriteBeforeTheArray", "window.cuh", "store_row<S, T>(arguments.out[o] + offset, box, x, outputs[o]);",
     "{ store_row<S, T>(arguments.out[o] + offset, box, x, outputs[o]);"
     " if (offset + x == 0) arguments.out[o][-1] = arguments.in[0][0]; }",
     "direct.bx32.by4", kZero, "the bytes around output 0 were written"},
    {"WriteOneColumnTooMany", "output.cuh", "first + kVector <= box.high_x)", "first + kVector <= box.high_x + 1)",
     "tiled.bx16.by4", kHold, kStrayWrite},
    {"WriteOneRowTooMany", "output.cuh", "y < high_y", "y <= high_y", "tiled.bx16.by4", kHold, kStrayWrite},
    {"VectorWritesTheHeldColumn", "output.cuh", "if (first + e >= box.low_x && first + e < box.high_x)",
     "if (first + e < box.high_x)", "direct.bx32.by4.rx4.v4", kHold, kStrayWrite},

    {"HaloOffByOneRow", "shared_tile.cuh", "in.row(y + (r - T::kTileTop), z)", "in.row(y + (r - T::kTileTop) + 1, z)",
     "tiled.bx16.by4", kPeriodic, kWrongCell},
    {"HaloOffByOneCell", "window.cuh", "load_left<kLeft>(row, x, body)", "load_left<kLeft>(row, x + 1, body)",
     "direct.bx32.by4.rx2", kZero, ""},
    {"KeptOnePlaneTooShort", "window.cuh", "unrolled<(kNewest - kOldest) * kCount>",
     "unrolled<(kNewest - kOldest - 1) * kCount>", "streaming.bx32.by4.cz4.regs", kZero, kWrongCell},
    {"ShuffleFromTheLaneAfterNext", "field.cuh", "shuffle_up(body[kBody - i], 1, kLanesInRow)",
     "shuffle_up(body[kBody - i], 2, kLanesInRow)", "direct.bx32.by4.rx2.v2.shfl", kPeriodic, kWrongCell},
    {"MisalignedVectors", "field.cuh", "row.cells + readable, to)", "row.cells + readable + 1, to)",
     "direct.bx32.by4.rx4.v4", kZero, "misaligned"},
    {"VectorsNotPatchedAtTheFarEdge", "field.cuh", "if (x < 0 || x + kVector > nx) {", "if (x < 0) {",
     "direct.bx32.by4.rx4.v4", kPeriodic, kWrongCell},
    {"BlocksOfAClusterHaveTheSameTile", "arguments.cuh", "tile.z * T::kCluster + rank", "tile.z * T::kCluster",
     "direct.bx32.by4.cl2", kZero, kWrongCell},
    {"BlocksBeyondTheLastTile", "arguments.cuh", "T::kTileZ >= a.high[2]", "T::kTileZ < 0",
     "streaming.bx32.by4.cz4.regs.cl4", kHold, kFault},
    {"PlanesOfTheFirstTileForAll", "streaming_tiles_of_sums.cuh", "    ++nth;\n", "",
     "streaming.bx32.by4.cz4.ring.sums.tb2.pf2", kZero, ""},
    {"TilesBeyondTheLast", "arguments.cuh", ">= tiles[0] * tiles[1] * tiles[2]", "> tiles[0] * tiles[1] * tiles[2]",
     "streaming.bx32.by4.cz4.ring.sums.tb8.pf1", kZero, ""},
    {"LastStripOfRasterTooHigh", "arguments.cuh", "tiles[1] - first_row < kStrip ? tiles[1] - first_row : kStrip",
     "kStrip", "direct.bx8.by4.raster", kZero, kWrongCell},
    {"StripsAllTheFirst", "arguments.cuh", "const unsigned first_row = strip * kStrip;",
     "const unsigned first_row = 0;", "direct.bx32.by1.raster", kZero, kWrongCell},
    {"LastStripOf32TooHigh", "arguments.cuh", "tiles[1] - first_row < kStrip ? tiles[1] - first_row : kStrip", "kStrip",
     "direct.bx32.by1.raster32", kZero, kWrongCell},

    {"RowsOfOtherWarpsReadBeforeTheyArrive", "temporal_barrier.cuh",
     "    } else if constexpr (kNeeded) {\n      barrier();\n", "    } else if constexpr (kNeeded) {\n",
     "temporal.bx32.by4.rx2.ry4.v2.pf2.t3.ch2", kZero, kWrongCell},
    {"RowsOfOtherWarpsOverwrittenWhileRead", "temporal_edges.cuh", "T::kFirstExchanged + 2;", "T::kFirstExchanged + 1;",
     "temporal.bx32.by4.rx2.ry4.v2.pf2.t3.ch2", kZero, kWrongCell},
    {"PlanesTakenBeforeTheyArePassedOn", "temporal_walk.cuh",
     "    if constexpr (T::kGroups > 1) levels.begin_step();  // it waits for passed planes too\n", "",
     "temporal.bx32.by4.rx2.ry4.v2.pf2.t4.ch2.tg2", kZero, kWrongCell},
    {"RowsOfOtherBlocksReadBeforeTheyArrive", "temporal_edges.cuh",
     "    warp_wait_phase(counter, (step - 1) >> 1 & 1);\n", "", "temporal.bx32.by4.rx2.ry4.v2.pf2.t3.ch2.cl2", kZero,
     ""},
    {"RowsSentToTheBlockItself", "temporal_edges.cuh", "above ? rank - 1 : rank + 1", "rank",
     "temporal.bx32.by4.rx2.ry4.v2.pf2.t3.ch2.cl2", kZero, "before its barrier"},
    {"RowsSentBeforeThereIsABarrier", "temporal_edges.cuh", "      cluster_barrier();\n", "",
     "temporal.bx32.by4.rx2.ry4.v2.pf2.t3.ch2.cl2", kZero, "before its barrier"},
    {"BlocksThatDoNotWaitForTheirRows", "temporal_pipeline.cuh", "    if constexpr (T::kCluster > 1) begin_step();\n",
     "", "temporal.bx32.by4.rx2.ry4.v2.pf2.t3.ch2.cl2", kZero, "sent to"},
    {"RowsReadBeforeTmaHasCopiedThem", "temporal_copies.cuh",
     "    if (copies) warp_wait_phase(barriers + oldest.stage, oldest.parity);\n", "",
     "temporal.bx32.by4.rx2.ry4.v2.tmarows.pf2.t3.ch2", kZero, ""},
    {"RowsThatEndWithAPeriodicGridByTma", "temporal_tile.cuh", "return in_x || in_y", "return in_y",
     "temporal.bx32.by4.rx2.ry4.v2.tmarows.pf2.t3.ch2", kPeriodic, kWrongCell},
    {"ColumnsThatEndWithAPeriodicGridByTma", "temporal_tile.cuh", "return in_x || in_y", "return in_x",
     "temporal.bx32.by4.rx2.ry4.v2.tmarows.pf2.t3.ch2", kPeriodic, kWrongCell},
    {"BlocksWhereAPeriodicGridEndsTakeTheOthersLoop", "temporal_tile.cuh", "at_edge = at_edge || ends_within<",
     "at_edge = at_edge && ends_within<", "temporal.bx32.by4.rx2.ry4.v2.tmarows.pf2.t3.ch2", kPeriodic,
     "assumption that does not hold"},
    {"WarpsBeyondAPeriodicGridTakeZeros", "temporal_copies.cuh",
     "y(static_cast<int>(wrapped<S::kBoundaryY>(t.y, t.ny)))", "y(static_cast<int>(t.y))",
     "temporal.bx32.by12.rx2.ry1.v2.tmarows.pf2.t3.ch2", kPeriodic, kWrongCell},
    {"LanesReadBeforeTheyHaveCopied", "temporal_copies.cuh", "      lanes.await();\n", "",
     "temporal.bx32.by4.rx2.ry4.v2.tmarows.pf2.t3.ch2", kPeriodic, ""},
    {"LanesCopyPlaneZeroOfAPeriodicGrid", "temporal_copies.cuh", "      plane.move_by(z);\n", "",
     "temporal.bx32.by4.rx2.ry4.v2.tmarows.pf2.t3.ch2", kPeriodic, kWrongCell},
    {"RowsGoOnBelowAPeriodicGrid", "temporal_copies.cuh",
     "      if (kWrapsY && y + j == tile.ny) row -= tile.ny * stride_y;\n", "",
     "temporal.bx32.by4.rx2.ry4.v2.pf2.t3.ch2", kPeriodic, ""},
    {"RowsStartAboveAPeriodicGrid", "temporal_copies.cuh", "(wrapped<S::kBoundaryY>(t.y, t.ny) * static_cast",
     "(t.y * static_cast", "temporal.bx32.by4.rx2.ry4.v2.pf2.t3.ch2", kPeriodic, ""},
    {"CellsGoOnBesideAPeriodicGrid", "temporal_copies.cuh", "kWrapsX && x + i >= tile.nx ? i - tile.nx : i", "i",
     "temporal.bx32.by4.rx2.ry4.pf2.t3.ch2", kPeriodic, ""},
    {"CellsStartBesideAPeriodicGrid", "temporal_copies.cuh", "      cells += x - (first_column() + first_copied());\n",
     "", "temporal.bx32.by4.rx2.ry4.v2.pf2.t3.ch2", kPeriodic, ""},
    {"VectorsAcrossTheEndOfAPeriodicGrid", "temporal_tile.cuh",
     "whole_vectors = columns.origin % T::kVector == 0 && nx % T::kVector == 0;",
     "whole_vectors = columns.origin % T::kVector == 0;", "temporal.bx32.by4.rx2.ry4.v2.pf2.t3.ch2", kPeriodic, ""},
    {"VectorsOfASystemAcrossTheEndOfAPeriodicGrid", "system/system_tile.cuh",
     "whole_vectors = columns.origin % T::kVector == 0 && nx % T::kVector == 0;",
     "whole_vectors = columns.origin % T::kVector == 0;", kYeeStep, kPeriodic, "", "yee3d"},
    {"RowsReleasedWhileLoadsAreInFlight", "temporal_copies.cuh", "    fence_async_proxy();\n    warp_barrier();",
     "    warp_barrier();", "temporal.bx32.by4.rx2.ry4.v2.tmarows.pf2.t3.ch2", kZero, "it has not fenced"},
    {"TapsAddedToTheOutputsOfTheNextPlane", "temporal_sums.cuh", "T::kSplitsSums ? 1 : 0>(taps", "0>(taps",
     "temporal.bx32.by4.rx2.ry4.sums.v2.pf2.t2.ch2", kZero, kWrongCell},
    {"BarriersThatCountNothing", "temporal_copies.cuh", "    if (copies && Shape::lane() == 0) {",
     "    if (Shape::lane() == 0) {", "temporal.bx32.by4.rx2.ry4.v2.tmarows.pf2.t4.ch2.tg2", kZero,
     "counts no arrivals"},
    {"CopiesOnTheirWayWhenTheBlockEnds", "temporal_walk.cuh", "    input.leave();\n", "",
     "temporal.bx32.by4.rx2.ry4.v2.tmarows.pf2.t3.ch2", kZero, kUnawaited},
    {"PlanesOfTheLastLevelSentForAll", "temporal_pipeline.cuh",
     "send<kLevel>(kept.template plane<kLevel, T::kLastExchanged>())", "send<kLevel>(last)",
     "temporal.bx32.by4.rx2.ry4.v2.pf2.t3.cl2", kZero, kWrongCell},
    {"EndsOfRowsTakenFromTheThreadItself", "temporal_shared_row.cuh", "ends + (kLastFrom + w * kStride), word",
     "ends + (kLastFrom + w * kStride + kWord), word", "temporal.bx64.by2.rx2.ry4.pf2.t2.ch2", kZero, kWrongCell},
    {"EndsOfRowsNeverPublished", "temporal_edges.cuh", "for (int r = 0; r < kEndRows; ++r) {\n        Ends::store",
     "for (int r = 1; r < kEndRows; ++r) {\n        Ends::store", "temporal.bx64.by2.rx2.ry4.pf2.t2.ch2", kZero,
     kWrongCell},
    {"WarpsThatDoNotWaitForEachOther", "temporal_barrier.cuh", "      warp_wait_phase(arrived, parity);\n", "",
     "temporal.bx32.by4.rx2.ry4.v2.pf2.t3.split.ch2", kZero, kWrongCell},
    {"WarpsThatArriveBeforeTheyPublish", "temporal_pipeline.cuh",
     "if constexpr (T::kWarpsWait && kLevel == Shape::kLevels - 1) step_barrier.arrive(tile.nx < 0);",
     "if constexpr (T::kWarpsWait && kLevel == 0) step_barrier.arrive(tile.nx < 0);",
     "temporal.bx32.by4.rx2.ry4.v2.pf2.t3.split.ch2", kZero, kWrongCell},
    {"PlanesTakenWhileTheyArePassedOn", "temporal_input.cuh", "kPlanes = T::kHandOver + 1;", "kPlanes = 2;",
     "temporal.bx32.by4.rx2.ry4.v2.pf2.t4.tg2.split.ch2", kZero, ""},
    {"LowerBlocksEndWithTheGrid", "temporal_tile.cuh", "rows.at_low && rank == 0 &&", "rows.at_low &&",
     "temporal.bx32.by4.rx2.ry4.v2.pf2.t3.ch2.cl2", kZero, kWrongCell},

    {"ColumnsHeldAtTheOtherEnd", "temporal_tile.cuh", "kHeldLeft = S::kBoundaryX == Boundary::hold ? S::kLowX",
     "kHeldLeft = S::kBoundaryX == Boundary::hold ? S::kHighX", "temporal.bx32.by4.rx2.ry4.v2.pf2.t3.ch2", kHold,
     kWrongCell, kOneSided},
    {"RowsHeldAtTheOtherEnd", "temporal_tile.cuh", "kHeldBelow = S::kBoundaryY == Boundary::hold ? S::kHighY",
     "kHeldBelow = S::kBoundaryY == Boundary::hold ? S::kLowY", "temporal.bx32.by4.rx2.ry4.v2.pf2.t3.ch2", kHold,
     kWrongCell, kOneSided},
    {"PlanesHeldAtTheOtherEnd", "temporal_tile.cuh", "first_updated_z(S::kBoundaryZ == Boundary::hold ? S::kLowZ",
     "first_updated_z(S::kBoundaryZ == Boundary::hold ? S::kHighZ", "temporal.bx32.by4.rx2.ry4.v2.pf2.t3.ch2", kHold,
     kWrongCell, kOneSided},
    {"SumsRememberColumnsOfTheOtherEnd", "temporal_held_cells.cuh", "if (i < kLeft && tile.left_edge)",
     "if (i < kRight && tile.left_edge)", "temporal.bx32.by4.rx2.ry4.sums.v2.pf2.t3.ch2", kHold, kWrongCell, kOneSided},
    {"SumsRememberRowsOfTheOtherEnd", "temporal_held_cells.cuh", "if (j >= kHeldRows - kBelow && tile.bottom_edge)",
     "if (j >= kHeldRows - kAbove && tile.bottom_edge)", "temporal.bx32.by4.rx2.ry4.sums.v2.pf2.t3.ch2", kHold,
     kWrongCell, kOneSided},
    {"ColumnsPutAsideAtTheOtherEnd", "temporal_held_cells.cuh", "if (i < kLeft && tile.left_edge)",
     "if (i < kRight && tile.left_edge)", "temporal.bx32.by4.rx2.ry4.sums.v2.pf2.t3.ch2.heldaside", kHold, kWrongCell,
     kOneSided},
    {"RowsPutAsideAtTheOtherEnd", "temporal_held_cells.cuh", "if (j >= kHeldRows - kBelow && tile.bottom_edge)",
     "if (j >= kHeldRows - kAbove && tile.bottom_edge)", "temporal.bx32.by4.rx2.ry4.sums.v2.pf2.t3.ch2.heldaside",
     kHold, kWrongCell, kOneSided},
    {"HeldCellsOfALaterPlane", "temporal_held_cells.cuh", "(kLevel + 1) * T::kLag * kSlotCells",
     "kLevel * T::kLag * kSlotCells", "temporal.bx32.by4.rx2.ry4.sums.v2.pf2.t3.ch2.heldchosen", kHold, kWrongCell},
    {"HeldCellsOverwrittenBeforeTheLastLevel", "temporal_held_cells.cuh", "kSlots = kReadLevels * T::kLag + 1;",
     "kSlots = kReadLevels * T::kLag;", "temporal.bx32.by4.rx2.ry4.sums.v2.pf2.t3.ch2.heldaside", kHold, kWrongCell},
    {"WarpsThatSkipTheirHeldRows", "temporal_tile.cuh", "(Shape::kHeldAbove > 0 && top_edge) || (Shape::kHeldBelow",
     "(Shape::kHeldBelow", "temporal.bx32.by4.rx2.ry4.v2.pf2.t3.ch2.heldskipped",
     Boundaries{Boundary::periodic, Boundary::hold, Boundary::zero}, kWrongCell},

    {"SharesThatEndAPlaneEarly", "temporal_share.cuh", "end = static_cast<Index>(all * (share + 1) / shares);",
     "end = static_cast<Index>(all * (share + 1) / shares) - 1;", "temporal.bx32.by4.rx2.ry4.v2.pf2.t3.sh3", kHold,
     kWrongCell},
    {"RunsThatBeginWhileOthersRead", "temporal_walk.cuh", "    async_wait<0>();\n    barrier();\n",
     "    async_wait<0>();\n", "temporal.bx32.by4.rx2.ry4.v2.pf2.t3.sh3", kZero, ""},
    {"RunsThatBeginWhileARimIsInFlight", "temporal_walk.cuh",
     "    if constexpr (T::kReadsRim && !T::kCopiedByTma) async_commit();", "",
     "temporal.bx32.by3.rx2.ry4.v2.pf2.t2.sh5.rim", kHold, "another one is still on its way"},
    {"RunsThatBeginWhileLoadsAreInFlight", "temporal_copies.cuh",
     "    fence_async_proxy();\n    if (Shape::lane() != 0) return;", "    if (Shape::lane() != 0) return;",
     "temporal.bx32.by4.rx2.ry4.v2.tmarows.pf2.t3.sh3", kZero, "it has not fenced"},
    {"SharesThatEndWithTheirFirstTile", "temporal_walk.cuh", "run, part); ++run)", "run, part) && run < 1; ++run)",
     "temporal.bx32.by4.rx2.ry4.v2.pf2.t3.sh3", kHold, kWrongCell},

    {"RowsTakenBeforeTheyAreGiven", "systolic_barrier.cuh", "    } else {\n      barrier();\n", "    } else {\n",
     kRelay, kZero, ""},
    {"RowsTakenWhileOthersGiveThem", "systolic_barrier.cuh", "      warp_wait_phase(arrived(), parity);\n", "",
     "systolic.rx7.pf1.t8.tg4.rb2.split.sh3", kZero, ""},
    {"RowsTakenWhileTheyAreCopied", "systolic_words.cuh", "async_wait<T::kPrefetch - 1>();",
     "async_wait<T::kPrefetch>();", "systolic.rx7.pf1.t8.tg4.rb2.words.sh3", kZero, kWrongCell},
    {"RowsGivenWhereTheNextWarpReads", "systolic_rings.cuh", "cell(slot_of_given(slot), i)", "cell(slot, i)", kRelay,
     kZero, ""},
    {"LinesTakenBeforeTheyArrive", "systolic_lines.cuh", "if (warp == 0) warp_wait_phase(arrived(slot), parity);", "",
     kRelay, kZero, ""},
    {"LinesBroughtOverWhatIsRead", "systolic_lines.cuh", "if (warp == 0) fence_async_proxy();", "", kRelay, kZero,
     "has not fenced"},
    {"LinesStoredBeforeTheyAreWritten", "systolic_lines.cuh", "    fence_async_proxy();\n    warp_barrier();\n",
     "    warp_barrier();\n", kRelay, kZero, "did not fence"},
    {"LinesOverwrittenBeforeTheyAreStored", "systolic_lines.cuh", "lines_wait_read<Shape::kSlots - 1 - T::kBatch>();",
     "lines_wait_read<Shape::kSlots>();", kRelay, kZero, kWrongCell},
    {"LinesWithoutTheirLastCells", "systolic_lines.cuh", "if (some) store_loose_cells(to, from);", "", kRelay, kHold,
     kWrongCell},
    {"SharesThatEndARowEarly", "systolic_share.cuh", "(block_x() + 1) / blocks_in_x();",
     "(block_x() + 1) / blocks_in_x() - 2 * T::kRowCost;", kRelay, kZero, kWrongCell},
    {"SharesThatSkipATilesFirstRow", "systolic_share.cuh", "row < 0 ? 0 : row < rows", "row < 1 ? 1 : row < rows",
     kRelay, kZero, kWrongCell},
    {"HeldCellsAreAddedTo", "systolic_levels.cuh",
     "return choose(holds<kI>(), kept_sum<kLevel, kRow, kI>(entering), sum);", "return sum;", kRelay, kHold,
     kWrongCell},
    {"HeldCellsAreCompleted", "systolic_levels.cuh",
     "return choose(holds<kI>(), kept_cell<kLevel, kI>(entering), sum);", "return sum;", kRelay, kHold, kWrongCell},
    {"HeldRowsKeepTheirSums", "systolic_levels.cuh", "if constexpr (kRow < kOwn) return", "if constexpr (true) return",
     kRelay, kHold, kWrongCell},
    {"RowsOutsideEnterTheNextLevel", "systolic_levels.cuh", "clear_if(part.holds_row(z), completed);", ";", kRelay,
     kZero, kWrongCell},
    {"ColumnsOfATileHeldAtTheOtherEnd", "systolic_share.cuh", "kHeldLeft = S::kBoundaryX == Boundary::hold ? S::kLowX",
     "kHeldLeft = S::kBoundaryX == Boundary::hold ? S::kHighX", kRelay, kHold, kWrongCell, kOneSidedRow},

    {"WarpsThatDoNotMeetWithinALevel", "system_levels.cuh", "L::kFields[kF].newest) || ...)) barrier();",
     "L::kFields[kF].newest) || ...)) return;", kYeeStep, kZero, kWrongCell, "yee3d"},
    {"WarpsThatDoNotMeetBetweenSteps", "system_levels.cuh", "void begin_step() { step_barrier.await(); }",
     "void begin_step() {}", kPredictorLate, kZero, kWrongCell, "predictor_corrector"},
    {"RowsPublishedAStepTooEarly", "system_levels.cuh", "(kField.published() - of, body);",
     "(kField.published() - of + 1, body);", kPredictorStep, kZero, kWrongCell, "predictor_corrector"},
    {"RimOfTheRowsBesideIt", "temporal_rim.cuh", "tile.y - kBefore :", "tile.y - kBefore + 1 :", kRim, kHold,
     kWrongCell},
    {"RimOfThePlaneAfter", "temporal_rim.cuh", "copy(z + kStages, stage);", "copy(z + kStages + 1, stage);", kRim,
     kHold, kWrongCell},
    {"RimThatBeginsAPlaneLate", "temporal_rim.cuh", "T::kRimAge + s, s);", "T::kRimAge + s + 1, s);", kRim, kHold,
     kWrongCell},
    {"RimReadBeforeItArrives", "temporal_rim.cuh", "async_wait<kRims * kStages - 1>();", ";", kRimByTma, kHold,
     kWrongCell},
    {"RimOfPlanesBeyondTheGrid", "temporal_rim.cuh", "z >= 0 && z < tile.nz ?", "true ?", kRim, kZero, kWrongCell,
     kTwoRows},
    {"RimAboveIsTheOneBelow", "temporal_rim.cuh", "(z, stage, sides.above ? above : below);", "(z, stage, below);",
     kRim, kHold, kWrongCell},
    {"RimOfHeldRows", "temporal_tile.cuh", "if (tile == tiles - 2) span.high -= kRim;", "", kRim, kHold, kWrongCell,
     kTwoRows},
    {"RimOfTheLastTileOfHeldRows", "temporal_tile.cuh", "if (span.at_high) span.low -= kRim;", "", kRim, kHold, "",
     kTwoRows},
    {"RimOfAFieldInAnotherPlane", "system_rim.cuh", "(z + kOf.published(), stage,", "(z + kOf.published() + 1, stage,",
     kYeeRim, kHold, kWrongCell, "yee3d"},
    {"RimsThatMoveOnTwice", "system_rim.cuh", "if constexpr (kF == last_published()) stage", "stage", kYeeRim, kHold,
     kWrongCell, "yee3d"},
    {"RowsOfTheOtherWarp", "system_rows.cuh", "(kJ < 0 ? above : below) +", "(kJ < 0 ? below : above) +", kYeeStep,
     kZero, kWrongCell, "yee3d"},
    {"PlanesOfALevelNeverMoveOn", "system_levels.cuh", "planes[p] = planes[p + 1];", ";", kPredictorStep, kZero,
     kWrongCell, "predictor_corrector"},
    {"FieldsPassOnWithoutDelay", "system_levels.cuh", "leaving = plane<kLevel, -1 - kSource, 0>(newest);",
     "leaving = newest.fields[-1 - kSource];", kYeeStep, kZero, kWrongCell, "yee3d"},
    {"CellsOfHeldLayersAreUpdated", "system_levels.cuh", "if (whole_plane || tile.template holds<kI, kJ>(kHeld))",
     "if (whole_plane)", kYeeSteps, kHold, kWrongCell, "yee3d"},
    {"OneHeldPlaneTooMany", "system_tile.cuh", "return z < layers.low_z ||", "return z <= layers.low_z ||", kYeeSteps,
     kHold, kWrongCell, "yee3d"},
    {"PlainStepsWherePlanesAreMirrored", "system_tile.cuh", "first < T::kFirstPlain) first = T::kFirstPlain;",
     "first < 0) first = 0;", kPredictorStep, kReflect, kWrongCell, "predictor_corrector"},
    {"LayersInMemoryBeyondThePeriod",
     "system_levels.cuh",
     "if constexpr (S::kBoundaryZ == Boundary::periodic) z = inside<S::kBoundaryZ>(z, tile.nz);",
     "",
     kPredictorStep,
     {Boundary::hold, Boundary::hold, Boundary::periodic},
     kWrongCell,
     "predictor_corrector"},
    {"PlanesBeyondTheGridAreUpdated", "system_levels.cuh", "if (z < 0 || z >= tile.nz) updated.fill(Value(0));", "",
     kPredictorStep, kZero, kWrongCell, "predictor_corrector"},
    {"PlanesBeyondTheGridKeepTheirInput", "system_levels.cuh",
     "clear_outside(z, state, IndicesBelow<Input::kState>{});", "", kYeeStep, kZero, kWrongCell, "yee3d"},
    {"FieldsThatComeLateAreClearedEarly", "system_levels.cuh", "if (z - kBehind < 0 || z - kBehind >= tile.nz)",
     "if (z < 0 || z >= tile.nz)", kYeeStep, kZero, kWrongCell, "yee3d"},
    {"CellsBeforeARowAreNotZero", "temporal_tile.cuh", "body[-i] = tile.left_edge ? answer : body[-i];", "", kYeeStep,
     kZero, kWrongCell, "yee3d"},
    {"MirroredCellsOfTheThreadItself", "temporal_tile.cuh", "shuffle_down(body[0], 1, 32)", "body[0]",
     "temporal.bx32.by4.rx2.ry4.v2.pf2.t2.ch2", kReflect, kWrongCell, "u_next = u + 0.05 * laplacian(u, accuracy=4)"},
    {"RowsMirroredAtTheirEdge", "system_rows.cuh", "(-kJ < kLast ? -kJ : kLast)", "(-kJ < kLast ? -kJ - 1 : kLast)",
     kPredictorStep, kReflect, kWrongCell, "predictor_corrector"},
    {"PlanesBeyondTheGridAnswerForThemselves", "system_levels.cuh",
     "inside_once<S::kBoundaryZ>(z + kOffset, tile.nz) - z;", "kOffset;", kPredictorStep, kReflect, kWrongCell,
     "predictor_corrector"},
    {"PlanesReflectedWithTheEdgeTwice", "boundary.cuh", "2 * (n - 1) - i", "2 * n - 1 - i", kPredictorStep, kReflect,
     kWrongCell, "predictor_corrector"},
    {"PlanesBeyondTheGridAreWhatArrived", "system_levels.cuh", "      if (offset == kBy) plane<kLevel, kF, kOffset>",
     "      if (false) plane<kLevel, kF, kOffset>", kPredictorStep, kReflect, kWrongCell, "predictor_corrector"},
    {"TilesAtAnEdgeTakeStepsForTilesInside", "system/system.cuh", "    if (tile.at_edge) {", "    if (false) {",
     kYeeStep, kZero, kWrongCell, "yee3d"},
    {"ConstantsOfThePlaneAfter", "system_levels.cuh", "read_row<-1 - kPlace, kLevel, L::kDelay>",
     "read_row<-1 - kPlace, kLevel, L::kDelay - 1>", kYeeStep, kZero, kWrongCell, "yee3d"},
    {"OneRowMoreOfAnOutput", "system_input.cuh", "y < arguments.high[1] + more.high_y;",
     "y <= arguments.high[1] + more.high_y;", kYeeStep, kHold, kStrayWrite, "yee3d"},
    {"OutputsHaveTheSamePlanes", "system_input.cuh", "(z < arguments.low[2] - kMore.low_z ||",
     "(z < arguments.low[2] ||", kYeeStep, kHold, kWrongCell, "yee3d"},
    {"PartsOfConstantsMadeByNoLevel", "system_input.cuh", "made_by == kLevel", "made_by == kLevel + 100",
     kAcousticSteps, kHold, kWrongCell, "acoustic3d_o2"},
    {"PartsOfConstantsMadeByEveryLevel", "system_input.cuh", "made_by == kLevel", "made_by >= 0", kAcousticSteps, kHold,
     kWrongCell, "acoustic3d_o2"},
    {"PlainStepsBeforeAllBoxesBegin", "system_levels.cuh",
     "if (static_cast<Index>(arguments.low[2]) <= tile.low_z) return first;", "return first;", kPredictorLate, kHold,
     kStrayWrite, "predictor_corrector"},
    {"OutputsStoredInTheBoxOfTheFirst", "system_input.cuh", "const unsigned cells = stored[S::kBoxOf[kO]];",
     "const unsigned cells = stored[0];", kYeeStep, kHold, kStrayWrite, "yee3d"},
    {"SystemCopiesOnTheirWayWhenTheBlockEnds", "system/system.cuh", "    input.leave();\n", "",
     "system.bx32.by2.rx4.ry2.v4.pf2.t1.tmarows", kHold, kUnawaited, "yee3d"},
};

HostCase case_of(const Mutation& mutation) {
  const Tuning tuning = parse_code(mutation.code);
  if (tuning.family->name == "system") {
    const Stencil stencil = mutation.stencil == "predictor_corrector"
                                ? predictor_corrector(3)
                                : load_definition("corpus/" + std::string(mutation.stencil) + ".toml");
    return system_case(stencil, ElementType::f32, mutation.boundaries, mutation.code);
  }
  if (tuning.family->name == "systolic") {
    const Stencil stencil =
        mutation.stencil.empty() ? make_builtin(Shape::star, 2, 1) : parse_stencil(mutation.stencil, 2);
    return systolic_case(stencil, ElementType::f64, mutation.boundaries, mutation.code);
  }
  if (tuning.family->name == "temporal") {
    const Stencil stencil =
        mutation.stencil.empty() ? make_builtin(Shape::star, 3, 1) : parse_stencil(mutation.stencil, 3);
    return temporal_case(stencil, ElementType::f32, mutation.boundaries, mutation.code);
  }
  const Problem problem =
      make_problem(make_builtin(Shape::star, 3, 2), ElementType::f32, mutation.boundaries, Extents{3, {64, 64, 64}});
  return {tuning, awkward_grids(problem, tuning), {}};
}

class MutatedTemplates : public testing::TestWithParam<Mutation> {};

TEST_P(MutatedTemplates, FailTheirCheck) {
  const Mutation& mutation = GetParam();
  std::vector<TemplateFile> files(template_files().begin(), template_files().end());
  std::string mutated;
  for (TemplateFile& file : files) {
    if (!file.name.ends_with("/" + std::string(mutation.file))) continue;
    mutated = file.text;
    const std::size_t place = mutated.find(mutation.before);
    ASSERT_NE(place, std::string::npos) << "the template no longer has this text; mutate what replaced it";
    ASSERT_EQ(mutated.find(mutation.before, place + 1), std::string::npos) << "more than one place has this text";
    mutated.replace(place, mutation.before.size(), mutation.after);
    file.text = mutated;
  }
  ASSERT_FALSE(mutated.empty()) << "no template " << mutation.file;
  const HostCase broken = case_of(mutation);
  const auto verdicts = check_cases_on_host(std::span(&broken, 1), files);
  EXPECT_FALSE(verdicts.front().right);
  EXPECT_NE(verdicts.front().message.find(mutation.noticed_as), std::string::npos) << verdicts.front().message;
}

INSTANTIATE_TEST_SUITE_P(, MutatedTemplates, testing::ValuesIn(kMutations),
                         [](const auto& mutation) { return std::string(mutation.param.name); });

TEST(UnmutatedTemplates, PassTheSameChecks) {
  std::vector<HostCase> cases;
  std::set<std::tuple<std::string_view, Boundaries, std::string_view>> seen;
  for (const Mutation& mutation : kMutations) {
    if (seen.emplace(mutation.code, mutation.boundaries, mutation.stencil).second) cases.push_back(case_of(mutation));
  }
  const auto verdicts = check_cases_on_host(cases);
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    EXPECT_TRUE(verdicts[i].right) << describe(cases[i]) << "\n" << verdicts[i].message;
    EXPECT_GT(verdicts[i].cells_checked, 0);
  }
}

}  // namespace
}  // namespace stencil_tune
