#include "tuner/executor/executor.hpp"

#include "runtime/files/scratch_folder.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/executor/block_scheduler.hpp"
#include "tuner/executor/embedded.hpp"
#include "tuner/executor/host_compiler.hpp"
#include "tuner/executor/host_interface.hpp"
#include "tuner/executor/user_source.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <algorithm>
#include <cstring>
#include <mutex>
#include <vector>

namespace stencil_tune {
namespace {

/// The templates with our device layer in place of the GPU's.
std::vector<TemplateFile> host_files(std::span<const TemplateFile> files) {
  std::vector<TemplateFile> result(executor_files().begin(), executor_files().end());
  for (const TemplateFile& file : files) {
    const auto replaced = [&](const TemplateFile& ours) { return ours.name == file.name; };
    if (std::none_of(executor_files().begin(), executor_files().end(), replaced)) result.push_back(file);
  }
  return result;
}

/// All sources in one text, each kernel with a function of known type that calls it.
std::string translation_unit(std::span<const KernelSource> sources) {
  std::string text = "#include \"stencil_tune/device.cuh\"\n";
  for (const KernelSource& source : sources) {
    if (source.is_own) text += "#include \"stencil_tune/cuda.cuh\"\n";
    text += (source.is_own ? with_dynamic_shared_memory(source.text) : source.text) + "\n";
  }
  for (const KernelSource& source : sources) text += fmt::format("STENCIL_TUNE_HOST_ENTRY({})\n", source.entry);
  return text;
}

template <class T>
T* find_symbol(void* library, const std::string& name) {
  return reinterpret_cast<T*>(::dlsym(library, name.c_str()));
}

}  // namespace

std::string_view name(HostFault::Kind kind) noexcept {
  switch (kind) {
    case HostFault::Kind::out_of_bounds:
      return "out_of_bounds";
    case HostFault::Kind::misaligned:
      return "misaligned";
    case HostFault::Kind::mismatched_wait:
      return "mismatched_wait";
    case HostFault::Kind::arithmetic:
      return "arithmetic";
    case HostFault::Kind::rule:
      return "rule";
  }
  return "unknown";
}

std::string_view name(ThreadOrder order) noexcept {
  switch (order) {
    case ThreadOrder::ascending:
      return "ascending";
    case ThreadOrder::descending:
      return "descending";
    case ThreadOrder::random:
      return "random";
  }
  return "unknown";
}

HostLibrary::HostLibrary(std::span<const KernelSource> sources, std::span<const TemplateFile> files,
                         const Patience& patience) {
  const ScratchFolder folder;
  const auto path = compile_for_host(translation_unit(sources), host_files(files), folder.path(), patience);
  // Once loaded, the file is no longer needed.
  handle_ = std::shared_ptr<void>(::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL), [](void* library) {
    if (library) ::dlclose(library);
  });
  if (!handle_)
    throw Error(ErrorCode::internal, fmt::format("cannot load kernels compiled for the host: {}", ::dlerror()));
  *find_symbol<host::Services*>(handle_.get(), "stencil_tune_host_services") = &BlockScheduler::services();
  for (const KernelSource& source : sources) {
    if (source.text.find("STENCIL_TOGETHER") != std::string::npos) together_.insert(source.entry);
  }
}

HostKernel HostLibrary::kernel(std::string_view entry) const {
  HostKernel kernel;
  kernel.handle_ = handle_;
  kernel.entry_ = find_symbol<void(const void*)>(handle_.get(), fmt::format("stencil_tune_host_{}", entry));
  const auto* bytes = find_symbol<const unsigned long>(handle_.get(), fmt::format("stencil_tune_host_{}_bytes", entry));
  if (!kernel.entry_ || !bytes) {
    throw Error(ErrorCode::unknown_name, fmt::format("no kernel '{}' in this host library", entry));
  }
  kernel.argument_bytes_ = *bytes;
  kernel.together_ = together_.contains(entry);
  return kernel;
}

void* HostLibrary::symbol(const std::string& name) const {
  void* const found = find_symbol<void>(handle_.get(), name);
  if (!found) throw Error(ErrorCode::unknown_name, fmt::format("no '{}' in this host library", name));
  return found;
}

std::span<std::byte> HostLibrary::variable(const std::string& name) const {
  const std::string exported = "stencil_tune_host_symbol_" + name;
  auto* const address = *static_cast<std::byte* const*>(symbol(exported));
  return {address, *static_cast<const unsigned long*>(symbol(exported + "_bytes"))};
}

std::optional<HostFault> HostKernel::run(const LaunchGeometry& geometry, std::span<const std::byte> arguments,
                                         const HostRunOptions& options) const {
  if (arguments.size() != argument_bytes_) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the kernel takes {} bytes of arguments, got {}", argument_bytes_, arguments.size()));
  }
  const auto cells = [](const std::array<unsigned, 3>& extent) {
    return std::uint64_t{extent[0]} * extent[1] * extent[2];
  };
  if (cells(geometry.block) < 1 || cells(geometry.block) > 1024) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("a block has 1 to 1024 threads, not {}", cells(geometry.block)));
  }
  if (cells(geometry.grid) == 0) return std::nullopt;
  if (geometry.cluster < 1 || geometry.grid[0] % geometry.cluster != 0) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} blocks in x do not form clusters of {}", geometry.grid[0], geometry.cluster));
  }
  static std::mutex one_launch_at_a_time;
  const std::lock_guard lock(one_launch_at_a_time);
  LaunchGeometry launch = geometry;
  launch.together = together_;
  BlockScheduler scheduler(launch, entry_, arguments.data(), options);
  return scheduler.run_grid();
}

void encode_tensor_map(const TensorMapRequest& request, std::size_t cell_bytes, std::span<std::byte> to) {
  const host::TensorMapContent content{host::kTensorMapMark,
                                       request.address,
                                       {request.extents[0], request.extents[1], request.extents[2]},
                                       {request.strides[0], request.strides[1]},
                                       {request.box[0], request.box[1], request.box[2]},
                                       static_cast<unsigned>(cell_bytes)};
  std::memcpy(to.data(), &content, sizeof content);
}

}  // namespace stencil_tune
