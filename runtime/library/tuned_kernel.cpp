#include "stencil_tune/tuned_kernel.hpp"

#include "runtime/library/capture.hpp"
#include "runtime/library/tuned_kernel_state.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <span>

namespace stencil_tune {
namespace {

constexpr std::size_t kMostBytes = 16 * kUserKernelLimits.arguments;  // with what alignment leaves free

std::string type_text(const KernelArgument& argument) {
  return fmt::format("{}{}", name(argument.type), argument.is_array ? "*" : "");
}

void require_type(const UserKernel& kernel, const KernelArgument& argument, const LaunchValue& value) {
  const bool is_bits = argument.type == CellType::f16 || argument.type == CellType::bf16;
  const bool fits = argument.is_array ? value.is_address()
                                      : !value.is_address() && value.bytes() == size_of(argument.type) &&
                                            value.is_floating() == (is_floating(argument.type) && !is_bits);
  if (!fits) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("argument '{}' of {} is {}; what was given is {}", argument.name, kernel.name, type_text(argument),
                    value.is_address()
                        ? "an address"
                        : fmt::format("a{} number of {} bytes", value.is_floating() ? " floating-point" : " whole",
                                      value.bytes())));
  }
  std::uint64_t address = 0;
  std::memcpy(&address, value.value(), value.bytes());
  if (argument.is_array && address == 0) {
    throw Error(ErrorCode::invalid_argument, fmt::format("argument '{}' of {} is null", argument.name, kernel.name));
  }
}

}  // namespace

const TunedEvidence& TunedKernel::evidence() const noexcept { return state_->evidence; }

std::string TunedKernel::source() const { return state_->source.text; }

void TunedKernel::prepare() { state_->loaded->prepare(state_->geometry.shared_bytes); }

void TunedKernel::launch_values(CUstream_st* stream, Span<const LaunchValue> values) {
  const UserKernel& kernel = state_->kernel;
  if (values.size() != kernel.arguments.size()) {
    throw Error(ErrorCode::invalid_argument, fmt::format("{} takes {} arguments, {} were given", kernel.name,
                                                         kernel.arguments.size(), values.size()));
  }
  alignas(16) std::array<std::byte, kMostBytes> packed;
  std::size_t end = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const LaunchValue& value = values[i];
    require_type(kernel, kernel.arguments[i], value);
    if (!kernel.arguments[i].is_parameter) continue;
    end = (end + value.bytes() - 1) / value.bytes() * value.bytes();
    std::memcpy(packed.data() + end, value.value(), value.bytes());
    end += value.bytes();
  }
  const Module* const module = state_->loaded->find(state_->driver.current_context_id());
  if (module == nullptr) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} was not prepared in the current context: call prepare() first", kernel.name));
  }
  if (!state_->capture_folder.empty() && !state_->was_captured.exchange(true)) {
    capture_launch(state_->driver, kernel, values, stream, state_->capture_folder);
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (state_->symbol_bytes[i] == 0) continue;
    DevicePointer address = 0;
    std::memcpy(&address, values[i].value(), sizeof address);
    module->write_symbol(kernel.arguments[i].symbol, address, state_->symbol_bytes[i], stream);
  }
  module->launch_packed(state_->geometry, std::span(packed).first(end), stream);
}

}  // namespace stencil_tune
