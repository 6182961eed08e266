// The part of the scheduler that moves data asynchronously: cp.async, TMA's boxes, words to other blocks of a cluster,
// and the mbarriers whose phases end when the bytes have arrived.
#include "tuner/executor/block_scheduler.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

namespace stencil_tune {
namespace {

/// Row by row; cells outside the field are zero.
void perform_box(const host::TensorMapContent& map, std::byte* to, const std::array<int, 3>& first) {
  const auto inside = [&](std::size_t axis, std::int64_t i) {
    return i >= 0 && i < static_cast<std::int64_t>(map.extents[axis]);
  };
  for (unsigned k = 0; k < map.box[2]; ++k) {
    for (unsigned j = 0; j < map.box[1]; ++j) {
      const std::int64_t y = first[1] + std::int64_t{j};
      const std::int64_t z = first[2] + std::int64_t{k};
      for (unsigned i = 0; i < map.box[0]; ++i, to += map.cell_bytes) {
        const std::int64_t x = first[0] + std::int64_t{i};
        if (!inside(0, x) || !inside(1, y) || !inside(2, z)) {
          std::memset(to, 0, map.cell_bytes);
          continue;
        }
        const auto offset = static_cast<std::uint64_t>(x) * map.cell_bytes +
                            static_cast<std::uint64_t>(y) * map.strides[0] +
                            static_cast<std::uint64_t>(z) * map.strides[1];
        std::memcpy(to, reinterpret_cast<const void*>(map.address + offset), map.cell_bytes);
      }
    }
  }
}

void perform(void* to, const void* from, unsigned bytes, unsigned bytes_read) {
  std::memcpy(to, from, bytes_read);
  std::memset(static_cast<char*>(to) + bytes_read, 0, bytes - bytes_read);
}

/// A fault on either end is that of the thread which asks.
void touch(const void* first, unsigned bytes) {
  const auto* ends = static_cast<const volatile std::byte*>(first);
  static_cast<void>(ends[0]);
  static_cast<void>(ends[bytes - 1]);
}

std::uintptr_t address(const void* place) { return reinterpret_cast<std::uintptr_t>(place); }

bool is_whole_words(const void* to, const void* from, unsigned bytes) {
  constexpr std::uintptr_t kWord = 16;
  return reinterpret_cast<std::uintptr_t>(to) % kWord == 0 && reinterpret_cast<std::uintptr_t>(from) % kWord == 0 &&
         bytes % kWord == 0;
}

}  // namespace

void BlockScheduler::issue_copy(const Copy& copy, host::Site site) {
  if (!current_block().holds(copy.to, copy.bytes)) {
    fail(host::Rule::shared_range, copy.to, "asynchronous copy to outside shared memory", site);
  }
  if (options_.async == AsyncCompletion::at_issue) {
    perform(copy.to, copy.from, copy.bytes, copy.bytes_read);
    return;
  }
  const auto meets = [&](const Copy& other) {
    return address(other.to) < address(copy.to) + copy.bytes && address(copy.to) < address(other.to) + other.bytes;
  };
  const auto any_meets = [&](const std::vector<Copy>& group) { return std::any_of(group.begin(), group.end(), meets); };
  const auto& groups = current().committed_copies;
  if (any_meets(current().open_copies) || std::any_of(groups.begin(), groups.end(), any_meets)) {
    fail(host::Rule::other, copy.to, "asynchronous copy to where another one is still on its way", site);
  }
  current().open_copies.push_back(copy);
}

void BlockScheduler::commit_copies() {
  current().committed_copies.push_back(std::move(current().open_copies));
  current().open_copies.clear();
}

void BlockScheduler::wait_copies(unsigned groups_left) {
  auto& groups = current().committed_copies;
  while (groups.size() > groups_left) {
    for (const Copy& copy : groups.front()) perform(copy.to, copy.from, copy.bytes, copy.bytes_read);
    groups.erase(groups.begin());
  }
}

void BlockScheduler::issue_box_copy(const BoxCopy& copy, host::Site site) {
  constexpr std::size_t kAlignment = 128;
  if (copy.map->mark != host::kTensorMapMark) {
    fail(host::Rule::other, copy.map, "tensor copy through what is no tensor map", site);
  }
  const std::size_t bytes = std::size_t{copy.map->box[0]} * copy.map->box[1] * copy.map->box[2] * copy.map->cell_bytes;
  const Block& block = current_block();
  if (!block.holds(copy.to, bytes)) {
    fail(host::Rule::shared_range, copy.to, "tensor copy to outside shared memory", site);
  }
  if (static_cast<std::size_t>(copy.to - block.shared.data()) % kAlignment != 0) {
    fail(host::Rule::alignment, copy.to, "tensor copy to a misaligned address", site);
  }
  constexpr std::int64_t kStartBytes = 16;  // an illegal instruction otherwise (H100 and H200, 2026-11-22)
  if (std::int64_t{copy.first[0]} * copy.map->cell_bytes % kStartBytes != 0) {
    fail(host::Rule::alignment, copy.to, "tensor copy of a box whose rows start off a multiple of 16 bytes", site);
  }
  check_nobody_reads(copy.barrier, copy.to, site);
  box_copies_.push_back(copy);
  if (options_.async == AsyncCompletion::at_issue) complete_box_copies(copy.barrier);
}

void BlockScheduler::complete_box_copies(const host::MbarrierContent* barrier) {
  const auto waited_for = std::stable_partition(box_copies_.begin(), box_copies_.end(),
                                                [&](const BoxCopy& copy) { return copy.barrier != barrier; });
  for (auto copy = waited_for; copy != box_copies_.end(); ++copy) {
    const host::TensorMapContent& map = *copy->map;
    perform_box(map, copy->to, copy->first);
    copy->barrier->add_bytes(-static_cast<int>(map.box[0] * map.box[1] * map.box[2] * map.cell_bytes));
    copy->barrier->end_phase_if_complete();
  }
  box_copies_.erase(waited_for, box_copies_.end());
}

void BlockScheduler::check_nobody_reads(const host::MbarrierContent* barrier, const void* to, host::Site site) {
  for (const Thread& thread : threads_) {
    if (thread.may_read.contains(barrier)) {
      fail(host::Rule::other, to, "tensor copy over what a thread may still be reading: it has not fenced", site);
    }
  }
}

void BlockScheduler::load_line(const LineLoad& line, host::Site site) {
  if (!current_block().holds(line.to, line.bytes)) {
    fail(host::Rule::shared_range, line.to, "line to outside shared memory", site);
  }
  if (!is_whole_words(line.to, line.from, line.bytes)) {
    fail(host::Rule::alignment, line.to, "line of which addresses or bytes are no multiples of 16", site);
  }
  check_nobody_reads(line.barrier, line.to, site);
  touch(line.from, line.bytes);
  line_loads_.push_back(line);
  if (options_.async == AsyncCompletion::at_issue) complete_line_loads(line.barrier);
}

void BlockScheduler::complete_line_loads(const host::MbarrierContent* barrier) {
  const auto waited_for = std::stable_partition(line_loads_.begin(), line_loads_.end(),
                                                [&](const LineLoad& line) { return line.barrier != barrier; });
  for (auto line = waited_for; line != line_loads_.end(); ++line) {
    std::memcpy(line->to, line->from, line->bytes);
    line->barrier->add_bytes(-static_cast<int>(line->bytes));
    line->barrier->end_phase_if_complete();
  }
  line_loads_.erase(waited_for, line_loads_.end());
}

void BlockScheduler::store_line(const Copy& line, host::Site site) {
  if (!current_block().holds(line.from, line.bytes)) {
    fail(host::Rule::shared_range, line.from, "line from outside shared memory", site);
  }
  if (!is_whole_words(line.to, line.from, line.bytes)) {
    fail(host::Rule::alignment, line.to, "line of which addresses or bytes are no multiples of 16", site);
  }
  for (const Thread& thread : threads_) {
    if (thread.warp == current().warp && thread.wrote_shared) {
      fail(host::Rule::other, line.from, "line from shared memory that a lane wrote and did not fence", site);
    }
  }
  if (options_.async == AsyncCompletion::at_issue) {
    perform(line.to, line.from, line.bytes, line.bytes);
  } else {
    current().open_lines.push_back(line);
  }
}

void BlockScheduler::commit_lines() {
  current().committed_lines.push_back(std::move(current().open_lines));
  current().open_lines.clear();
}

void BlockScheduler::wait_lines(unsigned groups_left) {
  auto& groups = current().committed_lines;
  while (groups.size() > groups_left) {
    for (const Copy& line : groups.front()) perform(line.to, line.from, line.bytes, line.bytes);
    groups.erase(groups.begin());
  }
}

void* BlockScheduler::peer_address(const void* local, unsigned rank, host::Site site) {
  const Block& block = current_block();
  if (rank >= blocks_.size()) fail(host::Rule::other, local, "address in a block that is not in the cluster", site);
  if (!block.holds(local, 0)) fail(host::Rule::shared_range, local, "no address in the block's shared memory", site);
  return blocks_[rank].shared.data() + (static_cast<const std::byte*>(local) - block.shared.data());
}

void BlockScheduler::send(const Send& send, host::Site site) {
  const auto target = std::find_if(blocks_.begin(), blocks_.end(),
                                   [&](const Block& block) { return block.holds(send.to, send.bytes); });
  if (target == blocks_.end()) fail(host::Rule::shared_range, send.to, "word sent to outside shared memory", site);
  if (!target->holds(send.barrier, sizeof *send.barrier)) {
    fail(host::Rule::shared_range, send.barrier, "word sent to one block, its barrier in another", site);
  }
  constexpr unsigned short kPoisoned = GuardedArray::kPoison << 8 | GuardedArray::kPoison;
  if (send.barrier->arrivals == kPoisoned) {
    fail(host::Rule::other, send.barrier, "word sent before its barrier was initialised", site);
  }
  if (target->unfinished == 0) fail(host::Rule::other, send.to, "word sent to a block that has ended", site);
  sends_.push_back(send);
  if (options_.async == AsyncCompletion::at_issue) complete_sends(send.barrier);
}

void BlockScheduler::complete_sends(const host::MbarrierContent* barrier) {
  const auto waited_for =
      std::stable_partition(sends_.begin(), sends_.end(), [&](const Send& send) { return send.barrier != barrier; });
  for (auto send = waited_for; send != sends_.end(); ++send) {
    std::memcpy(send->to, send->word.data(), send->bytes);
    send->barrier->add_bytes(-static_cast<int>(send->bytes));
    send->barrier->end_phase_if_complete();
  }
  sends_.erase(waited_for, sends_.end());
}

void BlockScheduler::wait_phase(host::MbarrierContent* barrier, int parity, host::Site site) {
  Thread& thread = current();
  if (barrier->parity() == parity) {
    thread.state = State::at_phase;
    thread.site = site;
    thread.phase = {barrier, parity};
    thread.fiber->wait();
  }
  thread.may_read.insert(barrier);
}

/// Copies and words that somebody waits for arrive now, if they have not before.
void BlockScheduler::release_ended_phases() {
  for (unsigned i = 0; i < threads_.size(); ++i) {
    Thread& thread = threads_[i];
    if (thread.state != State::at_phase) continue;
    if (thread.phase.barrier->parity() == thread.phase.parity) {
      complete_box_copies(thread.phase.barrier);
      complete_line_loads(thread.phase.barrier);
      complete_sends(thread.phase.barrier);
    }
    if (thread.phase.barrier->parity() == thread.phase.parity) continue;
    thread.state = State::ready;
    next_.push_back(i);
  }
}

}  // namespace stencil_tune
