// Library::kernel: kernels of the user's own.
#include "generator/suggest.hpp"
#include "runtime/library/capture.hpp"
#include "runtime/library/library_parts.hpp"
#include "runtime/library/lookup/user_kernel_choice.hpp"
#include "runtime/process/forked.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <string_view>

namespace stencil_tune {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> kernel_folders() {
  const char* const named = std::getenv("STENCIL_TUNE_KERNELS");
  std::string_view rest = named == nullptr ? "" : named;
  std::vector<fs::path> folders;
  while (!rest.empty()) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(folder.size() + 1, rest.size()));
    if (!folder.empty()) folders.emplace_back(folder);
  }
  return folders;
}

/// NAME.toml, else NAME.cu, in the first folder that has one.
fs::path definition_named(const std::string& name) {
  std::set<std::string> known;
  std::error_code ignored;
  const auto folders = kernel_folders();
  for (const fs::path& folder : folders) {
    for (const char* ending : {".toml", ".cu"}) {
      fs::path path = folder / (name + ending);
      if (fs::is_regular_file(path, ignored)) return path;
    }
    for (const auto& entry : fs::directory_iterator(folder, ignored)) known.insert(entry.path().stem().string());
  }
  throw Error(ErrorCode::unknown_name,
              fmt::format("there is no kernel '{}' in the folders of STENCIL_TUNE_KERNELS, which names {}{}; a path "
                          "ends in .cu or .toml",
                          name, folders.size(), did_you_mean(name, {known.begin(), known.end()})));
}

}  // namespace

TunedKernel Library::kernel(const std::string& definition, const std::vector<KernelSize>& sizes, int device) {
  const bool is_path = definition.ends_with(".cu") || definition.ends_with(".toml");
  UserKernel kernel = load_user_kernel(is_path ? definition : definition_named(definition).string());
  std::vector<std::string> settings;
  for (const KernelSize& size : sizes) settings.push_back(fmt::format("{}={}", size.name, size.value));
  set_sizes(kernel, settings);
  for (const KernelArgument& argument : kernel.arguments) {
    if (argument.is_array) cells_of(kernel, argument);  // throws where there are none
  }
  const InsideLibrary inside;
  return TunedKernel(impl_->make_tuned(std::move(kernel), device));
}

std::shared_ptr<TunedKernel::State> Library::Impl::make_tuned(UserKernel kernel, int device) {
  const std::scoped_lock making(making_);
  Request request;
  request.device = device;
  request.device = ordinal_of(device);
  const DeviceFacts& facts = facts_of(request, request.device);
  UserKernelChoice choice = choose_configuration(kernel, facts, parts_.kernel_winners(kernel.name));
  KernelSource source = user_source(kernel, choice.values);
  const LaunchGeometry geometry = launch_of(kernel, choice.values);
  auto loaded = share_loaded(source, facts);
  std::vector<std::size_t> symbol_bytes;
  for (const KernelArgument& argument : kernel.arguments) {
    const bool has_one = !argument.symbol.empty();
    symbol_bytes.push_back(has_one ? static_cast<std::size_t>(cells_of(kernel, argument)) * size_of(argument.type) : 0);
  }
  return std::shared_ptr<TunedKernel::State>(
      new TunedKernel::State{driver(), request.device, std::move(kernel), std::move(choice.evidence), std::move(source),
                             geometry, std::move(loaded), std::move(symbol_bytes), capture_folder()});
}

}  // namespace stencil_tune
