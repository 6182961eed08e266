// A candidate's tuning: its kernel family and one value for each of the family's tuning parameters.
//
// What a family is stands in family.hpp, what a parameter means and which values it takes in the family's own table
// (families/). Adding a parameter: a member here, a row of the tables of the families that use it, and the template
// that reads its constant.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

namespace stencil_tune {

struct Family;

/// streaming: where the planes within the stencil's reach live while a block walks.
enum class Planes {
  shared,     ///< all planes with their halo in shared memory (textbook thread coarsening)
  mixed,      ///< the current plane in shared memory, the others in registers (textbook register tiling)
  registers,  ///< the thread's own rows in registers, neighbouring rows through the cache
  ring,       ///< planes brought to shared memory ahead of the walk, own column in registers
};

/// tiled, streaming shared/mixed: which tile the threads of a block cover one to one.
enum class Cover {
  output,  ///< a thread (times its register tile) an output cell; the halo is loaded in a loop
  input,   ///< a thread a loaded cell, the outer ones idle while computing (textbook)
};

/// streaming registers/ring, temporal: what a walking thread keeps of the planes it has passed.
enum class Keeps {
  cells,  ///< the cells that its later outputs read again
  sums,   ///< partial sums of the outputs that a plane contributes to; the plane itself is then done with
};

/// streaming with sums, systolic: what of the walk is unrolled into one body of the loop.
enum class SumsLoop {
  turn,  ///< as many steps as sums are under way, or as a ring has slots: each is in its place again after them
  step,  ///< one step: short code; a multiply-add that adds to a sum puts it where it belongs in the next
};

/// temporal: how the warps of a block wait for each other from step to step.
enum class StepBarrier {
  meet,    ///< all of them between two steps
  split,   ///< each says within a step that its cells are there, and waits when the next one begins (sm_90+)
  pinned,  ///< as split; a branch that is never taken pins the last level's update behind that
};

/// system: when the parts of an update that are read at several cells are computed (shared_parts.hpp).
enum class SharedParts {
  again,  ///< at each read
  once,   ///< once a cell; they are passed on like fields, which takes registers and rows of shared memory
};

/// system: warps at a tile's edge, all of whose rows a level leaves wrong.
enum class EdgeWarps {
  work,  ///< like all others: no branch
  rest,  ///< until the next step: they pass wrong rows on, and leave the others their issue slots
};

/// system: steps in which the levels fill, of blocks whose walk begins inside the grid.
enum class Filling {
  apart,  ///< as at the grid's ends, by a loop that knows every edge
  plain,  ///< by the plain loop, which then asks in every step whether the plane is stored
};

/// system: which axis of a 3D grid blocks walk along.
enum class WalkAxis {
  z,  ///< rows of a tile lie along y
  y,  ///< rows of a tile lie along z
};

/// temporal: in which loop threads at an edge of the grid keep the cells that boundary hold does not change.
enum class HeldLoop {
  apart,    ///< one of their blocks' own; all others' loop knows no such cells
  aside,    ///< the same, of levels that keep sums: they put held cells aside, where with `apart` they remember them
  chosen,   ///< the one loop of all blocks, which chooses those cells without a branch
  skipped,  ///< the one loop of all blocks, in which a warp that has none skips them
};

/// temporal, system: what the first level's warps at a tile's top and bottom read beyond it.
enum class Rim {
  none,  ///< nothing: that level uses up rows of the tile, as all others do
  read,  ///< rows of the input, which are copied for that
};

/// temporal, system: where in a row the cells that one tile stores end and the next one's begin.
enum class Borders {
  anywhere,  ///< the halo is as small as it can be
  sectors,   ///< between 32-byte sectors of memory: a sector that two tiles store a part of is written twice
};

/// streaming ring, temporal, system: who brings planes to shared memory.
enum class Copies {
  tma,         ///< the tensor memory accelerator (sm_90+), a plane of a block's (temporal: of a warp's) rows a request
  threads,     ///< the threads that read them, by asynchronous copies of a few bytes (cp.async, sm_80+)
  tma_beyond,  ///< system: as tma, where the last tile's rows end beyond the grid, so that they start where TMA may
};

/// direct, streaming registers: how a thread gets the cells left and right of its own.
enum class Neighbours { cache, shuffle };

/// Block rasterization: in which order the hardware's block numbers visit the tiles of the grid.
enum class BlockOrder {
  natural,   ///< x fastest, then y, then z
  z_first,   ///< z fastest, then x, then y
  raster,    ///< natural within strips of 8 tiles in y, strip after strip, z inside a strip
  raster32,  ///< the same with strips of 32 tiles
};

enum class LoadHint { cached, read_only, l2_only };
enum class StoreHint { write_back, streaming };

/// The family of one thread a cell, whose kernels need nothing but global memory (families/direct.cpp).
const Family& direct_family();

/// A member a tuning parameter. Those that a family has no parameter for stay as they are here.
struct TuningValues {
  // Blocks and tiles: every family.
  int block_x = 32;    ///< threads along x
  int block_y = 4;     ///< threads along y
  int block_z = 1;     ///< threads along z
  int register_x = 1;  ///< outputs a thread holds along x, next to each other
  int register_y = 1;  ///< outputs a thread holds along y
  int register_z = 1;  ///< outputs a thread holds along z
  int vector = 1;      ///< cells a global load or store moves; divides register_x
  int cluster = 1;     ///< blocks of a thread block cluster: neighbouring tiles, or (temporal) parts of one
  int min_blocks = 0;  ///< blocks per SM promised to the compiler (__launch_bounds__); 0 leaves it free
  BlockOrder order = BlockOrder::natural;
  StoreHint store = StoreHint::write_back;

