#include "tuner/session/trials/candidate_queue.hpp"

#include <chrono>
#include <utility>

namespace stencil_tune {
namespace {

using std::chrono::milliseconds;

constexpr int kCandidatesAhead = 2;  // compiled or waiting for each device, beyond one for each compile process
constexpr milliseconds kPollInterval{100};

}  // namespace

void CandidateQueue::add_incumbent(const std::string& code) {
  first_.push_back(code);
  incumbents_.insert(code);
}

void CandidateQueue::add_warm_start(const std::string& code) {
  if (warm_starts_.insert(code).second) first_.push_back(code);
}

void CandidateQueue::add_before_all(const std::string& code) {
  if (warm_starts_.insert(code).second) first_.push_front(code);
}

void CandidateQueue::add_baseline(const std::string& code, bool known) {
  const bool is_new = baselines_.insert(code).second;
  if (is_new && !known && !warm_starts_.contains(code)) first_.push_back(code);
}

std::vector<std::string> CandidateQueue::submit_ahead(const std::function<bool()>& goes_on) {
  std::vector<std::string> submitted;
  while (outstanding() < compilers_.width() + kCandidatesAhead * devices_ && goes_on()) {
    if (most_ > 0 && submitted_ >= most_) break;
    const auto code = next_candidate();
    if (!code) break;
    compilers_.submit(*code);
    if (is_incumbent(*code)) continue;
    ++submitted_;
    submitted.push_back(*code);
  }
  return submitted;
}

std::optional<std::string> CandidateQueue::next_candidate() {
  if (!first_.empty()) {
    std::string code = std::move(first_.front());
    first_.pop_front();
    return code;
  }
  while (auto code = strategy_.propose()) {
    if (!comes_first(*code)) return code;
  }
  strategy_is_done_ = !strategy_.has_more();
  return std::nullopt;
}

bool CandidateQueue::comes_first(const std::string& code) const {
  return baselines_.contains(code) || warm_starts_.contains(code);
}

bool CandidateQueue::has_compiled() {
  while (auto compiled = compilers_.poll(milliseconds{0})) ready_.push_back(std::move(*compiled));
  return !ready_.empty();
}

std::optional<CompileResult> CandidateQueue::next_compiled() {
  if (!has_compiled()) {
    auto compiled = compilers_.poll(kPollInterval);
    if (!compiled) return std::nullopt;
    ready_.push_back(std::move(*compiled));
  }
  CompileResult compiled = std::move(ready_.front());
  ready_.pop_front();
  return compiled;
}

}  // namespace stencil_tune
