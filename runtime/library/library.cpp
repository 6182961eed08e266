#include "stencil_tune/library.hpp"

#include "generator/cut/zones.hpp"
#include "runtime/cuda/device_facts.hpp"
#include "runtime/library/library_parts.hpp"
#include "runtime/process/forked.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace stencil_tune {

namespace {

/// Kernels kept for callers who ask again; beyond it, those that nobody holds are forgotten.
constexpr std::size_t kRememberedKernels = 1024;

/// Why the action did not come to its end; empty where it did.
template <typename Action>
std::string failure_of(Action&& action) {
  try {
    action();
    return {};
  } catch (const std::exception& error) {
    return error.what();
  }
}

void check_race(const Request& request) {
  if (request.race_s >= 0 && std::isfinite(request.race_s)) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("Request::race_s is {}: give seconds, or 0 for no race", request.race_s));
}

void check_device(const Request& request) {
  if (request.gpu.empty() || request.device == -1) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("Request::device is {} and Request::gpu is '{}': a GPU that is here or one by name, not both",
                          request.device, request.gpu));
}

}  // namespace

Library::Library(const LibraryOptions& options) {
  const InsideLibrary inside;
  impl_ = std::make_unique<Impl>(open_parts(options));
}
Library::Library(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Library::Library(Library&&) noexcept = default;
Library& Library::operator=(Library&&) noexcept = default;
Library::~Library() {
  if (has_lost_locks()) (void)impl_.release();
}

Kernel Library::lookup(const Request& request) {
  const InsideLibrary inside;
  return Kernel(impl_->find_or_make(request));
}

void Library::reload() {
  const InsideLibrary inside;
  impl_->reload();
}

void Library::Impl::reload() {
  const std::scoped_lock making(making_);
  forget();
}

void Library::Impl::forget() {
  {
    const std::unique_lock lock(mutex_);
    kernels_.clear();
  }
  parts_.reload();
}

Driver& Library::Impl::driver() {
  // No std::call_once: an exception aborts on its way through it where libstdc++ is linked statically, as in the wheel.
  const std::scoped_lock opening(opening_driver_);
  if (driver_ == nullptr) driver_ = &parts_.driver();
  return *driver_;
}

int Library::Impl::ordinal_of(int device) {
  if (device < -1) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("device {}: an ordinal, or -1 for the GPU of the current context", device));
  }
  if (device >= 0) return device;
  return driver().current_context() == nullptr ? 0 : driver().current_device();
}

std::shared_ptr<Kernel::State> Library::Impl::find(const RequestDigest& digest) const {
  const std::shared_lock lock(mutex_);
  const auto known = kernels_.find(digest);
  return known == kernels_.end() ? nullptr : known->second;
}

std::shared_ptr<Kernel::State> Library::Impl::find_or_make(const Request& request) {
  check_device(request);
  check_race(request);
  const int device = request.gpu.empty() ? ordinal_of(request.device) : request.device;
  const RequestDigest digest = request_digest(request, device);
  if (auto known = find(digest)) return known;

  const std::scoped_lock making(making_);
  if (auto known = find(digest)) return known;
  const DeviceFacts& facts = facts_of(request, device);
  const bool may_tune = parts_.tune && request.gpu.empty();
  Misses misses(facts);
  auto state = make(request, facts, misses);
  if (may_tune && !misses.missing.problems.empty() && parts_.tune(misses.missing)) {
    parts_.reload();
    misses = Misses(facts);
    state = make(request, facts, misses);
  }
  const double race_s = request.race_s > 0 ? request.race_s : parts_.race_s;
  const bool may_race = parts_.race && !may_tune && request.gpu.empty();
  if (may_race && race_s > 0 && !state->run_evidence.loss.empty()) {
    state = race(request, facts, std::move(state), race_s);
  }
  if (may_tune && !misses.stale.problems.empty()) retune(digest, std::move(misses.stale));
  const std::unique_lock lock(mutex_);
  if (kernels_.size() >= kRememberedKernels) drop_unused();
  kernels_.emplace(digest, state);
  return state;
}

std::shared_ptr<Kernel::State> Library::Impl::race(const Request& request, const DeviceFacts& facts,
                                                   std::shared_ptr<Kernel::State> state, double seconds) {
  const Problem problem = make_problem(request.stencil, request.type, request.boundaries, request.extents,
                                       request.pitch, request.steps, kWholeStep);
  std::string no_race = "its zones are tuned one by one, which takes longer";
  if (!problem.step.obstacle.empty() || zones(problem, 1).empty()) {
    no_race = failure_of([&] {
      parts_.race({facts.uuid, {problem}}, seconds);
      forget();
    });
  }
  std::string note = "it did not race: " + no_race;
  if (no_race.empty()) {
    Misses misses(facts);
    state = make(request, facts, misses);
    if (state->run_evidence.loss.empty()) return state;
    note = "it raced, but no winner of just this came of it";
  }
  state->run_evidence.notes.push_back(note);
  for (StageKernel& stage : state->plan.front().stages) stage.evidence.notes.push_back(note);
  return state;
}

void Library::Impl::retune(const RequestDigest& digest, TuningJob job) {
  if (!retuned_.insert(digest).second) return;
  retunings_.push_back(std::async(std::launch::async, [this, job = std::move(job)] {
    const InsideLibrary inside;
    const std::scoped_lock one_at_a_time(retuning_);
    const std::string no_tuning = failure_of([&] { parts_.tune(job); });
    const std::scoped_lock making(making_);
    const std::string no_reading = failure_of([&] { forget(); });
    for (const std::string& failure : {no_tuning, no_reading}) {
      if (!failure.empty()) retuning_notes_.push_back("tuning a stale winner anew failed: " + failure);
    }
  }));
}

const DeviceFacts& Library::Impl::facts_of(const Request& request, int device) {
  if (!request.gpu.empty()) {
    const auto named = named_gpus_.find(request.gpu);
    if (named != named_gpus_.end()) return named->second;
    return named_gpus_.emplace(request.gpu, facts_of_named(request.gpu, parts_)).first->second;
  }
  const auto known = devices_.find(device);
  if (known != devices_.end()) return known->second;
  const int count = driver().device_count();
  if (device >= count) {
    throw Error(ErrorCode::no_device,
                count == 0 ? "no GPU: the CUDA driver sees none; check nvidia-smi and CUDA_VISIBLE_DEVICES"
                           : fmt::format("no GPU {}: this process sees {}", device, count));
  }
  return devices_.emplace(device, read_device(driver(), device)).first->second;
}

const std::shared_ptr<Compiler>& Library::Impl::compiler() {
  if (!compiler_) compiler_ = parts_.compiler();
  return compiler_;
}

std::shared_ptr<LoadedKernel> Library::Impl::share_loaded(KernelSource source, const DeviceFacts& facts) {
  const std::string key = fmt::format("{}:{}", facts.ordinal, source.text);
  auto& loaded = loaded_[key];
  if (!loaded) {
    loaded = std::make_shared<LoadedKernel>(driver(), compiler(), std::move(source), facts.architecture, facts.driver);
  }
  return loaded;
}

void Library::Impl::drop_unused() {
  std::erase_if(kernels_, [](const auto& entry) { return entry.second.use_count() == 1; });
  std::erase_if(loaded_, [](const auto& entry) { return entry.second.use_count() == 1; });
}

}  // namespace stencil_tune
