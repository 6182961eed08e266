// resident: all steps of a launch on chip. Each block keeps its tile of the grid in shared memory from the first step to the
// last one; all blocks run at once.
//
//     load        the tile and its halo, as wide as kApart steps reach        all inputs, once
//     kApart steps, each on what the one before left right:                   shared memory alone, a barrier a step
//           |<- halo ->|<------- tile ------->|<- halo ->|
//       1      ========================================                       the tile and what the others need around it
//       2          ================================
//       last           ========================                               the tile: cells that other blocks read go out
//     exchange    letters from the blocks around (together.cuh) fill the halo
//     ... and so on; then the block stores its tile
//
// - Arrays in shared memory: the newest level, the one before, then fields that no step changes. A step writes its outputs
//   over the level before, which the update reads at the cell itself or not at all, and both change places.
// - Letters are numbered by the exchange. Two places a cell alternate: a block writes a place again when each block that reads
//   it has answered its next letter, for which it had read this one. Blocks that read each other's cells always do so both
//   ways: a halo is as wide on both sides, and a tile of held cells alone reads none.
// - Cells that boundary hold keeps are loaded into both levels and never written. Cells beyond an edge are 0 and stay so
//   (zero), or are copied from inside after each step (clamp, reflect). Under periodic they are other blocks' cells.
// - A thread computes windows of kRegisterY x kRegisterZ cells in registers, in each group of steps the same ones: it finds
//   out once where they lie and which of their cells change.
#pragma once

#include "stencil_tune/points/no_points.cuh"
#include "stencil_tune/resident/resident_windows.cuh"
#include "stencil_tune/window.cuh"

namespace stencil_tune {

/// The levels and fields in shared memory, seen from the first cell that a thread updates.
template <class S, class T>
struct ResidentRows {
  using Tile = ResidentTile<S, T>;
  using Value = typename S::Value;

  const Value* newest;
  const Value* before;
  const Value* constants;
  int place;

  STENCIL_DEVICE const Value* array(int f) const {
    const int number = T::array_of(f);
    return number == 0 ? newest : number == 1 ? before : constants + (number - 2) * Tile::kCells;
  }
  template <int kLeft, bool kBody, int kRight>
  STENCIL_DEVICE void load_row(int f, int p, int r, Value* body) const {
    const Value* from = array(f) + place + Tile::at(0, r - S::kLowY, p - S::kLowZ);
    if constexpr (kBody) body[0] = from[0];
    STENCIL_UNROLL
    for (int i = 1; i <= kLeft; ++i) body[-i] = from[-i];
    STENCIL_UNROLL
    for (int i = 1; i <= kRight; ++i) body[i] = from[i];
  }
  STENCIL_DEVICE Value cell(int f, int dx, int dy, int dz) const { return array(f)[place + Tile::at(dx, dy, dz)]; }
};

template <class S, class T>
struct Resident {
  using Tile = ResidentTile<S, T>;
  using Value = typename S::Value;
  using Index = typename S::Index;

  const Arguments<S>& arguments;
  const Tile tile;
  Value* newest;
  Value* before;
  Value* const constants;

  STENCIL_DEVICE explicit Resident(const Arguments<S>& a)
      : arguments(a), tile(a), newest(reinterpret_cast<Value*>(shared_memory())), before(newest + Tile::kCells),
        constants(before + Tile::kCells) {}

  STENCIL_DEVICE void load() {
    load(newest, T::input_of(0));
    load(before, T::input_of(0));  // what boundary hold keeps
    STENCIL_UNROLL
    for (int array = 2; array < T::kArrays; ++array) load(constants + (array - 2) * Tile::kCells, T::input_of(array));
    if constexpr (T::kTwoLevels) {
      const Field<S, T> field = input_field<S, T>(arguments, T::input_of(1));
      for_each_place([&](int i, int x, int y, int z) {
        if (!tile.changed_x.has(x) || !tile.changed_y.has(y) || !tile.changed_z.has(z)) return;
        before[i] = field.cell(field.row(tile.first_y + y, tile.first_z + z), tile.first_x + x);
      });
    }
  }

