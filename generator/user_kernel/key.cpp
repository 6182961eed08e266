// What a kernel of the user's own is, as a key: of another source, launch, argument or reference it is another kernel.
#include "generator/kernel_source/signature.hpp"
#include "generator/user_kernel/configuration.hpp"

#include <fmt/format.h>
#include <xxhash.h>

namespace stencil_tune {
namespace {

void add(std::string& text, const std::vector<WholeExpression>& expressions) {
  for (const WholeExpression& each : expressions) text += each.text() + ';';
  text += '\n';
}

void add(std::string& text, const LaunchExpressions& launch) {
  add(text, launch.block);
  add(text, launch.grid);
  text += launch.shared_bytes.text() + '\n';
}

void add(std::string& text, const KernelArgument& argument) {
  text += fmt::format("{} {} {} {} {} {} {} ", argument.name, name(argument.type), argument.is_array,
                      static_cast<int>(argument.role), argument.length.text(), static_cast<int>(argument.fill),
                      argument.fill_number);
  if (!argument.symbol.empty()) text += fmt::format("{} {} ", argument.symbol, argument.is_parameter);
  text += argument.number ? fmt::format("{}\n", *argument.number) : argument.value.text() + '\n';
}

}  // namespace

std::string user_kernel_key(const UserKernel& kernel) {
  std::string text = kernel.name + '\n' + strip_comments(kernel.source) + '\n';
  for (const UserKernelSize& size : kernel.sizes) text += size.name + ' ';
  for (const UserKernelParameter& parameter : kernel.parameters) text += parameter.name + ' ';
  add(text, kernel.launch);
  for (const KernelArgument& argument : kernel.arguments) add(text, argument);
  const UserKernelReference& reference = kernel.reference;
  text += fmt::format("{} {} {} {}\n", reference.kernel, reference.function, reference.tolerance,
                      strip_comments(kernel.reference_source));
  add(text, reference.launch);
  text += kernel.flops ? kernel.flops->text() + '\n' : "\n";
  text += kernel.bytes ? kernel.bytes->text() + '\n' : "\n";
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace stencil_tune
