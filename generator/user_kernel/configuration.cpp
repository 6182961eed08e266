#include "generator/user_kernel/configuration.hpp"

#include "generator/definition/text.hpp"
#include "generator/stencil/axis_names.hpp"
#include "generator/suggest.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace stencil_tune {
namespace {

WholeValues all_values(const UserKernel& kernel, const ParameterValues& values) {
  WholeValues all = kernel.size_values();
  for (std::size_t i = 0; i < values.size(); ++i) all[kernel.parameters[i].name] = values[i];
  return all;
}

constexpr std::array<std::int64_t, 3> kMostThreads{1024, 1024, 64};
constexpr std::int64_t kMostThreadsOfBlock = 1024;
constexpr std::array<std::int64_t, 3> kMostBlocks{2147483647, 65535, 65535};
constexpr std::int64_t kMostSharedBytes = 228 << 10;  // bytes an SM of sm_90 has; a device may allow less
/// Nothing where CUDA can launch it.
std::optional<BrokenRule> broken_limit(const LaunchExpressions& launch, const WholeValues& values) {
  std::int64_t threads = 1;
  for (std::size_t axis = 0; axis < launch.block.size(); ++axis) {
    const std::int64_t extent = launch.block[axis].evaluate(values);
    if (extent < 1 || extent > kMostThreads[axis]) {
      return BrokenRule{
          "block", fmt::format("{} threads along {}; 1 to {} can be", extent, kAxisNames[axis], kMostThreads[axis])};
    }
    threads *= extent;
  }
  if (threads > kMostThreadsOfBlock) {
    return BrokenRule{"block", fmt::format("a block of {} threads; {} can be", threads, kMostThreadsOfBlock)};
  }
  for (std::size_t axis = 0; axis < launch.grid.size(); ++axis) {
    const std::int64_t extent = launch.grid[axis].evaluate(values);
    if (extent < 1 || extent > kMostBlocks[axis]) {
      return BrokenRule{"grid",
                        fmt::format("{} blocks along {}; 1 to {} can be", extent, kAxisNames[axis], kMostBlocks[axis])};
    }
  }
  const std::int64_t shared = launch.shared_bytes.evaluate(values);
  if (shared >= 0 && shared <= kMostSharedBytes) return std::nullopt;
  return BrokenRule{"shared memory",
                    fmt::format("{} bytes of dynamic shared memory; {} can be", shared, kMostSharedBytes)};
}

LaunchGeometry geometry(const LaunchExpressions& launch, const WholeValues& values) {
  LaunchGeometry result;
  for (std::size_t axis = 0; axis < launch.block.size(); ++axis) {
    result.block[axis] = static_cast<unsigned>(launch.block[axis].evaluate(values));
  }
  for (std::size_t axis = 0; axis < launch.grid.size(); ++axis) {
    result.grid[axis] = static_cast<unsigned>(launch.grid[axis].evaluate(values));
  }
  result.shared_bytes = static_cast<std::size_t>(launch.shared_bytes.evaluate(values));
  return result;
}

/// "BLOCK=64"; nothing for other text.
std::optional<ParameterSetting> parse_setting(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  ParameterSetting setting{text.substr(0, equals)};
  const std::string_view number = text.substr(equals + 1);
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), setting.value);
  if (error != std::errc() || end != number.data() + number.size() || !is_identifier(setting.name)) return std::nullopt;
  return setting;
}

/// Compilers drop symbols that nothing refers to. On the host executor the macro also says where they are.
template <class Chosen>
std::string kept_symbols(const UserKernel& kernel, const Chosen& is_chosen) {
  std::string text;
  for (const KernelArgument& argument : kernel.arguments) {
    if (argument.symbol.empty() || !is_chosen(argument)) continue;
    text += fmt::format(
        "\n#ifdef STENCIL_TUNE_HOST_SYMBOL\nSTENCIL_TUNE_HOST_SYMBOL({0})\n#else\n"
        "extern \"C\" __global__ void stencil_tune_keep_{0}(const void** to) {{ *to = &{0}; }}\n#endif\n",
        argument.symbol);
  }
  return text;
}

std::string defines(const UserKernel& kernel, const ParameterValues& values) {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i) {
    text += fmt::format("#define {} {}\n", kernel.parameters[i].name, values[i]);
  }
  return text;
}

}  // namespace

std::string configuration_code(const UserKernel& kernel, const ParameterValues& values) {
  std::string code;
  for (std::size_t i = 0; i < values.size(); ++i) {
    code += fmt::format("{}{}={}", i == 0 ? "" : ",", kernel.parameters[i].name, values[i]);
  }
  return code;
}

std::optional<std::vector<ParameterSetting>> configuration_settings(std::string_view code) {
  std::vector<ParameterSetting> settings;
  for (std::size_t at = 0; at <= code.size();) {
    const std::size_t end = std::min(code.find(',', at), code.size());
    const auto setting = parse_setting(code.substr(at, end - at));
    if (!setting) return std::nullopt;
    settings.push_back(*setting);
    at = end + 1;
  }
  return settings;
}

