// Fuzz target: the definition of a kernel of the user's own, in a source and by itself, and its first configuration.
#include "generator/definition/expression/lexer.hpp"
#include "generator/printable.hpp"
#include "generator/user_kernel/configuration.hpp"
#include "stencil_tune/error.hpp"
#include "tests/fuzz/harm.hpp"

#include <string>

using namespace stencil_tune;

namespace {

/// What is pasted into sources: names, as identifiers, and numbers.
void require_names(const UserKernel& kernel) {
  require(is_identifier(kernel.name), "the kernel's name is no identifier");
  for (const UserKernelParameter& parameter : kernel.parameters) {
    require(is_identifier(parameter.name), "a parameter's name is no identifier");
    require(!parameter.values.empty(), "a parameter without values");
  }
  for (const UserKernelSize& size : kernel.sizes) require(is_identifier(size.name), "a size's name is no identifier");
  for (const KernelArgument& argument : kernel.arguments) {
    require(is_identifier(argument.name), "an argument's name is no identifier");
    require(!argument.length.c_text().empty() && !argument.value.c_text().empty(), "an expression without a text");
  }
}

void judge(const UserKernel& kernel) {
  ParameterValues values;
  for (const UserKernelParameter& parameter : kernel.parameters) values.push_back(parameter.values.front());
  const std::string code = configuration_code(kernel, values);
  require(values.empty() || parse_configuration(kernel, code) == values, "a configuration does not parse back");
  require(user_kernel_key(kernel).size() == 32, "a key is no key");
  require(!user_source(kernel, values).text.empty(), "a configuration has no source");
  if (broken_rule(kernel, values)) return;
  const LaunchGeometry launch = launch_of(kernel, values);
  require(launch.block[0] * launch.block[1] * launch.block[2] <= 1024, "a legal block is too large");
  for (const KernelArgument& argument : kernel.arguments) {
    if (argument.is_array) require(cells_of(kernel, argument) >= 1, "an array without cells");
  }
}

void take(std::string_view text, const char* file) {
  try {
    const UserKernel kernel = parse_user_kernel(text, file).kernel;
    require_names(kernel);
    try {
      judge(kernel);
    } catch (const Error& error) {
      require(error.code() == ErrorCode::invalid_argument, "a configuration is rejected for another reason");
      require(printable_lines(error.what()) == error.what(), "the message is not printable");
    }
  } catch (const Error& error) {
    require(error.code() == ErrorCode::malformed_definition, "a definition is rejected for another reason");
    require(printable_lines(error.what()) == error.what(), "the message is not printable");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  for (const char* file : {"kernel.cu", "kernel.toml"}) take(text_of(data, size), file);
  return 0;
}