  // How one sweep reads: direct, tiled, streaming.
  LoadHint load = LoadHint::cached;
  Neighbours neighbours = Neighbours::cache;
  Cover cover = Cover::output;

  // Walks along the last axis: streaming, temporal.
  Keeps keeps = Keeps::cells;
  Copies copies = Copies::tma;
  int prefetch = 0;  ///< planes on their way beyond those in use: to registers, or to the ring
  int unroll = 1;    ///< iterations of the walk unrolled together
  SumsLoop sums_loop = SumsLoop::turn;

  // Walks of one sweep: streaming.
  Planes planes = Planes::registers;
  int depth = 1;  ///< coarsening depth: outputs a thread walks along the last axis
  int tiles = 1;  ///< tiles that a block takes one after the other

  // Fused steps: temporal, system, systolic, resident.
  int steps = 2;   ///< sweeps that a launch makes
  int chunks = 1;  ///< parts of the last axis that blocks of their own walk
  int shares = 0;  ///< blocks that share out the planes or rows of all tiles; 0: tiles have their own blocks
  int batch = 1;   ///< systolic: rows between two barriers
  int groups = 1;  ///< groups of warps that share out the fused steps, as a pipeline
  Borders borders = Borders::anywhere;
  StepBarrier barrier = StepBarrier::meet;
  Rim rim = Rim::none;
  HeldLoop held_loop = HeldLoop::apart;
  SharedParts shared_parts = SharedParts::again;
  EdgeWarps edge_warps = EdgeWarps::work;
  Filling filling = Filling::apart;
  WalkAxis walk_axis = WalkAxis::z;

  // Runs on chip: resident.
  int tile_x = 32, tile_y = 16, tile_z = 1;  ///< cells of the grid that a block keeps
  int apart = 1;                             ///< steps from one exchange of halos to the next

  bool operator==(const TuningValues&) const = default;
};

struct Tuning : TuningValues {
  Tuning() : Tuning(direct_family()) {}
  /// Every parameter at its default.
  explicit Tuning(const Family& of);

  const Family* family;

  bool operator==(const Tuning&) const = default;
};

/// The largest number a code may hold: far beyond every list of values, small enough that tiles stay countable.
inline constexpr int kLargestNumber = 65536;

/// How many parameters have different values.
int differences(const Tuning& a, const Tuning& b);

/// The tuning with defaults for what is given at the launch: candidates that share a binary become equal.
Tuning without_launch(Tuning tuning);

/// The candidate's stable short code: "streaming.bx32.by4.rx4.v4.cz4.regs". Parameters at their default are left out
/// unless they are always coded.
std::string code(const Tuning& tuning);
std::ostream& operator<<(std::ostream& out, const Tuning& tuning);

/// Parses a code; parts may come in any order after the family, and a parameter without a part has its default.
/// Values outside the table's are accepted as long as they are positive and at most kLargestNumber (constraints judge
/// them). Throws Error(malformed_code) naming the part.
Tuning parse_code(std::string_view text);

}  // namespace stencil_tune
