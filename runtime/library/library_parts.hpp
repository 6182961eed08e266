// What a Library is made of; tests make one of other parts.
#pragma once

#include "db/records.hpp"
#include "generator/cut/zones.hpp"
#include "runtime/compile/compiler.hpp"
#include "runtime/cuda/device.hpp"
#include "runtime/cuda/driver.hpp"
#include "runtime/library/kernel_state.hpp"
#include "runtime/library/launch/loaded_kernel.hpp"
#include "runtime/library/lookup/lookup.hpp"
#include "runtime/library/lookup/tuning_job.hpp"
#include "runtime/library/tuned_kernel_state.hpp"
#include "stencil_tune/library.hpp"

#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace stencil_tune {

struct LibraryParts {
  std::function<Driver&()> driver;                      ///< called at the first lookup, and again after it threw
  std::function<std::shared_ptr<Compiler>()> compiler;  ///< called at the first lookup
  /// Winners that may serve a problem on an architecture; choose() judges them.
  std::function<std::vector<WinnerRecord>(const Problem&, const std::string& architecture)> winners;
  /// Winners of all stencils, on whatever GPU: what a problem starts from that none of them serves. They live until
  /// reload().
  std::function<std::span<const WinnerRecord>()> all_winners = [] { return std::span<const WinnerRecord>(); };
  /// Winners of kernels of the user's own that have this name.
  std::function<std::vector<WinnerRecord>(const std::string& name)> kernel_winners = [](const std::string&) {
    return std::vector<WinnerRecord>();
  };
  /// The architecture of a GPU model that won something; nothing where none did.
  std::function<std::optional<std::string>(const std::string& gpu)> architecture_of = [](const std::string&) {
    return std::optional<std::string>();
  };
  std::function<void()> reload = [] {};
  /// Tunes what was not found, and says whether winners may have come by; empty: lookups never tune.
  std::function<bool(const TuningJob&)> tune{};
  /// Times the best few of what was not found for some seconds; throws where nothing comes of it. Empty: never.
  std::function<void(const TuningJob&, double seconds)> race{};
  double race_s = 0;  ///< requests that say none have it
  bool compile_in_background = false;
  /// For the evidence of what was not tuned here: why nothing is known.
  std::function<std::string()> note = [] { return std::string(); };
};

/// What is known of a GPU that was asked for by name (Request::gpu). Throws Error(unknown_name) with the nearest name.
DeviceFacts facts_of_named(const std::string& gpu, const LibraryParts& parts);

/// The parts of the machine itself. Opens the database.
LibraryParts open_parts(const LibraryOptions& options);

/// Equal for requests that have the same kernel: everything in them but names.
struct RequestDigest {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  bool operator==(const RequestDigest&) const = default;
};

RequestDigest request_digest(const Request& request, int device);

/// What lookups found no exact match for.
struct Misses {
  explicit Misses(const DeviceFacts& facts) : missing{facts.uuid, {}}, stale{facts.uuid, {}} {}

  TuningJob missing;
  TuningJob stale;  ///< these have a kernel that serves while they are tuned anew
};

struct Library::Impl {
  explicit Impl(LibraryParts parts) : parts_(std::move(parts)) {}

  std::shared_ptr<Kernel::State> find_or_make(const Request& request);
  std::shared_ptr<TunedKernel::State> make_tuned(UserKernel kernel, int device);
  void reload();

