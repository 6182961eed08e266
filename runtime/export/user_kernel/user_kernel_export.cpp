#include "runtime/export/user_kernel/user_kernel_export.hpp"

#include "runtime/export/export.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

namespace stencil_tune {
namespace {

/// As the launcher takes it. What a kernel calls its 16-bit types is its own business.
std::string_view c_type(const KernelArgument& argument) {
  const bool has_16_bits = is_floating(argument.type) && size_of(argument.type) == 2;
  return argument.is_array && has_16_bits ? "void" : c_name(argument.type);
}

/// Whether the launcher is told: what sizes say it computes.
bool is_parameter(const KernelArgument& argument) { return argument.is_array || argument.number.has_value(); }

/// The argument's own name, unless a size, a constant or the launcher has it.
std::string parameter_name(const UserKernel& kernel, const KernelArgument& argument) {
  const auto is_it = [&](const auto& each) { return each.name == argument.name; };
  const auto is_symbol = [&](const KernelArgument& each) { return each.symbol == argument.name; };
  const bool is_taken = argument.name == "stream" || argument.name.starts_with("launch_") ||
                        std::any_of(kernel.sizes.begin(), kernel.sizes.end(), is_it) ||
                        std::any_of(kernel.parameters.begin(), kernel.parameters.end(), is_it) ||
                        std::any_of(kernel.arguments.begin(), kernel.arguments.end(), is_symbol);
  return is_taken ? argument.name + "_argument" : argument.name;
}

std::string parameters(const UserKernel& kernel) {
  std::string text;
  for (const KernelArgument& argument : kernel.arguments) {
    if (!is_parameter(argument)) continue;
    const bool is_const = argument.is_array && argument.role == Role::input;
    text += fmt::format("{}{}{} {}, ", is_const ? "const " : "", c_type(argument), argument.is_array ? "*" : "",
                        parameter_name(kernel, argument));
  }
  for (const UserKernelSize& size : kernel.sizes) text += fmt::format("long long {}, ", size.name);
  return text + "cudaStream_t stream";
}

std::string dim3_of(const std::vector<WholeExpression>& axes) {
  std::vector<std::string> numbers;
  for (const WholeExpression& axis : axes) numbers.push_back(fmt::format("static_cast<unsigned>({})", axis.c_text()));
  return fmt::format("dim3({})", fmt::join(numbers, ", "));
}

/// Its cells to a symbol of the source.
std::string symbol_copy(const KernelArgument& argument, const std::string& name) {
  return fmt::format(
      "  if (const cudaError_t symbol_status = cudaMemcpyToSymbolAsync({}, {}, static_cast<size_t>({}) * {}, 0,\n"
      "                                                                cudaMemcpyDeviceToDevice, stream);\n"
      "      symbol_status != cudaSuccess)\n"
      "    return symbol_status;\n",
      argument.symbol, name, argument.length.c_text(), size_of(argument.type));
}

/// Copies of what sizes say and to symbols, then the launch itself.
std::string launch(const UserKernel& kernel, const std::string& entry, const LaunchExpressions& how) {
  std::string values, places;
  for (const KernelArgument& argument : kernel.arguments) {
    const std::string name = parameter_name(kernel, argument);
    if (!argument.symbol.empty()) values += symbol_copy(argument, name);
    if (!argument.is_parameter) continue;
    if (!is_parameter(argument)) {
      values += fmt::format("  {0} {1} = static_cast<{0}>({2});\n", c_type(argument), name, argument.value.c_text());
    }
    places += fmt::format("{}(void*)&{}", places.empty() ? "" : ", ", name);
  }
  return fmt::format(
      "{}  void* launch_arguments[] = {{{}}};\n"
      "  const long long launch_bytes = {};\n"
      "  const auto launch_kernel = reinterpret_cast<const void*>(&{});\n"
      "  const cudaError_t launch_status = cudaFuncSetAttribute(launch_kernel, "
      "cudaFuncAttributeMaxDynamicSharedMemorySize,\n"
      "                                                   static_cast<int>(launch_bytes));\n"
      "  if (launch_status != cudaSuccess) return launch_status;\n"
      "  return cudaLaunchKernel(launch_kernel, {},\n                          {}, launch_arguments,\n"
      "                          static_cast<size_t>(launch_bytes), stream);\n",
      values, places, how.shared_bytes.c_text(), entry, dim3_of(how.grid), dim3_of(how.block));
}

constexpr std::string_view kWholeNumbers = R"(
namespace whole_numbers {  // of the definition's expressions
[[maybe_unused]] static long long minimum(long long a, long long b) { return a < b ? a : b; }
[[maybe_unused]] static long long maximum(long long a, long long b) { return a < b ? b : a; }
[[maybe_unused]] static long long ceil_div(long long a, long long b) {
  return a / b + (a % b != 0 && (a < 0) == (b < 0) ? 1 : 0);
}
}  // namespace whole_numbers
)";

std::string_view fill_name(Fill fill) {
  switch (fill) {
    case Fill::random:
      return "random_cells";
    case Fill::integers:
      return "integers";
    case Fill::zeros:
      return "zeros";
    case Fill::index:
      return "index";
    case Fill::number:
      return "number";
  }
  return "";
}

/// A row a cell type: {"y", f32, 1000, true, false, random_cells, 0},
std::string array_rows(const UserKernel& kernel) {
  std::string rows;
  for (const KernelArgument& argument : kernel.arguments) {
    if (!argument.is_array) continue;
    rows += fmt::format("    {{\"{}\", {}, {}LL, {}, {}, {}, {}}},\n", argument.name, name(argument.type),
                        cells_of(kernel, argument), argument.is_compared(), argument.role == Role::output,
                        fill_name(argument.fill), argument.fill_number);
  }
  return rows;
}

/// The arguments of a call of NAME or its reference on the arrays of the check.
std::string call_arguments(const UserKernel& kernel) {
  std::string text;
  int array = 0;
  for (const KernelArgument& argument : kernel.arguments) {
    if (!is_parameter(argument)) continue;
    if (argument.is_array) {
      text += fmt::format("static_cast<{}*>(arrays[{}]), ", c_type(argument), array++);
    } else {
      text += fmt::format("static_cast<{}>({}), ", c_type(argument), *argument.number);
    }
  }
  for (const UserKernelSize& size : kernel.sizes) text += fmt::format("{}LL, ", size.value);
  return text + "nullptr";
}

std::string main_text(const UserKernel& kernel, const UserKernelExportOptions& options) {
  if (kernel.reference.kernel.empty() || !kernel.reference_source.empty()) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the reference of {} is {}: --with-main needs one that is a kernel in the same source",
                            kernel.name, kernel.reference.kernel.empty() ? "a function" : "in another file"));
  }
  const UserKernelWork work = work_of(kernel);
  const std::string call = call_arguments(kernel);
  return fmt::format(
      "\n// ---- self-check and benchmark ----\n\n#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n\n#include <cmath>\n"
      "#include <cstdint>\n#include <cstdio>\n#include <cstring>\n#include <vector>\n\nnamespace {0}_check {{\n"
      "static cudaError_t reference({1}) {{\n{2}}}\n\n"
      "enum Type {{ f32, f64, f16, bf16, i32, u32, i64, u64, u8 }};\n"
      "enum Fill {{ random_cells, integers, zeros, index, number }};\n\n"
      "struct Array {{\n  const char* name;\n  Type type;\n  long long cells;\n  bool is_compared;\n"
      "  bool is_output;\n  Fill fill;\n  double fill_number;\n}};\n"
      "static const Array kArrays[] = {{\n{3}}};\n"
      "constexpr double kTolerance = {4};\nconstexpr double kCount = {5};  // of a launch, over 1e6\n"
      "constexpr const char* kUnit = \"{6}\";\nconstexpr const char* kName = \"{0}\";\n"
      "constexpr const char* kSizes = \"{7}\";\n\n"
      "static cudaError_t run_kernel(void* const* arrays) {{ return {0}({8}); }}\n"
      "static cudaError_t run_reference(void* const* arrays) {{ return reference({8}); }}\n\n{9}\n"
      "}}  // namespace {0}_check\n\nint main() {{ return {0}_check::run(); }}\n",
      options.name, parameters(kernel), launch(kernel, kernel.reference.kernel, kernel.reference.launch),
      array_rows(kernel), kernel.reference.tolerance, work.count / 1e6, work.unit, sizes_text(kernel), call,
      user_kernel_check_files().front().text);
}

}  // namespace

std::string export_user_kernel(const UserKernel& kernel, const ParameterValues& values,
                               const UserKernelExportOptions& options) {
  if (export_name(options.name) != options.name || options.name == kernel.name ||
      options.name == kernel.reference.kernel) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("'{}' cannot name the launcher{}: choose another --name", options.name,
                            export_name(options.name) == options.name ? ", a kernel has this name" : ""));
  }
  const KernelSource source = user_source(kernel, values);
  const std::size_t line = source.text.find("#line 1 ");  // the user's file is not where this one goes
  std::string text;
  for (const std::string& each : options.provenance) text += fmt::format("// {}\n", each);
  text += fmt::format("#include <cuda_runtime.h>\n\n{}\n{}", source.text.substr(0, line), kernel.source);
  text += fmt::format("\n// ---- the launcher ----\n{}\ncudaError_t {}({}) {{\n{}}}\n", kWholeNumbers, options.name,
                      parameters(kernel), launch(kernel, kernel.name, kernel.launch));
  return options.with_main ? text + main_text(kernel, options) : text;
}

}  // namespace stencil_tune
