// measure: sums, least and largest values over the grid of what an update makes of its cells, which is stored nowhere.
//
//     cells            block 0   block 1   block 2 ...      each thread joins its cells, each block its threads
//     parts[measure]   p0        p1        p2 ...           one number a block
//     gather           one block joins the parts            one number
//
// Threads, and parts, are joined in an order that follows from the grid alone: the same number on every GPU. Each is a
// double, whatever the cells are; NaN where a value is NaN.
#pragma once

#include "stencil_tune/window.cuh"

namespace stencil_tune {

constexpr int kLanes = 32;  // the warp that joins has

enum class Reduction { sum, minimum, maximum };

/// One a measure.
template <Reduction... kReductions>
struct Reductions {
  static constexpr int kCount = sizeof...(kReductions);
  static constexpr Reduction kEach[] = {kReductions...};
};

template <Reduction kReduction>
STENCIL_DEVICE double joined(double a, double b) {
  if constexpr (kReduction == Reduction::sum) return a + b;
  if constexpr (kReduction == Reduction::minimum) return a < b || a != a ? a : b;
  return a > b || a != a ? a : b;
}

/// What changes nothing when it is joined.
template <Reduction kReduction>
STENCIL_DEVICE double of_no_cell() {
  const double infinity = exponential(1000.0);
  if constexpr (kReduction == Reduction::sum) return 0;
  return kReduction == Reduction::minimum ? infinity : -infinity;
}

/// The numbers of the block's threads as one, for its first thread: each lane of the first warp joins a part of them, then
/// the first lane what the others made.
template <Reduction kReduction, int kThreads>
STENCIL_DEVICE double joined_in_block(double own, int thread) {
  static_assert(kThreads % kLanes == 0);
  double* const numbers = reinterpret_cast<double*>(shared_memory());
  barrier();  // the numbers of the measure before are read
  numbers[thread] = own;
  barrier();
  if (thread >= kLanes) return own;
  for (int other = thread + kLanes; other < kThreads; other += kLanes) {
    own = joined<kReduction>(own, numbers[other]);
  }
  numbers[thread] = own;
  warp_barrier();
  if (thread > 0) return own;
  STENCIL_UNROLL
  for (int lane = 1; lane < kLanes; ++lane) own = joined<kReduction>(own, numbers[lane]);
  return own;
}

/// A thread's cells lie above each other in y; its lanes' along x.
template <class S, class T, class R>
STENCIL_DEVICE void measure(const Arguments<S>& arguments, R) {
  using Index = typename S::Index;
  constexpr int kThreads = T::kBlockX * T::kBlockY * T::kBlockZ;

  const TileIndex tile = tile_of_block<T>(arguments.tiles);
  const Index x = first_x<T>(arguments, tile), y = first_y<T>(arguments, tile);
  const Index z = static_cast<Index>(arguments.origin[2]) + static_cast<Index>(tile.z) * T::kBlockZ + thread_z();
  const UpdatedBox<S> box(arguments);
  Field<S, T> in[S::kInputs];
  STENCIL_UNROLL
  for (int f = 0; f < S::kInputs; ++f) in[f] = input_field<S, T>(arguments, f);
  const GlobalRows<S, T, true> source{in, x, y, z};

  double numbers[R::kCount];
  unrolled<R::kCount>([&](auto m) { numbers[m] = of_no_cell<R::kEach[m]>(); });
  unrolled<T::kRegisterY>([&](auto j) {
    if (x < box.low_x || x >= box.high_x || !box.has_row(y + j, z)) return;
    using Read = Cells<S, GlobalRows<S, T, true>, 0, j, 0>;
    typename S::Value values[S::kOutputs];
    if constexpr (T::kPlaced) {
      S::update(PlacedCells<S, Read>{{source}, arguments, x, y + j, z, 0, {}}, arguments.coefficients, values);
    } else {
      S::update(Read{source}, arguments.coefficients, values);
    }
    unrolled<R::kCount>([&](auto m) { numbers[m] = joined<R::kEach[m]>(numbers[m], static_cast<double>(values[m])); });
  });

  const int thread = (thread_z() * T::kBlockY + thread_y()) * T::kBlockX + thread_x();
  const long long block = (static_cast<long long>(tile.z) * arguments.tiles[1] + tile.y) * arguments.tiles[0] + tile.x;
  const long long blocks = static_cast<long long>(arguments.tiles[0]) * arguments.tiles[1] * arguments.tiles[2];
  double* const parts = reinterpret_cast<double*>(arguments.out[0]);
  unrolled<R::kCount>([&](auto m) {
    const double number = joined_in_block<R::kEach[m], kThreads>(numbers[m], thread);
    if (thread == 0) parts[m * blocks + block] = number;
  });
}

/// runtime/library/launch/measuring.cpp has the same structure, member by member.
struct GatherArguments {
  const double* parts;
  double* numbers;
  long long blocks;
};

constexpr int kGatherThreads = 1024;
constexpr int kGatherAtOnce = 8;  // parts that a thread asks memory for before it waits

/// One block.
template <class R>
STENCIL_DEVICE void gather(const GatherArguments& arguments, R) {
  unrolled<R::kCount>([&](auto m) {
    constexpr Reduction kReduction = R::kEach[m];
    const double* const parts = arguments.parts + m * arguments.blocks;
    double number = of_no_cell<kReduction>();
    for (long long first = thread_x(); first < arguments.blocks; first += kGatherThreads * kGatherAtOnce) {
      double some[kGatherAtOnce];
      unrolled<kGatherAtOnce>([&](auto i) {
        const long long part = first + i * kGatherThreads;
        some[i] = part < arguments.blocks ? parts[part] : of_no_cell<kReduction>();
      });
      unrolled<kGatherAtOnce>([&](auto i) { number = joined<kReduction>(number, some[i]); });
    }
    number = joined_in_block<kReduction, kGatherThreads>(number, thread_x());
    if (thread_x() == 0) arguments.numbers[m] = number;
  });
}

}  // namespace stencil_tune
