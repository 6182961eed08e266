#include "stencil_tune/library.hpp"

#include "generator/candidates/family.hpp"
#include "generator/candidates/run_plan.hpp"
#include "generator/stencil/buffers.hpp"
#include "runtime/cuda/device_facts.hpp"
#include "runtime/library/library_parts.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace stencil_tune {

namespace {

/// Kernels kept for callers who ask again; beyond it, those that nobody holds are forgotten.
constexpr std::size_t kRememberedKernels = 1024;

/// Hashes 64-bit words in lanes that do not wait for each other: a lookup that was made before costs microseconds,
/// also for stencils with thousands of nodes. In each lane every step can be undone, so that a difference in one word
/// stays one; those in more meet by chance alone.
class Digest {
 public:
  static constexpr std::size_t kLanes = 5;

  void add(std::size_t lane, std::uint64_t word) {
    constexpr std::array<std::uint64_t, kLanes> kOdd{0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f, 0x165667b19e3779f9,
                                                     0xd6e8feb86659fd93, 0xa0761d6478bd642f};
    lanes_[lane] = (std::rotl(lanes_[lane], 29) ^ word) * kOdd[lane];
  }
  void add(std::uint64_t word) { add(next_++ % kLanes, word); }

  RequestDigest finish() const {
    const XXH128_hash_t hash = XXH3_128bits(lanes_.data(), sizeof(lanes_));
    return {hash.high64, hash.low64};
  }

 private:
  std::array<std::uint64_t, kLanes> lanes_{1, 2, 3, 4, 5};
  std::size_t next_ = 0;
};

std::uint64_t pair(int high, int low) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(high)) << 32 | static_cast<std::uint32_t>(low);
}

void add_stencil(Digest& digest, const Stencil& stencil) {
  digest.add(pair(stencil.rank, static_cast<int>(stencil.fields.size())));
  digest.add(stencil.coefficients.size());
  digest.add(stencil.nodes.size());
  for (const Coefficient& coefficient : stencil.coefficients) {
    digest.add(std::bit_cast<std::uint64_t>(coefficient.value));
  }
  for (const Node& node : stencil.nodes) {
    digest.add(0, pair(static_cast<int>(node.op), node.index));
    digest.add(1, std::bit_cast<std::uint64_t>(node.value));
    digest.add(2, pair(node.offset[0], node.offset[1]));
    digest.add(3, pair(node.offset[2], node.operands[0]));
    digest.add(4, pair(node.operands[1], node.operands[2]));
  }
  for (const Stage& stage : stencil.stages) {
    digest.add(stage.updates.size());
    for (const Update& update : stage.updates) digest.add(pair(update.output, update.expression));
  }
  for (const Rotation& rotation : stencil.rotations) digest.add(pair(rotation.from, rotation.to));
}

Problem problem_of(const Request& request, int stage, int steps) {
  return make_problem(request.stencil, request.type, request.boundaries, request.extents, request.pitch, steps, stage);
}

/// In the evidence of fused steps: what runs those that are left.
void note_other_sweeps(Kernel::State& state) {
  if (state.plan.front().steps == 1) return;
  std::vector<std::string>& notes = state.plan.front().stages.front().evidence.notes;
  for (std::size_t i = 1; i < state.plan.size(); ++i) {
    const Sweep& sweep = state.plan[i];
    const Evidence& evidence = sweep.stages.front().evidence;
    if (sweep.steps > 1) {
      notes.push_back(fmt::format("the {} steps left of the run are fused too", sweep.steps));
    } else if (sweep.stages.size() > 1) {
      return notes.push_back("single steps are made stage by stage");
    } else {
      return notes.push_back(fmt::format("single steps run {} (match: {})", evidence.code, name(evidence.match)));
    }
  }
}

/// For what `fused` leaves of the run.
std::optional<Choice> choose_remainder(const Problem& run, const Choice& fused, const Limits& limits) {
  const auto tuning = plan_run(run, fused.tuning, limits).remainder;
  if (!tuning) return std::nullopt;
  Choice remainder = fused;
  remainder.tuning = *tuning;
  remainder.evidence.code = code(*tuning);
  return remainder;
}

LookupTarget target_of(const Request& request, const DeviceFacts& facts) {
  return {.gpu = facts.name,
          .architecture = facts.architecture,
          .driver = facts.driver,
          .limits = facts.limits,
          .alignment = request.alignment};
}

/// GStencil/s of a step that is made stage by stage; 0 where a stage's is not known.
double rate_of_stages(const std::vector<StageKernel>& stages) {
  double time = 0;
  for (const StageKernel& stage : stages) {
    if (!(stage.evidence.gstencils > 0)) return 0;
    time += 1 / stage.evidence.gstencils;
  }
  return 1 / time;
}

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

void check_device(const Request& request) {
  if (request.gpu.empty() || request.device < 0) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("Request::device is {} and Request::gpu is '{}': a GPU that is here or one by name, not both",
                          request.device, request.gpu));
}