  /// A step of a group, which kLeft others follow.
  template <int kLeft>
  STENCIL_DEVICE void step(const ResidentWindows<S, T>& windows, int ahead, bool sends, const ResidentMail<S, T>& mail) {
    using Region = ResidentRegion<S, T, kLeft>;
    [[maybe_unused]] unsigned long long* const letters = mail.own_letters();
    unrolled<Region::kEach>([&](auto nth) {
      const unsigned packed = windows.packed[Region::windows_before() + nth];
      if (packed == 0) return;
      const int place = static_cast<int>(packed & 0xffffu);
      const ResidentRows<S, T> rows{newest, before, constants, place};
      const auto keep = [&](auto cell, Value value) {
        constexpr int kJ = cell % T::kRegisterY, kK = cell / T::kRegisterY;
        if (packed & 0x10000u << cell) before[place + Tile::at(0, kJ, kK)] = value;
        if constexpr (kLeft == 0) {
          if (!sends || (windows.has_readers[nth] >> cell & 1u) == 0) return;
          unsigned long long* const to = letters + windows.letters[nth] + ResidentMail<S, T>::cells_to(0, kJ, kK);
          mail.send(to, 0, value);
          if constexpr (T::kSentLevels > 1) mail.send(to, 1, newest[place + Tile::at(0, kJ, kK)]);
        }
      };
      if constexpr (T::kReadsAhead) {
        Window<S, T, typename T::Reads> window;
        T::Reads::load(rows, window.cells);
        update(window, place, ahead, keep);
      } else {
        update(rows, place, ahead, keep);
      }
    });
  }

  STENCIL_DEVICE void change_levels() {
    Value* const written = before;
    before = newest;
    newest = written;
  }

  /// Cells beyond an edge that answer with one inside.
  STENCIL_DEVICE void mirror() const {
    if constexpr (kMirrors) {
      const bool has_edge = tile.first_x < 0 || tile.first_y < 0 || tile.first_z < 0 || tile.first_x + Tile::kWidth > tile.nx ||
                            tile.first_y + Tile::kHeight > tile.ny || tile.first_z + Tile::kDepth > tile.nz;
      if (!has_edge) return;  // all threads
      for_each_place([&](int i, int x, int y, int z) {
        const int from_x = mirrored<S::kBoundaryX>(x, tile.first_x, tile.nx);
        const int from_y = mirrored<S::kBoundaryY>(y, tile.first_y, tile.ny);
        const int from_z = mirrored<S::kBoundaryZ>(z, tile.first_z, tile.nz);
        const bool has_cell = from_x >= 0 && from_x < Tile::kWidth && from_y >= 0 && from_y < Tile::kHeight &&
                              from_z >= 0 && from_z < Tile::kDepth;
        const int from = Tile::at(from_x, from_y, from_z);
        if (has_cell && from != i) newest[i] = newest[from];
      });
      barrier();
    }
  }

  STENCIL_DEVICE void store() const {
    const UpdatedBox<S> box(arguments);
    for (int i = thread_x(); i < Tile::kTileCells; i += Tile::kThreads) {
      const int x = i % T::kTileX, y = i / T::kTileX % T::kTileY, z = i / (T::kTileX * T::kTileY);
      if (x >= tile.own_x || y >= tile.own_y || z >= tile.own_z) continue;
      const int place = Tile::at(x + T::kHaloX, y + T::kHaloY, z + T::kHaloZ);
      const Index cell_x = tile.first_x + T::kHaloX + x, cell_y = tile.first_y + T::kHaloY + y;
      const Index cell_z = tile.first_z + T::kHaloZ + z;
      if (!box.has_row(cell_y, cell_z) || cell_x < box.low_x || cell_x >= box.high_x) continue;
      const Index cell = cell_z * Index(arguments.stride_z) + cell_y * Index(arguments.stride_y) + cell_x;
      store_cells<StoreHint::write_back, 1>(FieldCells<S>::output(arguments, T::kNewestOutput) + cell, newest + place);
      if constexpr (T::kTwoLevels) {
        store_cells<StoreHint::write_back, 1>(FieldCells<S>::output(arguments, T::kBeforeOutput) + cell, before + place);
      }
    }
  }

 private:
  static constexpr bool mirrors(Boundary boundary) { return boundary == Boundary::clamp || boundary == Boundary::reflect; }
  static constexpr bool kMirrors = mirrors(S::kBoundaryX) || mirrors(S::kBoundaryY) || mirrors(S::kBoundaryZ);

