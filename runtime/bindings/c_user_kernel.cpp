// The C interface: kernels of the user's own.
#include "runtime/bindings/c_call.hpp"
#include "runtime/bindings/c_handles.hpp"
#include "runtime/bindings/on_gpu.hpp"
#include "runtime/library/tuned_kernel_state.hpp"

#include <fmt/format.h>

namespace stencil_tune {
namespace {

template <class Number>
LaunchValue number_at(const void* place) {
  Number number;
  std::memcpy(&number, place, sizeof number);
  return number;
}

LaunchValue value_at(const KernelArgument& argument, const void* place) {
  if (place == nullptr) {
    throw Error(ErrorCode::invalid_argument, fmt::format("there is nothing for argument '{}'", argument.name));
  }
  if (argument.is_array) return number_at<void*>(place);
  switch (argument.type) {
    case CellType::f32:
      return number_at<float>(place);
    case CellType::f64:
      return number_at<double>(place);
    case CellType::i32:
      return number_at<std::int32_t>(place);
    case CellType::i64:
      return number_at<std::int64_t>(place);
    case CellType::u32:
      return number_at<std::uint32_t>(place);
    case CellType::u64:
      return number_at<std::uint64_t>(place);
    case CellType::u8:
      return number_at<std::uint8_t>(place);
    case CellType::f16:
    case CellType::bf16:
      return number_at<std::uint16_t>(place);
  }
  throw Error(ErrorCode::internal, "no such type");
}

std::vector<std::string> types_of(const UserKernel& kernel) {
  std::vector<std::string> types;
  for (const KernelArgument& argument : kernel.arguments) {
    types.push_back(fmt::format("{}{}", name(argument.type), argument.is_array ? "*" : ""));
  }
  return types;
}

stencil_tune_user_kernel* make_c_handle(TunedKernel kernel) {
  std::string evidence = kernel.evidence().sentence();
  std::vector<std::string> types = types_of(kernel.state().kernel);
  return new stencil_tune_user_kernel{std::move(kernel), std::move(evidence), std::move(types)};
}

void launch(stencil_tune_user_kernel& handle, CUstream_st* stream, void* const* arguments, std::int32_t count) {
  const auto& wanted = handle.kernel.state().kernel.arguments;
  const std::span<void* const> places = span_of(arguments, count, "arguments");
  std::vector<LaunchValue> values;
  for (std::size_t i = 0; i < std::min(wanted.size(), places.size()); ++i) {
    values.push_back(value_at(wanted[i], places[i]));
  }
  values.resize(places.size(), LaunchValue(0));  // too many: launch_values says so
  handle.kernel.launch_values(stream, values);
}

const KernelArgument* argument_of(const stencil_tune_user_kernel* handle, std::int32_t argument) {
  if (handle == nullptr) return nullptr;
  const auto& all = handle->kernel.state().kernel.arguments;
  return argument < 0 || static_cast<std::size_t>(argument) >= all.size() ? nullptr : &all[argument];
}

}  // namespace
}  // namespace stencil_tune

using namespace stencil_tune;

