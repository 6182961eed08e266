// What a DistributedKernel and its DistributedFields stand for.
#pragma once

#include "distributed/halo_exchange.hpp"
#include "runtime/library/kernel_state.hpp"
#include "stencil_tune/distributed.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace stencil_tune {

class KernelRun;
class PointRun;

/// What halos need that travel beside a launch.
struct Overlap {
  explicit Overlap(Driver& driver) : stream(Stream::urgent(driver)), ready(driver), arrived(driver) {}

  Stream stream;           ///< urgent: a launch fills the GPU, and what sends would wait until its last blocks run
  Event ready;             ///< the fields are, of whose cells some travel
  Event arrived;           ///< the halo has
  std::vector<Box> early;  ///< SplitLaunch::early
};

/// Does not change after it was made.
struct DistributedKernel::Impl {
  std::shared_ptr<Communicator> ranks;
  std::optional<Decomposition> grid;
  std::optional<Kernel> kernel;
  std::optional<Problem> whole;      ///< one step of the whole grid
  int per_exchange = 1;              ///< steps
  std::vector<int> with_halos;       ///< fields
  std::vector<ExchangePlan> before;  ///< [k - 1]: brings halos of the fields that k steps change, before these
  std::unique_ptr<HaloExchange> exchange;
  std::unique_ptr<Overlap> overlap;  ///< null: halos first

  const Kernel::State& state() const { return kernel->state(); }
  const Problem& problem() const { return state().step; }  ///< one step on this rank's arrays
  int rank() const { return ranks->rank(); }
  Box inner() const;  ///< own cells, counted from the array's first
  std::vector<Box> early_boxes() const;
  ExchangePlan plan_of_all(const std::vector<int>& fields) const;  ///< as many layers as arrays have

  /// Throws Error(invalid_argument) for what no run can have, and what the communicator throws where a rank is lost.
  void check(const DistributedFields::Impl& fields, std::int64_t steps, Span<const double> coefficients,
             const Place& place = {}) const;
  /// Gives the group up where something fails: the others wait for halos that do not come.
  template <class Work>
  void or_give_up(const Work& work) const {
    try {
      work();
    } catch (...) {
      ranks->abort();
      throw;
    }
  }
  /// What it is given was checked. points: null for none. Gives the group up where something fails.
  void advance(CUstream_st* stream, DistributedFields::Impl& fields, std::int64_t steps,
               Span<const double> coefficients, const Place& place, PointRun* points) const;
  void advance_all(CUstream_st* stream, DistributedFields::Impl& fields, std::int64_t steps,
                   Span<const double> coefficients, const Place& place, PointRun* points) const;
  /// The halo that so many steps need, and the steps.
  void advance_once(KernelRun& run, std::int64_t steps, CUstream_st* stream) const;
};

struct DistributedFields::Impl {
  std::shared_ptr<DistributedKernel::Impl> kernel;
  std::vector<DeviceBuffer> memory;
  std::vector<void*> buffers;  ///< where each field stands now
  std::vector<bool> changed;   ///< so that halos must be exchanged whatever comes next

  /// Where fields were changed by their owner, all their halos. Returns whether those of all fields that steps change
  /// are right now.
  bool refresh(CUstream_st* stream);

  /// A field of time has as many entries as it was given last.
  void write_times(std::size_t field, Span<const std::byte> entries, CUstream_st* stream);

  /// For the cells of a field that a checkpoint has.
  std::vector<std::byte> checkpoint_room(int field) const;
};

}  // namespace stencil_tune
