// The host executor: runs generated kernels on the CPU, for correctness only.
//
// A kernel library is the generated source and the templates, compiled by the host compiler and loaded into this
// process. Only stencil_tune/device.cuh and together.cuh are replaced. A launch runs a block at a time, or all of them
// where they wait for each other, each thread on a fiber of its own, so that barriers and shuffles really wait. Errors
// that a GPU may hide show here:
// - Threads and blocks run in ascending, descending or random order, warps together or far apart. Where a barrier is
//   missing, results then change.
// - Shared memory is NaN when a block starts, and ends at a guard page.
// - Asynchronous copies complete as early or as late as they may.
// - Accesses that are out of bounds or misaligned, and barriers that not all threads reach, end the launch with a
//   HostFault that says which thread and where.
#pragma once

#include "generator/kernel_source/launch.hpp"
#include "generator/kernel_source/source.hpp"
#include "runtime/process/patience.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

namespace stencil_tune {

/// The order in which the blocks of a grid, and the threads of a block between two waits, run.
enum class ThreadOrder {
  ascending,   ///< all warps together, from wait to wait
  descending,  ///< the last warp that can run goes as far as it can
  random,      ///< a random warp goes on from one wait to the next
};

/// When an asynchronous copy arrives: once issued, or only once waited for.
enum class AsyncCompletion { at_issue, at_wait };

struct HostRunOptions {
  ThreadOrder order = ThreadOrder::ascending;
  AsyncCompletion async = AsyncCompletion::at_issue;
  std::uint64_t seed = 1;  ///< for ThreadOrder::random
  Patience patience{};     ///< asked for between blocks
};

/// What a kernel did that ended its launch.
struct HostFault {
  enum class Kind { out_of_bounds, misaligned, mismatched_wait, arithmetic, rule };

  Kind kind = Kind::rule;
  std::string message;         ///< what, which block and thread, where in the source if known
  std::uintptr_t address = 0;  ///< address of the access, for out_of_bounds and misaligned
};

std::string_view name(HostFault::Kind kind) noexcept;
std::string_view name(ThreadOrder order) noexcept;

class HostLibrary;

/// Writes a tensor map into its place in the kernel's parameter, in the executor's encoding.
void encode_tensor_map(const TensorMapRequest& request, std::size_t cell_bytes, std::span<std::byte> to);

/// One kernel of a loaded library; keeps the library loaded.
class HostKernel {
 public:
  /// Runs the whole grid. `arguments` holds the kernel's parameters, each at its natural alignment. Addresses in it are
  /// used as they are: arrays that lie against guard pages (GuardedArray) make the checks sharp. Returns the first
  /// fault, nothing when the kernel ended well. Launches of one process run one after another. Throws
  /// Error(invalid_argument) when the argument's size or the geometry cannot be right, Error(timeout) when patience is
  /// over before the last block has run.
  std::optional<HostFault> run(const LaunchGeometry& geometry, std::span<const std::byte> arguments,
                               const HostRunOptions& options = {}) const;

 private:
  friend class HostLibrary;
  using Entry = void (*)(const void* arguments);

  std::shared_ptr<void> handle_;
  Entry entry_ = nullptr;
  std::size_t argument_bytes_ = 0;
  bool together_ = false;  ///< blocks wait for each other
};

/// Kernels compiled together for the host.
class HostLibrary {
 public:
  /// Compiles all sources in one translation unit with CXX, c++, g++ or clang++, the first that is there.
  /// `files` are the templates the sources include; "stencil_tune/device.cuh" among them is replaced.
  /// Throws Error(missing_library) without a compiler, Error(compile_failed) with the compiler's log, Error(timeout)
  /// when patience is over before it is done.
  explicit HostLibrary(std::span<const KernelSource> sources, std::span<const TemplateFile> files = template_files(),
                       const Patience& patience = {});

  /// Throws Error(unknown_name).
  HostKernel kernel(std::string_view entry) const;

  /// The address of what the sources themselves export under that name. Throws Error(unknown_name).
  void* symbol(const std::string& name) const;

  /// A variable of code of the user's own, which says STENCIL_TUNE_HOST_SYMBOL. Throws Error(unknown_name).
  std::span<std::byte> variable(const std::string& name) const;

 private:
  std::shared_ptr<void> handle_;
  std::set<std::string, std::less<>> together_;  ///< kernels whose blocks wait for each other
};

/// The host compiler's command, for messages; nothing when there is none.
std::optional<std::string> find_host_compiler();

}  // namespace stencil_tune
