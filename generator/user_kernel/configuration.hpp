// A configuration of a kernel of the user's own: a value for each parameter, and all that follows from it.
#pragma once

#include "generator/kernel_source/launch.hpp"
#include "generator/kernel_source/source.hpp"
#include "generator/user_kernel/user_kernel.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stencil_tune {

/// A value for each parameter, in the definition's order.
using ParameterValues = std::vector<std::int64_t>;

/// "BLOCK=64,ITEMS=2": the code of the candidate.
std::string configuration_code(const UserKernel& kernel, const ParameterValues& values);

/// Throws Error(malformed_code) for other text, and for values that the definition does not have.
ParameterValues parse_configuration(const UserKernel& kernel, std::string_view code);

struct ParameterSetting {
  std::string_view name;
  std::int64_t value = 0;
};

/// What a code of whatever kernel sets, in its order; names are views of it. Nothing for text of another shape.
std::optional<std::vector<ParameterSetting>> configuration_settings(std::string_view code);
inline bool is_configuration_code(std::string_view code) { return configuration_settings(code).has_value(); }

struct BrokenRule {
  std::string rule;  ///< its name
  std::string message;
};

/// The first of the definition's rules, then of CUDA's limits, that the configuration breaks.
std::optional<BrokenRule> broken_rule(const UserKernel& kernel, const ParameterValues& values);

/// All that break no rule. Throws Error: illegal_candidate where none is left, naming the rule that most break;
/// invalid_argument where there are more than kMostConfigurations.
std::vector<ParameterValues> legal_configurations(const UserKernel& kernel);
inline constexpr std::size_t kMostConfigurations = 1U << 20;

/// What a search begins with, and what is launched where nothing is known.
struct DefaultConfiguration {
  ParameterValues values;   ///< the definition's default, else the first that is legal
  bool is_defined = false;  ///< the definition has a default
  std::string objection{};  ///< why its default is no configuration with these sizes; empty: it is one
};

/// Throws Error as legal_configurations does.
DefaultConfiguration default_configuration(const UserKernel& kernel);

LaunchGeometry launch_of(const UserKernel& kernel, const ParameterValues& values);
LaunchGeometry reference_launch(const UserKernel& kernel);

/// The user's source behind a #define for each parameter, with what keeps its symbols in the binary.
KernelSource user_source(const UserKernel& kernel, const ParameterValues& values);

/// The source of the kernel that is the reference. Its file sees the constants of some legal configuration.
KernelSource reference_source(const UserKernel& kernel, const ParameterValues& some);

/// Whether the kernel that is the reference has the argument's symbol too. One in another file need not have what is a
/// parameter as well.
bool is_symbol_of_reference(const UserKernel& kernel, const KernelArgument& argument);

/// Cells of an array. Throws Error(invalid_argument) below 1 and beyond what can be allocated.
std::int64_t cells_of(const UserKernel& kernel, const KernelArgument& argument);

/// A hash of what the kernel is, in 32 hexadecimal digits: of all but the values of sizes and parameters, and rules.
std::string user_kernel_key(const UserKernel& kernel);

/// What a rate counts, and a launch's count of it; GFLOP are 1e9.
struct UserKernelWork {
  const char* unit;
  double count;
};

/// Operations where the definition counts any, bytes of kernels that only move data, else launches.
UserKernelWork work_of(const UserKernel& kernel);

/// "m=1024 n=1024 k=1024"
std::string sizes_text(const UserKernel& kernel);

}  // namespace stencil_tune
