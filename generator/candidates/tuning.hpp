// Tuning parameters: one aggregate, one table that says what each member means and which values it takes.
//
// Adding a parameter: a member here, a row in parameters() (tuning.cpp), its constant in tuning_text() (source.cpp),
// the template that reads it.
#pragma once

#include <functional>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stencil_tune {

enum class Family {
  direct,
  tiled,
  streaming,
  temporal,  ///< several sweeps in one pass over memory; for runs of more than one step
};

/// streaming: where the planes within the stencil's reach live while a block walks.
enum class Planes {
  shared,     ///< all planes with their halo in shared memory (textbook thread coarsening)
  mixed,      ///< the current plane in shared memory, the others in registers (textbook register tiling)
  registers,  ///< the thread's own rows in registers, neighbouring rows through the cache
  ring,       ///< planes brought to shared memory ahead of the walk, own column in registers
};

/// tiled, streaming shared/mixed: where reads outside the block's own output tile are served from.
enum class Halo { shared, cache };

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

/// streaming with sums: what of the walk is unrolled into one body of the loop.
enum class SumsLoop {
  turn,  ///< as many steps as sums are under way: each is back in its registers after them
  step,  ///< one step: short code; a multiply-add that adds to a sum puts it where it belongs in the next
};

/// temporal: how the warps of a block wait for each other from step to step.
enum class StepBarrier {
  meet,   ///< all of them between two steps
  split,  ///< each says within a step that its cells are there, and waits when the next one begins (sm_90+)
};

/// streaming ring, temporal: who brings the planes.
enum class Copies {
  engine,   ///< the copy engine (TMA, sm_90+), a plane of a block's (temporal: of a warp's) rows a request
  threads,  ///< the threads that read them, by asynchronous copies of a few bytes (cp.async, sm_80+)
};

/// direct, streaming registers: how a thread gets the cells left and right of its own.
enum class Neighbours { cache, shuffle };

/// In which order the hardware's block numbers visit the tiles of the grid.
enum class BlockOrder {
  natural,   ///< x fastest, then y, then z
  z_first,   ///< z fastest, then x, then y
  raster,    ///< natural within strips of 8 tiles in y, strip after strip, z inside a strip
  raster32,  ///< the same with strips of 32 tiles
};

enum class LoadHint { cached, read_only, l2_only };
enum class StoreHint { write_back, streaming };

/// One value for each tuning parameter. A parameter that a family does not use keeps its default.
struct Tuning {
  Family family = Family::direct;
  int block_x = 32;    ///< threads along x
  int block_y = 4;     ///< threads along y
  int block_z = 1;     ///< threads along z
  int register_x = 1;  ///< outputs a thread holds along x, next to each other
  int register_y = 1;  ///< outputs a thread holds along y
  int register_z = 1;  ///< outputs a thread holds along z
  int vector = 1;      ///< cells a global load or store moves; divides register_x
  int depth = 1;       ///< coarsening depth: outputs a thread walks along the last axis
  Planes planes = Planes::registers;
  Keeps keeps = Keeps::cells;
  SumsLoop sums_loop = SumsLoop::turn;
  Copies copies = Copies::engine;
  Copies row_copies = Copies::threads;  ///< the same of family temporal
  int prefetch = 0;                     ///< planes on their way beyond those in use: to registers, or to the ring
  int steps = 2;                        ///< sweeps that a launch of family temporal makes
  int chunks = 1;                       ///< parts of the last axis that blocks of their own walk
  int shared_planes = 0;                ///< of those that a level holds from step to step, the oldest: in shared memory
  int groups = 1;                       ///< of warps among which the fused steps are shared out, as a pipeline
  StepBarrier barrier = StepBarrier::meet;
  int tiles = 1;    ///< that a block takes one after the other
  int cluster = 1;  ///< blocks in one group of SMs: neighbouring tiles, or (temporal) parts of one
  Halo halo = Halo::shared;
  Cover cover = Cover::output;
  Neighbours neighbours = Neighbours::cache;
  BlockOrder order = BlockOrder::natural;
  LoadHint load = LoadHint::cached;
  StoreHint store = StoreHint::write_back;
  int unroll = 1;      ///< iterations of the walk unrolled together
  int min_blocks = 0;  ///< blocks per SM promised to the compiler (__launch_bounds__); 0 leaves it free

  bool operator==(const Tuning&) const = default;
};

/// A row of the table: how a parameter is named, coded, ranged and explained.
struct Parameter {
  std::string_view name;                        ///< "coarsening depth"
  std::string_view prefix;                      ///< "cz" for numbers; empty where the value is a word
  std::vector<std::string_view> words;          ///< word of value i, for enumerations
  std::vector<std::string_view> word_meanings;  ///< of value i
  std::vector<int> values;                      ///< what the search may choose from
  int default_value;
  bool always_coded;  ///< written in every code of its families; others only when not at their default
  std::vector<Family> families;
  std::vector<Planes> planes;  ///< of these families' streaming kernels, those that use it; empty: all
  std::string_view meaning;
  std::function<int(const Tuning&)> get;
  std::function<void(Tuning&, int)> set;

  bool used_by(Family family) const;         ///< by some candidate of the family
  bool used_by(const Tuning& tuning) const;  ///< by this candidate, whose planes may rule it out
  bool is_word() const { return !words.empty(); }
};

/// The largest number a code may hold: far beyond every list of values, small enough that tiles stay countable.
inline constexpr int kLargestNumber = 65536;

/// The table, in the order of the code's parts.
std::span<const Parameter> parameters();

/// How many parameters of the table have different values.
int differences(const Tuning& a, const Tuning& b);

/// One value as the code spells it: "bx32", "regs".
std::string part(const Parameter& parameter, int value);

std::string_view name(Family family) noexcept;
std::span<const Family> families();

/// The candidate's stable short code: "streaming.bx32.by4.rx4.v4.cz4.regs". Parameters at their default are left out
/// unless they are always coded.
std::string code(const Tuning& tuning);
std::ostream& operator<<(std::ostream& out, const Tuning& tuning);

/// Parses a code; parts may come in any order after the family, and a parameter without a part has its default.
/// Values outside the table's are accepted as long as they are positive and at most kLargestNumber (constraints judge
/// them). Throws Error(malformed_code) naming the part.
Tuning parse_code(std::string_view text);

}  // namespace stencil_tune
