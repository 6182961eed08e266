#include "tuner/user_kernel/host_trial.hpp"

#include "stencil_tune/error.hpp"
#include "tuner/executor/executor.hpp"
#include "tuner/executor/guarded_array.hpp"
#include "tuner/user_kernel/cells.hpp"
#include "tuner/user_kernel/host_function.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace stencil_tune {
namespace {

constexpr std::array<std::int64_t, 6> kSmall{37, 64, 100, 128, 256, 1024};
constexpr std::int64_t kMostCells = 1 << 20;        // in an array
constexpr std::uint64_t kMostThreads = 1ull << 18;  // in a launch
constexpr std::uint64_t kSeed = 1;

using Bytes = std::vector<std::byte>;

bool is_small(const UserKernel& kernel) {
  for (const KernelArgument& argument : kernel.arguments) {
    if (argument.is_array && cells_of(kernel, argument) > kMostCells) return false;
  }
  const auto legal = legal_configurations(kernel);
  const LaunchGeometry launch = launch_of(kernel, legal.front());
  std::uint64_t threads = 1;
  for (const unsigned extent : launch.grid) threads *= extent;
  for (const unsigned extent : launch.block) threads *= extent;
  return threads <= kMostThreads;
}

/// One launch on arrays of its own, which begin and end at pages that cannot be touched.
class HostLaunch {
 public:
  explicit HostLaunch(const UserKernel& kernel) : kernel_(kernel) {
    for (const KernelArgument& argument : kernel.arguments) {
      Bytes bytes;
      if (argument.is_array) {
        bytes = add_array(argument);
        if (!argument.is_parameter) continue;
      } else {
        bytes = value_bytes(argument, kernel.size_values());
      }
      arguments_.resize((arguments_.size() + bytes.size() - 1) / bytes.size() * bytes.size());
      arguments_.insert(arguments_.end(), bytes.begin(), bytes.end());
    }
  }

  /// To where the library's kernel finds them.
  template <class Chosen>
  void copy_symbols(const HostLibrary& library, const Chosen& is_chosen) const {
    std::size_t array = 0;
    for (const KernelArgument& argument : kernel_.arguments) {
      if (!argument.is_array) continue;
      const GuardedArray& cells = arrays_[array++];
      if (argument.symbol.empty() || !is_chosen(argument)) continue;
      const auto variable = library.variable(argument.symbol);
      if (cells.size() > variable.size()) {
        throw Error(ErrorCode::invalid_argument, fmt::format("the symbol '{}' has {} bytes, its argument {}",
                                                             argument.symbol, variable.size(), cells.size()));
      }
      std::memcpy(variable.data(), cells.data(), cells.size());
    }
  }

  std::optional<HostFault> run(const HostKernel& compiled, const LaunchGeometry& geometry, const Patience& patience) {
    return compiled.run(geometry, arguments_, {.order = ThreadOrder::random, .patience = patience});
  }

  Bytes cells(std::size_t array) const {
    const GuardedArray& memory = arrays_[array];
    return {memory.data(), memory.data() + memory.size()};
  }

 private:
  Bytes add_array(const KernelArgument& argument) {
    const std::int64_t cells = cells_of(kernel_, argument);
    Bytes filled = filled_array(argument, cells, kSeed);
    if (argument.role == Role::output) std::fill(filled.begin(), filled.end(), std::byte{0xff});
    constexpr std::size_t kAlignment = 16;  // what the widest vectors need
    arrays_.emplace_back(filled.size(), kAlignment, GuardedArray::Placement::against_end);
    std::copy(filled.begin(), filled.end(), arrays_.back().data());
    const std::byte* const address = arrays_.back().data();
    Bytes bytes(sizeof address);
    std::memcpy(bytes.data(), &address, sizeof address);
    return bytes;
  }

  const UserKernel& kernel_;
  std::vector<GuardedArray> arrays_;
  Bytes arguments_;
};

std::vector<Bytes> expected_by_function(const UserKernel& kernel) {
  std::vector<Bytes> arrays;
  for (const KernelArgument& argument : kernel.arguments) {
    if (argument.is_array) arrays.push_back(filled_array(argument, cells_of(kernel, argument), kSeed));
  }
  HostFunction(kernel).call(arrays);
  return arrays;
}

std::vector<Bytes> expected_cells(const UserKernel& kernel, const ParameterValues& values, const Patience& patience) {
  if (kernel.reference.kernel.empty()) return expected_by_function(kernel);
  const KernelSource source = reference_source(kernel, values);
  const HostLibrary library(std::span(&source, 1), {}, patience);
  HostLaunch launch(kernel);
  launch.copy_symbols(library, [&](const KernelArgument& each) { return is_symbol_of_reference(kernel, each); });
  if (const auto fault = launch.run(library.kernel(source.entry), reference_launch(kernel), patience)) {
    throw Error(ErrorCode::launch_failed,
                fmt::format("the reference {} fails on the CPU: {}", source.entry, fault->message));
  }
  std::vector<Bytes> expected;
  const auto arrays = std::count_if(kernel.arguments.begin(), kernel.arguments.end(),
                                    [](const KernelArgument& argument) { return argument.is_array; });
  for (std::size_t i = 0; i < static_cast<std::size_t>(arrays); ++i) expected.push_back(launch.cells(i));
  return expected;
}

}  // namespace

std::optional<UserKernel> with_small_sizes(const UserKernel& kernel) {
  for (const std::int64_t small : kSmall) {
    UserKernel reduced = kernel;
    for (UserKernelSize& size : reduced.sizes) size.value = std::min(size.value, small);
    for (KernelArgument& argument : reduced.arguments) argument.captured.clear();  // it was captured for other sizes
    try {
      if (is_small(reduced)) return reduced;
    } catch (const Error&) {
      // No configuration is legal with these, or a length is none.
    }
  }
  return std::nullopt;
}

std::optional<std::string> wrong_on_host(const UserKernel& kernel, const ParameterValues& values,
                                         const Patience& patience) {
  const auto expected = expected_cells(kernel, values, patience);
  const KernelSource source = user_source(kernel, values);
  const HostLibrary library(std::span(&source, 1), {}, patience);
  HostLaunch launch(kernel);
  launch.copy_symbols(library, [](const KernelArgument&) { return true; });
  if (const auto fault = launch.run(library.kernel(source.entry), launch_of(kernel, values), patience)) {
    return fault->message;
  }
  std::size_t array = 0;
  for (const KernelArgument& argument : kernel.arguments) {
    if (!argument.is_array) continue;
    const std::size_t number = array++;
    const double tolerance = argument.is_compared() ? kernel.reference.tolerance : 0;
    if (auto wrong = wrong_cells(argument, launch.cells(number), expected[number], tolerance)) return wrong;
  }
  return std::nullopt;
}

}  // namespace stencil_tune
