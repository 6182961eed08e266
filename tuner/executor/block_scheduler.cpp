#include "tuner/executor/block_scheduler.hpp"

#include "stencil_tune/error.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace stencil_tune {
namespace {

thread_local BlockScheduler* active_scheduler = nullptr;

/// Fibers outlive launches: making one costs a mapping of its stack.
ThreadFiber* pooled_fiber(std::size_t index) {
  static thread_local std::vector<std::unique_ptr<ThreadFiber>> pool;
  while (pool.size() <= index) pool.push_back(std::make_unique<ThreadFiber>());
  return pool[index].get();
}

}  // namespace

host::Services& BlockScheduler::services() {
  static host::Services table{
      nullptr,
      [](host::Site site) { active_scheduler->arrive_at_barrier(site); },
      [](host::Site site) { active_scheduler->arrive_at_cluster_barrier(site); },
      [](const void* brought, void* received, unsigned bytes, unsigned source, host::Site site) {
        active_scheduler->arrive_at_exchange(brought, received, bytes, source, site);
      },
      [](void* to, const void* from, unsigned bytes, unsigned bytes_read, host::Site site) {
        active_scheduler->issue_copy({to, from, bytes, bytes_read}, site);
      },
      [] { active_scheduler->commit_copies(); },
      [](unsigned groups_left) { active_scheduler->wait_copies(groups_left); },
      [](const void* map, void* to, void* barrier, int x, int y, int z, host::Site site) {
        active_scheduler->issue_box_copy({static_cast<const host::TensorMapContent*>(map),
                                          static_cast<std::byte*>(to),
                                          static_cast<host::MbarrierContent*>(barrier),
                                          {x, y, z}},
                                         site);
      },
      [](void* to, const void* from, int bytes, void* barrier, host::Site site) {
        active_scheduler->load_line({static_cast<std::byte*>(to), from, static_cast<unsigned>(bytes),
                                     static_cast<host::MbarrierContent*>(barrier)},
                                    site);
      },
      [](void* to, const void* from, int bytes, host::Site site) {
        const auto size = static_cast<unsigned>(bytes);
        active_scheduler->store_line({to, from, size, size}, site);
      },
      [] { active_scheduler->commit_lines(); },
      [](unsigned groups_left) { active_scheduler->wait_lines(groups_left); },
      [] { active_scheduler->current().wrote_shared = true; },
      [] {
        active_scheduler->current().may_read.clear();
        active_scheduler->current().wrote_shared = false;
      },
      [](const void* local, unsigned rank, host::Site site) {
        return active_scheduler->peer_address(local, rank, site);
      },
      [](void* to, const void* word, unsigned bytes, void* barrier, host::Site site) {
        Send send{static_cast<std::byte*>(to), {}, bytes, static_cast<host::MbarrierContent*>(barrier)};
        std::memcpy(send.word.data(), word, bytes);
        active_scheduler->send(send, site);
      },
      [](void* barrier, int parity, host::Site site) {
        active_scheduler->wait_phase(static_cast<host::MbarrierContent*>(barrier), parity, site);
      },
      [] { active_scheduler->let_others_run(); },
      [](host::Rule rule, const void* address, const char* what, host::Site site) {
        active_scheduler->fail(rule, address, what, site);
      },
  };
  return table;
}

