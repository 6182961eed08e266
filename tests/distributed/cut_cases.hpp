// Runs of a grid that is cut, for any machine: on the CPU with threads for ranks, on GPUs through NCCL.
#pragma once

#include "bench/scaling/gpu_ranks.hpp"
#include "runtime/compile/compiler.hpp"
#include "runtime/cuda/driver.hpp"
#include "stencil_tune/distributed.hpp"

#include <array>
#include <functional>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <vector>

namespace stencil_tune {

struct CutCase {
  Request request{};
  Cut cut{1, 1, 1};
  int fused = 1;              ///< steps of the kernel
  int per_exchange = 0;       ///< 0: as the library chooses
  std::vector<int> steps{5};  ///< steps of the calls of advance, one after another
  bool overlap = false;
  int launches = 0;     ///< launches of a graph that makes the first of `steps`; 0: no graph
  bool points = false;  ///< sources and receivers on both sides of each cut

  std::string describe() const;
};

/// Cases that hold one promise, for some cuts of a grid of such extents in 3D.
struct CutCases {
  const char* name;
  std::vector<CutCase> (*make)(const std::vector<Cut>& cuts, const std::array<std::int64_t, kMaxRank>& extents);
};

/// For GoogleTest: its names of tests.
inline void PrintTo(const CutCases& cases, std::ostream* out) { *out << cases.name; }

std::span<const CutCases> all_cut_cases();

/// All cuts into so many parts along the axes that a grid of that rank has.
std::vector<Cut> cuts_into(int ranks, int rank);

/// What the cases need of a machine.
class Machine {
 public:
  virtual ~Machine() = default;
  virtual bench::Ranks& ranks(int count) = 0;
  virtual Driver& driver() = 0;
  virtual std::shared_ptr<Compiler> compiler() = 0;
  /// Captures what the work gives the stream as a CUDA graph, and launches it so many times.
  virtual void replay(CUstream_st* stream, int launches, const std::function<void()>& work) = 0;
};

struct Compared {
  std::string difference{};  ///< what differs, in words; empty where nothing does
  bool to_the_bit = false;   ///< cells had to be equal to the bit
};

/// Runs the case as it is cut and on one rank, from cells whose halos held NaN. Where the ranks run the very kernels of
/// the one, every cell must be equal to the bit. Elsewhere, as across a periodic edge, sums may be rounded differently:
/// by some units in the last place of the largest value. So may records of receivers, whose shares are added in another
/// order. Throws Error where a run fails, or fuses other steps than the case wants.
Compared compare_with_one_rank(Machine& machine, const CutCase& run);

}  // namespace stencil_tune