extern "C" {

stencil_tune_status stencil_tune_user_kernel_find(stencil_tune_library* library, const char* definition,
                                                  const stencil_tune_user_kernel_size* sizes, int32_t size_count,
                                                  int32_t device, stencil_tune_user_kernel** kernel) {
  return guarded([&] {
    require(kernel, "kernel");
    *kernel = nullptr;
    require(library, "library");
    require(definition, "definition");
    std::vector<KernelSize> wanted;
    for (const stencil_tune_user_kernel_size& size : span_of(sizes, size_count, "sizes")) {
      require(size.name, "stencil_tune_user_kernel_size::name");
      wanted.push_back({size.name, size.value});
    }
    *kernel = make_c_handle(library->library.kernel(definition, wanted, device));
  });
}

void stencil_tune_user_kernel_release(stencil_tune_user_kernel* kernel) { delete kernel; }

stencil_tune_match stencil_tune_user_kernel_match(const stencil_tune_user_kernel* kernel) {
  return kernel == nullptr ? STENCIL_TUNE_MATCH_DEFAULT : to_c(kernel->kernel.match());
}

const char* stencil_tune_user_kernel_code(const stencil_tune_user_kernel* kernel) {
  return kernel == nullptr ? nullptr : kernel->kernel.evidence().code.c_str();
}

const char* stencil_tune_user_kernel_evidence(const stencil_tune_user_kernel* kernel) {
  return kernel == nullptr ? nullptr : kernel->evidence.c_str();
}

double stencil_tune_user_kernel_rate(const stencil_tune_user_kernel* kernel) {
  return kernel == nullptr ? 0 : kernel->kernel.evidence().rate;
}

const char* stencil_tune_user_kernel_unit(const stencil_tune_user_kernel* kernel) {
  return kernel == nullptr ? nullptr : kernel->kernel.evidence().unit.c_str();
}

int32_t stencil_tune_user_kernel_device(const stencil_tune_user_kernel* kernel) {
  return kernel == nullptr ? -1 : kernel->kernel.state().device;
}

stencil_tune_status stencil_tune_user_source(const stencil_tune_user_kernel* kernel, char** text) {
  return guarded([&] {
    require(text, "text");
    *text = nullptr;
    require(kernel, "kernel");
    *text = copy_of(kernel->kernel.source()).release();
  });
}

int32_t stencil_tune_user_kernel_argument_count(const stencil_tune_user_kernel* kernel) {
  return kernel == nullptr ? 0 : static_cast<int32_t>(kernel->types.size());
}

const char* stencil_tune_user_kernel_argument_name(const stencil_tune_user_kernel* kernel, int32_t argument) {
  const KernelArgument* const found = argument_of(kernel, argument);
  return found == nullptr ? nullptr : found->name.c_str();
}

const char* stencil_tune_user_kernel_argument_type(const stencil_tune_user_kernel* kernel, int32_t argument) {
  return argument_of(kernel, argument) == nullptr ? nullptr : kernel->types[static_cast<std::size_t>(argument)].c_str();
}

int64_t stencil_tune_user_kernel_argument_cells(const stencil_tune_user_kernel* kernel, int32_t argument) {
  const KernelArgument* const found = argument_of(kernel, argument);
  return found == nullptr || !found->is_array ? 0 : cells_of(kernel->kernel.state().kernel, *found);
}

int32_t stencil_tune_user_kernel_argument_is_written(const stencil_tune_user_kernel* kernel, int32_t argument) {
  const KernelArgument* const found = argument_of(kernel, argument);
  return found != nullptr && found->is_compared() ? 1 : 0;
}

stencil_tune_status stencil_tune_user_kernel_prepare(stencil_tune_user_kernel* kernel) {
  return guarded([&] {
    require(kernel, "kernel");
    kernel->kernel.prepare();
  });
}

stencil_tune_status stencil_tune_user_kernel_launch(stencil_tune_user_kernel* kernel, CUstream_st* stream,
                                                    void* const* arguments, int32_t argument_count) {
  return guarded([&] {
    require(kernel, "kernel");
    launch(*kernel, stream, arguments, argument_count);
  });
}

stencil_tune_status stencil_tune_user_kernel_launch_on_device(stencil_tune_user_kernel* kernel, CUstream_st* stream,
                                                              void* const* arguments, int32_t argument_count) {
  return guarded([&] {
    require(kernel, "kernel");
    const TunedKernel::State& state = kernel->kernel.state();
    const OnGpu here(state.driver, state.device, kernel->primary);
    if (state.loaded->find(state.driver.current_context_id()) == nullptr) kernel->kernel.prepare();
    launch(*kernel, stream, arguments, argument_count);
  });
}

}  // extern "C"