BlockScheduler::BlockScheduler(const LaunchGeometry& geometry, ThreadFiber::Entry entry, const void* arguments,
                               const HostRunOptions& options)
    : geometry_(geometry),
      entry_(entry),
      arguments_(arguments),
      options_(options),
      random_(options.seed),
      block_threads_(geometry.block[0] * geometry.block[1] * geometry.block[2]),
      side_by_side_(geometry.together ? geometry.grid[0] * geometry.grid[1] * geometry.grid[2] : geometry.cluster),
      threads_(std::size_t{block_threads_} * side_by_side_) {
  const auto& [bx, by, bz] = geometry.block;
  const unsigned block_warps = (block_threads_ + kWarpLanes - 1) / kWarpLanes;
  warps_.resize(std::size_t{block_warps} * side_by_side_);
  for (unsigned rank = 0; rank < side_by_side_; ++rank) {
    blocks_.push_back({GuardedArray(geometry.shared_bytes, 16, GuardedArray::Placement::against_end)});
  }
  for (unsigned t = 0; t < threads_.size(); ++t) {
    const unsigned i = t % block_threads_;
    Thread& thread = threads_[t];
    thread.block = t / block_threads_;
    thread.warp = thread.block * block_warps + i / kWarpLanes;
    thread.view.thread = {i % bx, i / bx % by, i / (bx * by)};
    thread.view.block_extent = {bx, by, bz};
    thread.view.grid_extent = {geometry.grid[0], geometry.grid[1], geometry.grid[2]};
    thread.view.lane = i % kWarpLanes;
    thread.view.cluster_rank = thread.block;
    thread.view.shared = reinterpret_cast<unsigned char*>(blocks_[thread.block].shared.data());
    thread.fiber = pooled_fiber(t);
  }
  active_scheduler = this;
}

BlockScheduler::~BlockScheduler() { active_scheduler = nullptr; }

bool BlockScheduler::Block::holds(const void* first, std::size_t bytes) const {
  const auto* at = static_cast<const std::byte*>(first);
  return at >= shared.data() && at + bytes <= shared.data() + shared.size();
}

std::optional<HostFault> BlockScheduler::run_grid() {
  if (geometry_.together) return run_cluster({0, 0, 0});
  const auto& [gx, gy, gz] = geometry_.grid;
  const unsigned clusters_x = gx / geometry_.cluster;
  std::vector<std::uint64_t> clusters(std::uint64_t{clusters_x} * gy * gz);
  std::iota(clusters.begin(), clusters.end(), std::uint64_t{0});
  if (options_.order == ThreadOrder::descending) std::reverse(clusters.begin(), clusters.end());
  if (options_.order == ThreadOrder::random) std::shuffle(clusters.begin(), clusters.end(), random_);
  for (const std::uint64_t cluster : clusters) {
    if (options_.patience.is_over()) throw Error(ErrorCode::timeout, "a kernel on the host was not done in time");
    auto fault = run_cluster({static_cast<unsigned>(cluster % clusters_x) * geometry_.cluster,
                              static_cast<unsigned>(cluster / clusters_x % gy),
                              static_cast<unsigned>(cluster / clusters_x / gy)});
    if (fault) return fault;
  }
  return std::nullopt;
}

/// Clusters lie along x; all blocks of a launch follow each other along x, y and z.
host::Index BlockScheduler::block_at(host::Index first_block, unsigned number) const {
  if (!geometry_.together) return {first_block.x + number, first_block.y, first_block.z};
  const auto& [gx, gy, gz] = geometry_.grid;
  return {number % gx, number / gx % gy, number / gx / gy};
}

std::optional<HostFault> BlockScheduler::run_cluster(host::Index first_block) {
  begin_cluster(first_block);
  while (unfinished_ > 0 && !fault_) {
    // Words and copies arrive as late as they may where warps run apart, and at any time in random order.
    const bool at_any_time = options_.order == ThreadOrder::random && random_() % 2 == 0;
    if (next_.empty() || options_.order == ThreadOrder::ascending || at_any_time) release_ended_phases();
    if (next_.empty()) look_again();
    choose_round();
    if (round_.empty()) report_stuck();
    for (const unsigned index : round_) {
      run_thread(index);
      if (fault_) break;
    }
  }
  if (!fault_) check_shared_memory();
  if (fault_) abandon_cluster();
  return fault_;
}

/// Nobody else can go on. Threads that look for ever wait for what no other leaves.
void BlockScheduler::look_again() {
  constexpr unsigned kMostLooks = 1u << 16;
  if (looking_.empty() || ++looks_ > kMostLooks) return;
  if (options_.patience.is_over()) {
    abandon_cluster();
    throw Error(ErrorCode::timeout, "a kernel on the host was not done in time");
  }
  next_.swap(looking_);
}

void BlockScheduler::let_others_run() {
  looking_.push_back(current_);
  current().fiber->wait();
}