 private:
  /// The ordinal of a request's device. Throws Error(invalid_argument) for a number that is none.
  int ordinal_of(int device);
  /// Adds what was not tuned for just this to the misses.
  std::shared_ptr<Kernel::State> make(const Request& request, const DeviceFacts& facts, Misses& misses);
  /// The kernel after a race that was wanted for it; with a note where nothing came of that.
  std::shared_ptr<Kernel::State> race(const Request& request, const DeviceFacts& facts,
                                      std::shared_ptr<Kernel::State> state, double seconds);
  /// Tunes in the background, once for each request, and then forgets all kernels.
  void retune(const RequestDigest& digest, TuningJob job);
  /// Whoever asks from now on waits for making_, which the caller holds, and sees what reloading brought.
  void forget();
  /// The parts for a run of request.steps that make several steps, or several stages, in one launch, most steps first:
  /// one for most of the run, one for what it leaves where that is two steps or more, and one for single steps of
  /// several stages. Nothing where `stages`, the step stage by stage, is all that is known or possible, or faster.
  std::vector<PlanPart> make_fused(const Request& request, PlanPart& single, const DeviceFacts& facts, Misses& misses);
  /// Makes the state's plan one in zones, of as many steps at once as take least time, where that is known to be
  /// faster. Says whether it did.
  bool make_in_zones(const Request& request, Kernel::State& state, const DeviceFacts& facts);
  /// Nothing where the grid has no zones, or where no kernel is known for the largest.
  std::optional<PlanPart> make_in_zones(const Request& request, const Problem& step, int steps,
                                        const DeviceFacts& facts, bool predicted);
  std::optional<std::vector<Choice>> choose_for_zones(const Request& request, const std::vector<Zone>& zones, int steps,
                                                      const DeviceFacts& facts, bool predicted);
  /// predicted: by the model, in place of a winner.
  std::optional<Choice> choose_for_zone(const Request& request, const Zone& zone, int steps, const DeviceFacts& facts,
                                        bool predicted);
  std::unique_ptr<LayerCopier> make_layer_copier(const Kernel::State& state, const DeviceFacts& facts);
  std::shared_ptr<Measuring> make_measuring(const Problem& step, const DeviceFacts& facts);
  std::optional<PlanPart> make_passes(const Request& request, const Problem& step, const PlanPart& stages,
                                      const DeviceFacts& facts);
  PlanPart make_stages(const Request& request, const DeviceFacts& facts, Misses& misses);
  std::optional<Choice> choose_for_points(const Problem& run, std::span<const PlanPart> parts, const PlanPart& single,
                                          LookupTarget target);
  std::optional<Choice> choose_fused(const Request& request, const Problem& problem, PlanPart& single,
                                     const DeviceFacts& facts, Misses& misses);
  Choice choose_kernel(const Request& request, const Problem& problem, const DeviceFacts& facts);
  void add_notes(const Request& request, Evidence& evidence) const;
  static void note_miss(const Request& request, const Problem& problem, Match match, Misses& misses);
  /// box: cells that it makes, where they are not all.
  StageKernel make_stage(const Problem& problem, Choice choice, const DeviceFacts& facts,
                         const std::optional<Box>& box = std::nullopt);
  LookupTarget target_of(const Request& request, const DeviceFacts& facts);
  std::shared_ptr<LoadedKernel> share_loaded(KernelSource source, const DeviceFacts& facts);
  const DeviceFacts& facts_of(const Request& request, int device);
  Driver& driver();
  const std::shared_ptr<Compiler>& compiler();
  std::shared_ptr<Kernel::State> find(const RequestDigest& digest) const;
  void drop_unused();

  struct DigestHash {
    std::size_t operator()(const RequestDigest& digest) const noexcept { return digest.low; }
  };

  LibraryParts parts_;
  std::mutex opening_driver_;  ///< guards driver_
  Driver* driver_ = nullptr;

  mutable std::shared_mutex mutex_;  ///< guards kernels_
  std::unordered_map<RequestDigest, std::shared_ptr<Kernel::State>, DigestHash> kernels_;

  std::mutex making_;  ///< guards what follows; lookups of known kernels do not wait for it
  std::shared_ptr<Compiler> compiler_;
  std::map<int, DeviceFacts> devices_;
  std::map<std::string, DeviceFacts> named_gpus_;
  std::unordered_map<std::string, std::shared_ptr<LoadedKernel>> loaded_;  ///< by device and source text
  std::unordered_set<RequestDigest, DigestHash> retuned_;
  std::vector<std::string> retuning_notes_;

  std::mutex retuning_;                       ///< held by the one that tunes
  std::vector<std::future<void>> retunings_;  ///< they use all of the above: the last member, so that it ends first
};

}  // namespace stencil_tune
