#include "runtime/library/launch/box_launches.hpp"

#include <algorithm>
#include <array>
#include <mutex>

namespace stencil_tune {
namespace {

constexpr std::size_t kAtLeast = 64;
constexpr std::array<std::size_t, kMaxRank> kParts{3, 9, 27};  // by rank - 1

std::size_t boxes_of(int rank, int fused_steps) {
  const int slabs = 2 * rank * fused_steps;
  return std::max(kAtLeast, kParts[static_cast<std::size_t>(rank - 1)] + static_cast<std::size_t>(slabs));
}

}  // namespace

BoxLaunches::BoxLaunches(int rank, int fused_steps) : remembered_(boxes_of(rank, fused_steps)) {}

std::shared_ptr<const PackedLaunch> BoxLaunches::find(const Box& box) const {
  const std::shared_lock lock(mutex_);
  for (const auto& [known, launch] : launches_) {
    if (known == box) return launch;
  }
  return nullptr;
}

std::shared_ptr<const PackedLaunch> BoxLaunches::find_or_make(const Problem& problem, const Tuning& tuning,
                                                              const Box& box) {
  if (auto known = find(box)) return known;
  auto made = std::make_shared<const PackedLaunch>(Candidate(problem, tuning), box);
  const std::unique_lock lock(mutex_);
  if (launches_.size() >= remembered_) launches_.pop_front();
  launches_.emplace_back(box, made);
  return made;
}

}  // namespace stencil_tune
