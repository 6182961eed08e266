#include "tuner/user_kernel/host_function.hpp"

#include "generator/input_file.hpp"
#include "generator/user_kernel/configuration.hpp"
#include "runtime/files/scratch_folder.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/executor/host_compiler.hpp"
#include "tuner/user_kernel/cells.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <string>

namespace stencil_tune {
namespace {

/// A function that takes the arguments' addresses, as CUDA's launches do, and calls one with the arguments themselves.
std::string caller_text(const UserKernel& kernel) {
  std::string types, values;
  for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
    const KernelArgument& argument = kernel.arguments[i];
    const std::string type = fmt::format("{}{}", c_name(argument.type), argument.is_array ? "*" : "");
    types += fmt::format("{}{}", i == 0 ? "" : ", ", type);
    values += fmt::format("{}*static_cast<{}*>(arguments[{}])", i == 0 ? "" : ", ", type, i);
  }
  return fmt::format(
      "extern \"C\" __attribute__((visibility(\"default\"))) void stencil_tune_call(void* function, void* const* "
      "arguments) {{\n  reinterpret_cast<void (*)({})>(function)({});\n}}\n",
      types, values);
}

std::shared_ptr<void> load(const std::string& path) {
  require_regular_file(path);
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw Error(ErrorCode::file_io, fmt::format("cannot load the reference's library {}: {}", path, ::dlerror()));
  }
  return {library, [](void* loaded) { ::dlclose(loaded); }};
}

}  // namespace

HostFunction::HostFunction(const UserKernel& kernel) : kernel_(kernel), library_(load(kernel.reference.library)) {
  function_ = ::dlsym(library_.get(), kernel.reference.function.c_str());
  if (function_ == nullptr) {
    throw Error(ErrorCode::unknown_name, fmt::format("{} has no function '{}'; a function of C++ needs extern \"C\"",
                                                     kernel.reference.library, kernel.reference.function));
  }
  const ScratchFolder folder;
  caller_ = load(compile_for_host(caller_text(kernel), {}, folder.path(), {}).string());
  call_ = reinterpret_cast<decltype(call_)>(::dlsym(caller_.get(), "stencil_tune_call"));
}

void HostFunction::call(std::vector<std::vector<std::byte>>& arrays) const {
  std::vector<std::vector<std::byte>> values;
  std::vector<void*> addresses, arguments;
  addresses.reserve(arrays.size());
  values.reserve(kernel_.arguments.size());
  for (const KernelArgument& argument : kernel_.arguments) {
    if (argument.is_array) {
      addresses.push_back(arrays[addresses.size()].data());
      arguments.push_back(&addresses.back());
    } else {
      values.push_back(value_bytes(argument, kernel_.size_values()));
      arguments.push_back(values.back().data());
    }
  }
  call_(function_, arguments.data());
}

}  // namespace stencil_tune