void check_alignment(const Request& request) {
  const std::size_t cell = size_of(request.type);
  const bool power_of_two = request.alignment != 0 && (request.alignment & (request.alignment - 1)) == 0;
  if (power_of_two && request.alignment >= cell) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("Request::alignment is {}; it must be a power of two of at least the {} bytes of a cell",
                          request.alignment, cell));
}

}  // namespace

RequestDigest request_digest(const Request& request, int device) {
  Digest digest;
  digest.add(pair(device, static_cast<int>(request.type)));
  for (const std::int64_t extent : request.extents.n) digest.add(static_cast<std::uint64_t>(extent));
  digest.add(static_cast<std::uint64_t>(request.extents.rank));
  for (const Boundary boundary : request.boundaries) digest.add(static_cast<std::uint64_t>(boundary));
  digest.add(static_cast<std::uint64_t>(request.pitch));
  digest.add(request.alignment);
  digest.add(static_cast<std::uint64_t>(request.steps));
  digest.add(XXH3_64bits(request.gpu.data(), request.gpu.size()));
  add_stencil(digest, request.stencil);
  return digest.finish();
}

Library::Library(const LibraryOptions& options) : Library(std::make_unique<Impl>(open_parts(options))) {}
Library::Library(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Library::Library(Library&&) noexcept = default;
Library& Library::operator=(Library&&) noexcept = default;
Library::~Library() = default;

Kernel Library::lookup(const Request& request) { return Kernel(impl_->find_or_make(request)); }

void Library::reload() { impl_->reload(); }

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
  std::call_once(driver_opened_, [this] { driver_ = &parts_.driver(); });
  return *driver_;
}

std::shared_ptr<Kernel::State> Library::Impl::find(const RequestDigest& digest) const {
  const std::shared_lock lock(mutex_);
  const auto known = kernels_.find(digest);
  return known == kernels_.end() ? nullptr : known->second;
}

std::shared_ptr<Kernel::State> Library::Impl::find_or_make(const Request& request) {
  check_device(request);
  int device = request.device;
  if (device < 0 && request.gpu.empty()) device = driver().current_context() == nullptr ? 0 : driver().current_device();
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
  if (may_tune && !misses.stale.problems.empty()) retune(digest, std::move(misses.stale));
  const std::unique_lock lock(mutex_);
  if (kernels_.size() >= kRememberedKernels) drop_unused();
  kernels_.emplace(digest, state);
  return state;
}