  template <class Body>
  STENCIL_DEVICE static void for_each_place(const Body& body) {
    for (int i = thread_x(); i < Tile::kCells; i += Tile::kThreads) {
      body(i, i % Tile::kWidth, i / Tile::kWidth % Tile::kHeight, i / Tile::kPlane);
    }
  }

  STENCIL_DEVICE void load(Value* to, int input) const {
    const Field<S, T> field = input_field<S, T>(arguments, input);
    for_each_place([&](int i, int x, int y, int z) {
      to[i] = field.cell(field.row(tile.first_y + y, tile.first_z + z), tile.first_x + x);
    });
  }

  /// The place that answers for one; itself for one inside, or where that stays as it is; -1: none.
  template <Boundary kBoundary>
  STENCIL_DEVICE static int mirrored(int place, Index first, Index n) {
    const Index cell = first + place;
    if constexpr (kBoundary == Boundary::zero) return cell >= 0 && cell < n ? place : -1;
    if constexpr (!mirrors(kBoundary)) return place;
    return cell >= 0 && cell < n ? place : static_cast<int>(inside<kBoundary>(cell, n) - first);
  }

  template <class Source, class Keep>
  STENCIL_DEVICE void update(const Source& source, [[maybe_unused]] int place, [[maybe_unused]] int ahead,
                             const Keep& keep) const {
    unrolled<T::kRegisterY * T::kRegisterZ>([&](auto cell) {
      constexpr int kJ = cell % T::kRegisterY, kK = cell / T::kRegisterY;
      using Read = Cells<S, Source, 0, kJ, kK>;
      Value out[S::kOutputs];
      if constexpr (T::kPlaced) {
        const Index x = tile.cell_x(place % Tile::kWidth), y = tile.cell_y(place / Tile::kWidth % Tile::kHeight + kJ);
        const Index z = tile.cell_z(place / Tile::kPlane + kK);
        S::update(PlacedCells<S, Read>{{source}, arguments, x, y, z, ahead, {}}, arguments.coefficients, out);
      } else {
        S::update(Read{source}, arguments.coefficients, out);
      }
      keep(cell, out[0]);
    });
  }
};

template <class S, class T, class Points>
STENCIL_DEVICE void resident_steps(const ResidentArguments<S>& kernel, const Points& points) {
  Resident<S, T> levels(kernel.plain);
  auto* const entered = reinterpret_cast<unsigned*>(shared_memory() + T::kNumberAt);
  if (thread_x() == 0) *entered = enter(T::mail_room(), kernel.plain.out[0]);
  levels.load();
  barrier();
  ResidentMail<S, T> mail(levels.tile, *entered);
  const ResidentWindows<S, T> windows(levels.tile, mail);

  const int steps = static_cast<int>(kernel.steps);
  for (int made = 0; made < steps;) {
    const int group = steps - made < T::kApart ? steps - made : T::kApart;
    const bool goes_on = made + group < steps;
    if (goes_on) mail.begin_exchange();
    unrolled<T::kApart>([&](auto nth) {
      constexpr int kLeft = T::kApart - 1 - nth;
      if (kLeft >= group) return;
      levels.template step<kLeft>(windows, made, goes_on, mail);
      ++made;
      levels.change_levels();
      if constexpr (kLeft > 0) {
        barrier();
        if constexpr (Points::kAny) points.meet(levels.tile, made - 1, levels.newest);
        levels.mirror();
      }
    });
    if constexpr (T::kSentLevels > 1) barrier();  // the last step reads the halo of the level before
    if (goes_on) mail.receive(levels.newest, levels.before);
    barrier();
    if constexpr (Points::kAny) points.meet(levels.tile, made - 1, levels.newest);
    if (goes_on) levels.mirror();
  }
  levels.store();
  if (thread_x() == 0) leave(T::mail_room(), static_cast<unsigned>(levels.tile.blocks_of_launch()), mail.number());
}

template <class S, class T>
STENCIL_DEVICE void resident(const ResidentArguments<S>& kernel) {
  resident_steps<S, T>(kernel, NoPoints{});
}

}  // namespace stencil_tune