ParameterValues parse_configuration(const UserKernel& kernel, std::string_view code) {
  const auto reject = [&](const std::string& why) {
    throw Error(ErrorCode::malformed_code,
                fmt::format("'{}' is no configuration of {}: {}", quotable(code, 200), kernel.name, why));
  };
  std::vector<std::string> names;
  for (const UserKernelParameter& parameter : kernel.parameters) names.push_back(parameter.name);
  const auto settings = configuration_settings(code);
  if (!settings) reject("write NAME=VALUE,NAME=VALUE");
  ParameterValues values;
  for (const auto& [name, value] : *settings) {
    const std::size_t place = values.size();
    if (place >= names.size() || name != names[place]) {
      reject(fmt::format("its parameters are {}, in this order{}", fmt::join(names, ", "), did_you_mean(name, names)));
    }
    const auto& known = kernel.parameters[place].values;
    if (!std::binary_search(known.begin(), known.end(), value)) {
      reject(fmt::format("{} is one of {}", names[place], fmt::join(known, ", ")));
    }
    values.push_back(value);
  }
  if (values.size() != names.size()) reject(fmt::format("{} has no value", names[values.size()]));
  return values;
}

std::optional<BrokenRule> broken_rule(const UserKernel& kernel, const ParameterValues& values) {
  const WholeValues all = all_values(kernel, values);
  for (const Rule& rule : kernel.rules) {
    if (rule.condition.evaluate(all) == 0) return BrokenRule{rule.name, rule.condition.text()};
  }
  return broken_limit(kernel.launch, all);
}

DefaultConfiguration default_configuration(const UserKernel& kernel) {
  if (kernel.default_values.empty()) return {legal_configurations(kernel).front()};
  DefaultConfiguration result{.values = {}, .is_defined = true};
  try {
    const WholeValues sizes = kernel.size_values();
    for (const WholeExpression& value : kernel.default_values) result.values.push_back(value.evaluate(sizes));
    const std::string code = configuration_code(kernel, result.values);
    parse_configuration(kernel, code);
    const auto broken = broken_rule(kernel, result.values);
    if (!broken) return result;
    result.objection = fmt::format("the default {} breaks '{}': {}", code, broken->rule, broken->message);
  } catch (const Error& error) {
    result.objection = fmt::format("the default: {}", error.what());
  }
  result.values = legal_configurations(kernel).front();
  return result;
}

LaunchGeometry launch_of(const UserKernel& kernel, const ParameterValues& values) {
  return geometry(kernel.launch, all_values(kernel, values));
}

LaunchGeometry reference_launch(const UserKernel& kernel) {
  const WholeValues sizes = kernel.size_values();
  if (const auto broken = broken_limit(kernel.reference.launch, sizes)) {
    throw Error(ErrorCode::invalid_argument, fmt::format("the reference {} cannot be launched: {}: {}",
                                                         kernel.reference.kernel, broken->rule, broken->message));
  }
  return geometry(kernel.reference.launch, sizes);
}

KernelSource user_source(const UserKernel& kernel, const ParameterValues& values) {
  return {.text = fmt::format("{}#line 1 \"{}\"\n{}{}", defines(kernel, values), kernel.file, kernel.source,
                              kept_symbols(kernel, [](const KernelArgument&) { return true; })),
          .entry = kernel.name,
          .is_own = true};
}

bool is_symbol_of_reference(const UserKernel& kernel, const KernelArgument& argument) {
  return !argument.symbol.empty() && (kernel.reference_source.empty() || !argument.is_parameter);
}

KernelSource reference_source(const UserKernel& kernel, const ParameterValues& some) {
  KernelSource source = user_source(kernel, some);
  source.entry = kernel.reference.kernel;
  if (!kernel.reference_source.empty()) {
    source.text = kernel.reference_source;
    source.text +=
        kept_symbols(kernel, [&](const KernelArgument& each) { return is_symbol_of_reference(kernel, each); });
  }
  return source;
}

std::int64_t cells_of(const UserKernel& kernel, const KernelArgument& argument) {
  constexpr std::int64_t kMostBytes = std::int64_t{1} << 44;
  const std::int64_t cells = argument.length.evaluate(kernel.size_values());
  const auto bytes = static_cast<std::int64_t>(size_of(argument.type));
  if (cells >= 1 && cells <= kMostBytes / bytes) return cells;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("the length of '{}' is {} = {} cells with {}: {}", argument.name, argument.length.text(),
                          cells, sizes_text(kernel), cells < 1 ? "it must be 1 at the least" : "that is too many"));
}

UserKernelWork work_of(const UserKernel& kernel) {
  const auto count = [sizes = kernel.size_values()](const auto& expression) {
    return expression ? static_cast<double>(expression->evaluate(sizes)) : 0;
  };
  if (const double flops = count(kernel.flops); flops > 0) return {"GFLOP/s", flops};
  if (const double bytes = count(kernel.bytes); bytes > 0) return {"GB/s", bytes};
  return {"launches/s", 1e9};  // as much by itself as 1e9 operations
}

std::string sizes_text(const UserKernel& kernel) {
  std::string text;
  for (const UserKernelSize& size : kernel.sizes) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", size.name, size.value);
  }
  return text;
}

}  // namespace stencil_tune