void Library::Impl::retune(const RequestDigest& digest, TuningJob job) {
  if (!retuned_.insert(digest).second) return;
  retunings_.push_back(std::async(std::launch::async, [this, job = std::move(job)] {
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

std::shared_ptr<Kernel::State> Library::Impl::make(const Request& request, const DeviceFacts& facts, Misses& misses) {
  check_alignment(request);
  if (request.stencil.stages.empty())
    throw Error(ErrorCode::invalid_argument, "the stencil has no stages: build() makes one that is whole");
  auto state = std::make_shared<Kernel::State>();
  if (request.gpu.empty()) state->driver = &driver();
  state->device = facts.ordinal;
  state->architecture = facts.architecture;
  state->gpu = facts.name;
  state->step = problem_of(request, kWholeStep, 1);
  Sweep stages = make_stages(request, facts, misses);
  state->plan = make_fused(request, stages, facts, misses);
  state->plan.push_back(std::move(stages));
  state->buffers = {.outputs = {}, .next = state->plan.back().next, .spares = 0};
  for (const Sweep& sweep : state->plan) {
    const auto spares = static_cast<int>(sweep.next.size() - request.stencil.fields.size());
    if (spares > state->buffers.spares) state->buffers = {.outputs = {}, .next = sweep.next, .spares = spares};
  }
  if (state->driver != nullptr) {
    state->workspaces = std::make_unique<Workspaces>(*state->driver, state->buffers.spares, state->step.field_bytes());
  }
  if (state->plan.size() > 1) note_other_sweeps(*state);
  return state;
}

/// One step, stage by stage.
Sweep Library::Impl::make_stages(const Request& request, const DeviceFacts& facts, Misses& misses) {
  Sweep single;
  single.next = buffer_rotation(request.stencil);
  for (int stage = 0; stage < static_cast<int>(request.stencil.stages.size()); ++stage) {
    const Problem problem = problem_of(request, stage, 1);
    Choice choice = choose_kernel(request, problem, facts);
    note_miss(request, problem, choice.evidence.match, misses);
    single.stages.push_back(make_stage(problem, std::move(choice), facts));
    if (request.gpu.empty() && parts_.compile_in_background && has_tap_table(problem)) {
      single.stages.back().meanwhile =
          std::make_unique<Meanwhile>(Meanwhile{TapLaunch(problem), share_loaded(tap_kernel_source(problem), facts)});
    }
  }
  return single;
}

/// What makes several steps, or all stages of one, in a pass over memory, where that is known to be faster than
/// `stages`.
std::vector<Sweep> Library::Impl::make_fused(const Request& request, Sweep& stages, const DeviceFacts& facts,
                                             Misses& misses) {
  std::vector<Sweep> sweeps;
  const bool several_stages = request.stencil.stages.size() > 1;
  const auto add = [&](const Problem& problem, Choice chosen) {
    Sweep& sweep = sweeps.emplace_back();
    sweep.steps = sweeps_per_launch(chosen.tuning);
    sweep.in_background = parts_.compile_in_background;
    sweep.next = launch_buffers(problem, sweep.steps).next;
    sweep.stages.push_back(make_stage(problem, std::move(chosen), facts));
  };
  if (request.steps != 1) {
    const Problem run = problem_of(request, kWholeStep, request.steps);
    if (auto choice = choose_fused(request, run, stages, facts, misses)) {
      auto remainder = choose_remainder(run, *choice, facts.limits);
      add(run, std::move(*choice));
      if (remainder) add(run, std::move(*remainder));
    }
  }
  if (!several_stages || (!sweeps.empty() && sweeps.back().steps == 1)) return sweeps;
  const Problem step = problem_of(request, kWholeStep, 1);
  if (auto choice = choose_fused(request, step, stages, facts, misses)) add(step, std::move(*choice));
  return sweeps;
}

std::optional<Choice> Library::Impl::choose_fused(const Request& request, const Problem& problem, Sweep& stages,
                                                  const DeviceFacts& facts, Misses& misses) {
  if (!problem.step.obstacle.empty()) return std::nullopt;
  const LookupTarget target = target_of(request, facts);
  auto choice = choose_winner(problem, target, parts_.winners(problem, facts.architecture));
  const bool fuses = choice && (sweeps_per_launch(choice->tuning) > 1 || problem.stage == kWholeStep);
  note_miss(request, problem, choice ? choice->evidence.match : Match::default_candidate, misses);
  if (!fuses) return std::nullopt;
  const double by_stages = rate_of_stages(stages.stages);
  if (problem.stage == kWholeStep && by_stages >= choice->evidence.gstencils) {
    stages.stages.front().evidence.notes.push_back(
        fmt::format("steps are made stage by stage ({:.1f} GStencil/s), which is faster than {} ({:.1f})", by_stages,
                    choice->evidence.code, choice->evidence.gstencils));
    return std::nullopt;
  }
  add_notes(request, choice->evidence);
  return choice;
}

void Library::Impl::add_notes(const Request& request, Evidence& evidence) const {
  if (const std::string note = parts_.note(); !note.empty()) evidence.notes.push_back(note);
  if (!request.gpu.empty()) evidence.notes.push_back("looked up by name: no GPU was asked");
  for (const std::string& note : retuning_notes_) evidence.notes.push_back(note);
}

/// Where a stencil has several stages, its whole step is tuned, whatever is missing of it.
void Library::Impl::note_miss(const Request& request, const Problem& problem, Match match, Misses& misses) {
  if (match == Match::exact) return;
  std::vector<Problem>& problems = match == Match::stale ? misses.stale.problems : misses.missing.problems;
  if (request.stencil.stages.size() == 1) {
    problems.push_back(problem);
  } else if (problems.empty()) {
    problems.push_back(problem_of(request, kWholeStep, request.steps));
  }
}

Choice Library::Impl::choose_kernel(const Request& request, const Problem& problem, const DeviceFacts& facts) {
  Choice choice = choose(problem, target_of(request, facts), parts_.winners(problem, facts.architecture));
  add_notes(request, choice.evidence);
  return choice;
}

StageKernel Library::Impl::make_stage(const Problem& problem, Choice choice, const DeviceFacts& facts) {
  StageKernel kernel;
  kernel.problem = problem;
  kernel.tuning = choice.tuning;
  kernel.evidence = std::move(choice.evidence);
  const int fused = sweeps_per_launch(kernel.tuning);
  kernel.inputs = kernel_inputs(problem, fused);
  kernel.outputs = launch_buffers(problem, fused).outputs;
  const Candidate candidate(problem, kernel.tuning);
  kernel.alignment = required_alignment(candidate);
  kernel.updated = stencil_tune::updated_box(problem);
  kernel.whole = std::make_shared<const PackedLaunch>(candidate, kernel.updated);
  kernel.boxes = std::make_unique<BoxLaunches>();
  if (facts.ordinal >= 0) kernel.loaded = share_loaded(generate(candidate), facts);
  return kernel;
}

std::shared_ptr<LoadedKernel> Library::Impl::share_loaded(KernelSource source, const DeviceFacts& facts) {
  if (!compiler_) compiler_ = parts_.compiler();
  const std::string key = fmt::format("{}:{}", facts.ordinal, source.text);
  auto& loaded = loaded_[key];
  if (!loaded) {
    loaded = std::make_shared<LoadedKernel>(driver(), compiler_, std::move(source), facts.architecture, facts.driver);
  }
  return loaded;
}

void Library::Impl::drop_unused() {
  std::erase_if(kernels_, [](const auto& entry) { return entry.second.use_count() == 1; });
  std::erase_if(loaded_, [](const auto& entry) { return entry.second.use_count() == 1; });
}

}  // namespace stencil_tune
