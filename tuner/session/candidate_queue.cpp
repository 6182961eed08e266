#include "tuner/session/candidate_queue.hpp"

#include <chrono>
#include <utility>

namespace stencil_tune {
namespace {

using std::chrono::milliseconds;

constexpr int kAhead = 2;  // candidates compiled or waiting for the device, beyond one for each compile process
constexpr milliseconds kPollInterval{100};

}  // namespace

void CandidateQueue::add_incumbent(const Tuning& tuning) {
  first_.push_back(tuning);
  incumbents_.insert(code(tuning));
}

void CandidateQueue::add_warm_start(const Tuning& tuning) {
  if (warm_starts_.insert(code(tuning)).second) first_.push_back(tuning);
}

void CandidateQueue::add_baseline(const Tuning& tuning, bool known) {
  const bool is_new = baselines_.insert(code(tuning)).second;
  if (is_new && !known && !warm_starts_.contains(code(tuning))) first_.push_back(tuning);
}

void CandidateQueue::submit_ahead() {
  while (outstanding() < compilers_.width() + kAhead) {
    if (most_ > 0 && submitted_ >= most_) return;
    const auto tuning = next_candidate();
    if (!tuning) return;
    if (!is_incumbent(code(*tuning))) ++submitted_;
    compilers_.submit(*tuning);
  }
}

std::optional<Tuning> CandidateQueue::next_candidate() {
  if (!first_.empty()) {
    const Tuning tuning = first_.front();
    first_.pop_front();
    return tuning;
  }
  while (auto tuning = strategy_.propose()) {
    if (!comes_first(*tuning)) return tuning;
  }
  strategy_is_done_ = true;
  return std::nullopt;
}

bool CandidateQueue::comes_first(const Tuning& tuning) const {
  return baselines_.contains(code(tuning)) || warm_starts_.contains(code(tuning));
}

std::optional<CompileResult> CandidateQueue::next_compiled() {
  while (auto compiled = compilers_.poll(milliseconds{0})) ready_.push_back(std::move(*compiled));
  if (ready_.empty()) {
    auto compiled = compilers_.poll(kPollInterval);
    if (!compiled) return std::nullopt;
    ready_.push_back(std::move(*compiled));
  }
  CompileResult compiled = std::move(ready_.front());
  ready_.pop_front();
  return compiled;
}

}  // namespace stencil_tune
