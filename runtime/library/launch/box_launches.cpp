#include "runtime/library/launch/box_launches.hpp"

#include <mutex>

namespace stencil_tune {

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
  if (launches_.size() >= kRemembered) launches_.pop_front();
  launches_.emplace_back(box, made);
  return made;
}

}  // namespace stencil_tune
