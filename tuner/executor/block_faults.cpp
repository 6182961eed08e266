// The part of the scheduler that says what went wrong, where and in which thread.
#include "tuner/executor/block_scheduler.hpp"

#include <fmt/format.h>

#include <csignal>
#include <cstring>
#include <map>
#include <string>

namespace stencil_tune {
namespace {

std::string to_string(host::Site site) {
  const char* slash = std::strrchr(site.file, '/');
  return fmt::format("{}:{}", slash ? slash + 1 : site.file, site.line);
}

std::string to_string(host::Index index) { return fmt::format("({},{},{})", index.x, index.y, index.z); }

}  // namespace

void BlockScheduler::fail(host::Rule rule, const void* address, const char* what, host::Site site) {
  const auto kind = rule == host::Rule::alignment      ? HostFault::Kind::misaligned
                    : rule == host::Rule::shared_range ? HostFault::Kind::out_of_bounds
                                                       : HostFault::Kind::rule;
  report(kind, fmt::format("{} at {}, address {}", what, to_string(site), fmt::ptr(address)),
         reinterpret_cast<std::uintptr_t>(address));
  current().fiber->escape();
}

void BlockScheduler::report(HostFault::Kind kind, const std::string& what, std::uintptr_t address) {
  const host::ThreadView& view = current().view;
  fault_ = HostFault{
      kind, fmt::format("thread {} of block {}: {}", to_string(view.thread), to_string(view.block), what), address};
}

void BlockScheduler::report_trap(const Thread& thread) {
  const Trap trap = *thread.fiber->trap();
  if (thread.fiber->overflowed(trap.address)) {
    report(HostFault::Kind::rule, "its emulated stack overflowed", trap.address);
  } else if (trap.signal == SIGSEGV || trap.signal == SIGBUS) {
    const GuardedArray& shared = blocks_[thread.block].shared;
    const bool in_shared = shared.encloses(trap.address);
    report(HostFault::Kind::out_of_bounds,
           fmt::format("access out of bounds at address {:#x}{}", trap.address,
                       in_shared ? fmt::format(", {} bytes from the start of {} bytes of shared memory",
                                               static_cast<std::intptr_t>(trap.address) -
                                                   reinterpret_cast<std::intptr_t>(shared.data()),
                                               geometry_.shared_bytes)
                                 : ""),
           trap.address);
  } else if (trap.signal == SIGFPE) {
    report(HostFault::Kind::arithmetic, "integer division by zero or overflow");
  } else {
    report(HostFault::Kind::arithmetic,
           "an index beyond an array of its own, an integer that does not fit its type, a shift too far, or an integer "
           "division by zero");
  }
}

void BlockScheduler::report_stuck() {
  report(HostFault::Kind::mismatched_wait, "no thread of the block can go on: " + describe_waits());
}

std::string BlockScheduler::describe_waits() const {
  std::map<std::string, unsigned> waits;
  for (const Thread& thread : threads_) {
    const char* what = thread.state == State::at_barrier           ? "barrier"
                       : thread.state == State::at_cluster_barrier ? "cluster barrier"
                       : thread.state == State::at_exchange        ? "shuffle"
                       : thread.state == State::at_phase           ? "mbarrier"
                                                                   : nullptr;
    if (what) ++waits[fmt::format("{} {}", what, to_string(thread.site))];
  }
  std::string text;
  for (const auto& [place, count] : waits) text += fmt::format("{}{} at {}", text.empty() ? "" : ", ", count, place);
  return text;
}

}  // namespace stencil_tune
