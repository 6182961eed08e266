// The part of the scheduler at which threads meet: barriers of a block and of a cluster, and exchanges of a warp.
#include "tuner/executor/block_scheduler.hpp"

#include <algorithm>
#include <cstring>

namespace stencil_tune {
namespace {

bool same_site(host::Site a, host::Site b) {
  return a.line == b.line && (a.file == b.file || std::strcmp(a.file, b.file) == 0);
}

}  // namespace

void BlockScheduler::arrive_at_barrier(host::Site site) {
  Thread& thread = current();
  thread.state = State::at_barrier;
  thread.site = site;
  ++current_block().at_barrier;
  release_barrier_if_complete(thread.block);
  thread.fiber->wait();
}

void BlockScheduler::arrive_at_cluster_barrier(host::Site site) {
  Thread& thread = current();
  thread.state = State::at_cluster_barrier;
  thread.site = site;
  ++at_cluster_barrier_;
  release_cluster_barrier_if_complete();
  thread.fiber->wait();
}

void BlockScheduler::release_barrier_if_complete(unsigned block) {
  unsigned& arrived = blocks_[block].at_barrier;
  if (arrived == 0 || arrived < blocks_[block].unfinished) return;
  arrived = 0;
  release_threads_at(State::at_barrier, block * block_threads_, (block + 1) * block_threads_);
}

void BlockScheduler::release_cluster_barrier_if_complete() {
  if (at_cluster_barrier_ == 0 || at_cluster_barrier_ < unfinished_) return;
  at_cluster_barrier_ = 0;
  release_threads_at(State::at_cluster_barrier, 0, static_cast<unsigned>(threads_.size()));
}

/// All that are left of threads first .. last - 1 wait there; it must be for the same barrier.
void BlockScheduler::release_threads_at(State barrier, unsigned first, unsigned last) {
  const Thread* meeting = nullptr;
  for (unsigned i = first; i < last; ++i) {
    Thread& thread = threads_[i];
    if (thread.state != barrier) continue;
    if (!meeting) meeting = &thread;
    if (!same_site(meeting->site, thread.site)) {
      report(HostFault::Kind::mismatched_wait,
             "the threads of the block meet at different barriers: " + describe_waits());
      return;
    }
    thread.state = State::ready;
    next_.push_back(i);
  }
}

void BlockScheduler::arrive_at_exchange(const void* brought, void* received, unsigned bytes, unsigned source,
                                        host::Site site) {
  Thread& thread = current();
  thread.state = State::at_exchange;
  thread.site = site;
  thread.exchange = {brought, received, bytes, source};
  ++warps_[thread.warp].at_exchange;
  release_exchange_if_complete(thread.warp);
  thread.fiber->wait();
}

void BlockScheduler::release_exchange_if_complete(unsigned warp) {
  if (warps_[warp].at_exchange < warps_[warp].unfinished) return;
  const auto block_warps = static_cast<unsigned>(warps_.size() / blocks_.size());
  const unsigned block = warp / block_warps;
  const unsigned first = block * block_threads_ + warp % block_warps * kWarpLanes;
  const unsigned last = std::min(first + kWarpLanes, (block + 1) * block_threads_);
  const Thread* meeting = nullptr;
  for (unsigned i = first; i < last; ++i) {
    const Thread& thread = threads_[i];
    if (thread.state == State::finished) continue;
    if (!meeting) meeting = &thread;
    if (!same_site(meeting->site, thread.site) || meeting->exchange.bytes != thread.exchange.bytes) {
      report(HostFault::Kind::mismatched_wait, "the lanes of a warp meet at different shuffles: " + describe_waits());
      return;
    }
  }
  if (!meeting) return;
  warps_[warp].at_exchange = 0;
  deliver_exchange(first, last);
}

void BlockScheduler::deliver_exchange(unsigned first, unsigned last) {
  for (unsigned i = first; i < last; ++i) {
    Thread& thread = threads_[i];
    if (thread.state == State::finished) continue;
    const unsigned source = first + thread.exchange.source;
    // What a lane that is gone or never was would bring is undefined: poison makes its use visible.
    const bool there = source < last && threads_[source].state != State::finished;
    if (there) {
      std::memcpy(thread.exchange.received, threads_[source].exchange.brought, thread.exchange.bytes);
    } else {
      std::memset(thread.exchange.received, GuardedArray::kPoison, thread.exchange.bytes);
    }
  }
  for (unsigned i = first; i < last; ++i) {
    if (threads_[i].state != State::at_exchange) continue;
    threads_[i].state = State::ready;
    next_.push_back(i);
  }
}

}  // namespace stencil_tune
