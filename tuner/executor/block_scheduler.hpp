// Schedules the threads of one block, or of blocks that run at the same time, a cluster or all: which runs next, which
// waits for which, and when a wait is over.
#pragma once

#include "generator/kernel_source/launch.hpp"
#include "tuner/executor/executor.hpp"
#include "tuner/executor/guarded_array.hpp"
#include "tuner/executor/host_interface.hpp"
#include "tuner/executor/thread_fiber.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <vector>

namespace stencil_tune {

inline constexpr unsigned kWarpLanes = 32;

class BlockScheduler {
 public:
  BlockScheduler(const LaunchGeometry& geometry, ThreadFiber::Entry entry, const void* arguments,
                 const HostRunOptions& options);
  ~BlockScheduler();
  BlockScheduler(const BlockScheduler&) = delete;
  BlockScheduler& operator=(const BlockScheduler&) = delete;

  /// Runs every block of the grid; returns the first fault.
  std::optional<HostFault> run_grid();

  /// The table that kernels call into; they reach the scheduler that runs on the calling OS thread.
  static host::Services& services();

 private:
  enum class State { ready, at_barrier, at_cluster_barrier, at_exchange, at_phase, finished };

  struct Copy {
    void* to;
    const void* from;
    unsigned bytes;
    unsigned bytes_read;  ///< the rest of `bytes` becomes zero
  };

  struct BoxCopy {
    const host::TensorMapContent* map;
    std::byte* to;
    host::MbarrierContent* barrier;
    std::array<int, 3> first;  ///< cell of the field
  };

  /// A line that comes to shared memory.
  struct LineLoad {
    std::byte* to;
    const void* from;
    unsigned bytes;
    host::MbarrierContent* barrier;
  };

  /// A word that is sent to a block of the cluster.
  struct Send {
    std::byte* to;
    std::array<std::byte, 16> word;
    unsigned bytes;
    host::MbarrierContent* barrier;
  };

  struct Warp {
    unsigned unfinished = 0;   ///< lanes
    unsigned at_exchange = 0;  ///< those of them that wait at an exchange
  };
  /// A block of the cluster.
  struct Block {
    GuardedArray shared;
    unsigned unfinished = 0;  ///< threads
    unsigned at_barrier = 0;  ///< those of them that wait at the barrier

    bool holds(const void* first, std::size_t bytes) const;
  };
  struct Thread {
    host::ThreadView view{};
    unsigned block = 0;  ///< place in blocks_
    unsigned warp = 0;   ///< place in warps_
    ThreadFiber* fiber = nullptr;
    State state = State::ready;
    host::Site site{};  ///< where it waits
    struct {
      const void* brought;
      void* received;
      unsigned bytes;
      unsigned source;
    } exchange{};
    struct {
      host::MbarrierContent* barrier;
      int parity;
    } phase{};
    std::set<const host::MbarrierContent*> may_read;  ///< whose copies it has waited for since its last fence
    bool wrote_shared = false;                        ///< since its last fence
    std::vector<Copy> open_lines;                     ///< to be stored, not read from shared memory yet
    std::vector<std::vector<Copy>> committed_lines;   ///< likewise
    std::vector<Copy> open_copies;
    std::vector<std::vector<Copy>> committed_copies;
  };

  host::Index block_at(host::Index first_block, unsigned number) const;
  std::optional<HostFault> run_cluster(host::Index first_block);
  void begin_cluster(host::Index first_block);
  void look_again();
  void choose_round();
  void run_thread(unsigned index);
  void after_finish(unsigned index);
  void check_shared_memory();
  void abandon_cluster();

  void let_others_run();
  void arrive_at_barrier(host::Site site);
  void arrive_at_cluster_barrier(host::Site site);
  void arrive_at_exchange(const void* brought, void* received, unsigned bytes, unsigned source, host::Site site);
  void release_barrier_if_complete(unsigned block);
  void release_cluster_barrier_if_complete();
  void release_threads_at(State barrier, unsigned first, unsigned last);
  void release_exchange_if_complete(unsigned warp);
  void deliver_exchange(unsigned first, unsigned last);

  void issue_copy(const Copy& copy, host::Site site);
  void commit_copies();
  void wait_copies(unsigned groups_left);
  void issue_box_copy(const BoxCopy& copy, host::Site site);
  void complete_box_copies(const host::MbarrierContent* barrier);
  void load_line(const LineLoad& line, host::Site site);
  void complete_line_loads(const host::MbarrierContent* barrier);
  void store_line(const Copy& line, host::Site site);
  void commit_lines();
  void wait_lines(unsigned groups_left);
  void check_nobody_reads(const host::MbarrierContent* barrier, const void* to, host::Site site);
  void* peer_address(const void* local, unsigned rank, host::Site site);
  void send(const Send& send, host::Site site);
  void complete_sends(const host::MbarrierContent* barrier);
  void wait_phase(host::MbarrierContent* barrier, int parity, host::Site site);
  void release_ended_phases();
  [[noreturn]] void fail(host::Rule rule, const void* address, const char* what, host::Site site);

  void report(HostFault::Kind kind, const std::string& what, std::uintptr_t address = 0);
  void report_trap(const Thread& thread);
  void report_stuck();
  std::string describe_waits() const;

  Thread& current() { return threads_[current_]; }
  Block& current_block() { return blocks_[current().block]; }

  const LaunchGeometry geometry_;
  const ThreadFiber::Entry entry_;
  const void* const arguments_;
  const HostRunOptions options_;
  std::mt19937_64 random_;
  const unsigned block_threads_;
  const unsigned side_by_side_;  ///< blocks that run at the same time
  std::vector<Block> blocks_;    ///< the cluster's
  std::vector<Thread> threads_;  ///< threads of all its blocks, block after block
  std::vector<Warp> warps_;
  std::vector<unsigned> round_;       ///< threads that run in this round
  std::vector<unsigned> next_;        ///< threads that became ready since it began
  std::vector<unsigned> looking_;     ///< threads that found nothing in memory yet, and go on when no other can
  std::vector<BoxCopy> box_copies_;   ///< issued and not yet complete
  std::vector<LineLoad> line_loads_;  ///< likewise
  std::vector<Send> sends_;           ///< likewise
  unsigned current_ = 0;
  unsigned unfinished_ = 0;
  unsigned at_cluster_barrier_ = 0;
  unsigned looks_ = 0;  ///< times that threads looked again because no other could go on
  std::optional<HostFault> fault_;
};

}  // namespace stencil_tune