void BlockScheduler::check_shared_memory() {
  for (const Block& block : blocks_) {
    if (block.shared.slack_intact()) continue;
    report(HostFault::Kind::out_of_bounds, "the block wrote beyond its shared memory",
           reinterpret_cast<std::uintptr_t>(block.shared.data()));
  }
}

void BlockScheduler::begin_cluster(host::Index first_block) {
  fault_.reset();
  unfinished_ = static_cast<unsigned>(threads_.size());
  at_cluster_barrier_ = 0;
  looks_ = 0;
  looking_.clear();
  for (Block& block : blocks_) {
    block.shared.poison();
    block.unfinished = block_threads_;
    block.at_barrier = 0;
  }
  std::fill(warps_.begin(), warps_.end(), Warp{});
  box_copies_.clear();
  line_loads_.clear();
  sends_.clear();
  next_.resize(threads_.size());
  std::iota(next_.begin(), next_.end(), 0U);
  for (Thread& thread : threads_) {
    thread.view.block = block_at(first_block, thread.block);
    thread.state = State::ready;
    thread.open_copies.clear();
    thread.committed_copies.clear();
    thread.may_read.clear();
    thread.wrote_shared = false;
    thread.open_lines.clear();
    thread.committed_lines.clear();
    ++warps_[thread.warp].unfinished;
    thread.fiber->start(entry_, arguments_);
  }
}

void BlockScheduler::choose_round() {
  round_.clear();
  if (next_.empty()) return;
  const auto keep_to = [&](unsigned warp) {
    const auto others =
        std::stable_partition(next_.begin(), next_.end(), [&](unsigned index) { return threads_[index].warp == warp; });
    round_.assign(next_.begin(), others);
    next_.erase(next_.begin(), others);
  };
  switch (options_.order) {
    case ThreadOrder::ascending:
      round_.swap(next_);
      std::sort(round_.begin(), round_.end());
      break;
    case ThreadOrder::descending:
      keep_to(threads_[*std::max_element(next_.begin(), next_.end())].warp);
      std::sort(round_.begin(), round_.end(), std::greater<>());
      break;
    case ThreadOrder::random:
      keep_to(threads_[next_[random_() % next_.size()]].warp);
      std::shuffle(round_.begin(), round_.end(), random_);
      break;
  }
}

void BlockScheduler::run_thread(unsigned index) {
  current_ = index;
  services().current = &current().view;
  current().fiber->resume();
  if (!current().fiber->finished()) return;
  if (current().fiber->trap()) report_trap(current());
  after_finish(index);
}

/// No other thread waits for one that has finished.
void BlockScheduler::after_finish(unsigned index) {
  Thread& thread = threads_[index];
  Block& block = blocks_[thread.block];
  thread.state = State::finished;
  --unfinished_;
  --block.unfinished;
  --warps_[thread.warp].unfinished;
  if (fault_) return;
  const auto comes_here = [&](const auto& transfer) { return block.holds(transfer.to, 1); };
  if (block.unfinished == 0 && std::any_of(sends_.begin(), sends_.end(), comes_here)) {
    report(HostFault::Kind::rule, "the block ended while words that were sent to it were on their way");
    return;
  }
  if (block.unfinished == 0 && std::any_of(box_copies_.begin(), box_copies_.end(), comes_here)) {
    report(HostFault::Kind::rule, "the block ended while tensor copies to its shared memory were on their way");
    return;
  }
  if (block.unfinished == 0 && std::any_of(line_loads_.begin(), line_loads_.end(), comes_here)) {
    report(HostFault::Kind::rule, "the block ended while lines to its shared memory were on their way");
    return;
  }
  if (!thread.open_lines.empty() || !thread.committed_lines.empty()) {
    report(HostFault::Kind::rule, "a thread ended while lines were to be read from its shared memory");
    return;
  }
  release_barrier_if_complete(thread.block);
  release_cluster_barrier_if_complete();
  release_exchange_if_complete(thread.warp);
}

void BlockScheduler::abandon_cluster() {
  for (Thread& thread : threads_) thread.fiber->cancel();
}

}  // namespace stencil_tune
