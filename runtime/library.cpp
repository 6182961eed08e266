#include "stencil_tune/library.hpp"

#include "runtime/device_facts.hpp"
#include "runtime/library_parts.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <bit>
#include <utility>

namespace stencil_tune {

namespace {

/// Kernels kept for callers who ask again; beyond it, those that nobody holds are forgotten.
constexpr std::size_t kRememberedKernels = 1024;

/// 64-bit words, hashed at once: a lookup that was made before should cost microseconds, whatever the stencil.
class Digest {
 public:
  explicit Digest(std::size_t words) { words_.reserve(words); }

  void add(std::uint64_t word) { words_.push_back(word); }
  void add(std::uint64_t high, std::uint64_t low) { words_.push_back(high << 32 ^ (low & 0xffff'ffff)); }

  std::string finish() const {
    const XXH128_hash_t hash = XXH3_128bits(words_.data(), words_.size() * sizeof(std::uint64_t));
    return {reinterpret_cast<const char*>(&hash), sizeof(hash)};
  }

 private:
  std::vector<std::uint64_t> words_;
};

void add_stencil(Digest& digest, const Stencil& stencil) {
  digest.add(static_cast<std::uint64_t>(stencil.rank), stencil.fields.size());
  digest.add(stencil.coefficients.size(), stencil.nodes.size());
  for (const Coefficient& coefficient : stencil.coefficients)
    digest.add(std::bit_cast<std::uint64_t>(coefficient.value));
  const auto word = [](int value) { return static_cast<std::uint64_t>(static_cast<std::uint32_t>(value)); };
  for (const Node& node : stencil.nodes) {
    digest.add(static_cast<std::uint64_t>(node.op), word(node.index));
    digest.add(std::bit_cast<std::uint64_t>(node.value));
    digest.add(word(node.offset[0]), word(node.offset[1]));
    digest.add(word(node.offset[2]), word(node.operands[0]));
    digest.add(word(node.operands[1]), word(node.operands[2]));
  }
  for (const Stage& stage : stencil.stages) {
    digest.add(stage.updates.size());
    for (const Update& update : stage.updates) digest.add(word(update.output), word(update.expression));
  }
  for (const Rotation& rotation : stencil.rotations) digest.add(word(rotation.from), word(rotation.to));
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

std::string request_digest(const Request& request, int device) {
  const Stencil& stencil = request.stencil;
  Digest digest(64 + 5 * stencil.nodes.size() + stencil.coefficients.size());
  digest.add(static_cast<std::uint64_t>(device), static_cast<std::uint64_t>(request.type));
  for (const std::int64_t extent : request.extents.n) digest.add(static_cast<std::uint64_t>(extent));
  digest.add(static_cast<std::uint64_t>(request.extents.rank));
  for (const Boundary boundary : request.boundaries) digest.add(static_cast<std::uint64_t>(boundary));
  digest.add(static_cast<std::uint64_t>(request.pitch));
  digest.add(request.alignment);
  add_stencil(digest, stencil);
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
  const std::scoped_lock lock(mutex_);
  parts.reload();
  kernels_.clear();
}

std::shared_ptr<Kernel::State> Library::Impl::find_or_make(const Request& request) {
  const std::scoped_lock lock(mutex_);
  if (driver_ == nullptr) driver_ = &parts.driver();
  int device = request.device;
  if (device < 0) device = driver_->current_context() == nullptr ? 0 : driver_->current_device();

  const std::string digest = request_digest(request, device);
  if (const auto known = kernels_.find(digest); known != kernels_.end()) return known->second;
  auto state = make(request, facts_of(device));
  if (kernels_.size() >= kRememberedKernels) drop_unused();
  kernels_.emplace(digest, state);
  return state;
}

const DeviceFacts& Library::Impl::facts_of(int device) {
  const auto known = devices_.find(device);
  if (known != devices_.end()) return known->second;
  const int count = driver_->device_count();
  if (device >= count) {
    throw Error(ErrorCode::no_device,
                count == 0 ? "no GPU: the CUDA driver sees none; check nvidia-smi and CUDA_VISIBLE_DEVICES"
                           : fmt::format("no GPU {}: this process sees {}", device, count));
  }
  return devices_.emplace(device, read_device(*driver_, device)).first->second;
}

std::shared_ptr<Kernel::State> Library::Impl::make(const Request& request, const DeviceFacts& facts) {
  check_alignment(request);
  auto state = std::make_shared<Kernel::State>();
  state->driver = driver_;
  state->device = facts.ordinal;
  for (int stage = 0; stage < static_cast<int>(request.stencil.stages.size()); ++stage) {
    state->stages.push_back(make_stage(request, stage, facts));
  }
  if (state->stages.empty())
    throw Error(ErrorCode::invalid_argument, "the stencil has no stages: build() makes one that is whole");
  return state;
}

StageKernel Library::Impl::make_stage(const Request& request, int stage, const DeviceFacts& facts) {
  StageKernel kernel;
  kernel.problem =
      make_problem(request.stencil, request.type, request.boundaries, request.extents, request.pitch, 1, stage);
  const Target target{.gpu = facts.name,
                      .architecture = facts.architecture,
                      .driver = facts.driver,
                      .limits = facts.limits,
                      .template_signature = template_signature(),
                      .alignment = request.alignment};
  Choice choice = choose(kernel.problem, target, parts.winners(kernel.problem, facts.architecture));
  if (!parts.note.empty()) choice.evidence.notes.push_back(parts.note);
  kernel.tuning = choice.tuning;
  kernel.evidence = std::move(choice.evidence);
  kernel.alignment = required_alignment(request.type, kernel.tuning);
  kernel.updated = stencil_tune::updated_box(kernel.problem);
  kernel.whole = std::make_shared<const PackedLaunch>(kernel.problem, kernel.tuning, kernel.updated);
  kernel.boxes = std::make_unique<BoxLaunches>();
  kernel.loaded = share_loaded(generate(kernel.problem, kernel.tuning), facts);
  return kernel;
}

std::shared_ptr<LoadedKernel> Library::Impl::share_loaded(KernelSource source, const DeviceFacts& facts) {
  if (!compiler_) compiler_ = parts.compiler();
  const std::string key = fmt::format("{}:{}", facts.ordinal, source.text);
  auto& loaded = loaded_[key];
  if (!loaded) {
    loaded = std::make_shared<LoadedKernel>(*driver_, compiler_, std::move(source), facts.architecture, facts.driver);
  }
  return loaded;
}

void Library::Impl::drop_unused() {
  std::erase_if(kernels_, [](const auto& entry) { return entry.second.use_count() == 1; });
  std::erase_if(loaded_, [](const auto& entry) { return entry.second.use_count() == 1; });
}

}  // namespace stencil_tune
