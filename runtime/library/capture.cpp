#include "runtime/library/capture.hpp"

#include "generator/user_kernel/captured_launch.hpp"
#include "generator/user_kernel/configuration.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <span>
#include <string_view>
#include <system_error>
#include <vector>

namespace stencil_tune {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) throw Error(ErrorCode::file_io, fmt::format("cannot capture a launch: cannot write {}", path.string()));
}

std::string_view text_of(const void* bytes, std::size_t count) { return {static_cast<const char*>(bytes), count}; }

void write_argument(Driver& driver, const UserKernel& kernel, const KernelArgument& argument, const LaunchValue& value,
                    CUstream_st* stream, const fs::path& folder) {
  const fs::path path = folder / captured::argument_file(argument.name);
  if (!argument.is_array) return write(path, text_of(value.value(), value.bytes()));
  if (argument.role == Role::output) return;  // whatever it holds is overwritten
  DevicePointer address = 0;
  std::memcpy(&address, value.value(), sizeof address);
  std::vector<std::byte> cells(static_cast<std::size_t>(cells_of(kernel, argument)) * size_of(argument.type));
  driver.copy_to_host(cells.data(), address, cells.size(), stream);
  driver.synchronize_stream(stream);
  write(path, text_of(cells.data(), cells.size()));
}

void write_definition(const UserKernel& kernel, const fs::path& folder) {
  write(folder / captured::kDefinitions[kernel.definition_file.ends_with(".toml") ? 1 : 0], kernel.definition);
  write(folder / captured::kSource, kernel.source);
  if (!kernel.reference_source.empty()) write(folder / captured::kReference, kernel.reference_source);
  if (!kernel.reference.library.empty()) write(folder / captured::kLibrary, kernel.reference.library);
  write(folder / captured::kSizes, sizes_text(kernel));
}

std::string folder_name(const UserKernel& kernel) {
  std::string name = kernel.name;
  for (const UserKernelSize& size : kernel.sizes) name += fmt::format(".{}={}", size.name, size.value);
  return name;
}

}  // namespace

fs::path capture_folder() {
  const char* const named = std::getenv("STENCIL_TUNE_CAPTURE");
  return named == nullptr ? "" : named;
}

void capture_launch(Driver& driver, const UserKernel& kernel, Span<const LaunchValue> values, CUstream_st* stream,
                    const fs::path& folder) {
  const fs::path whole = folder / folder_name(kernel);
  std::error_code failure;
  if (fs::exists(whole, failure)) return;
  const fs::path part = folder / fmt::format(".{}.{}", folder_name(kernel), ::getpid());
  fs::create_directories(part, failure);
  write_definition(kernel, part);
  for (std::size_t i = 0; i < values.size(); ++i) {
    write_argument(driver, kernel, kernel.arguments[i], values[i], stream, part);
  }
  fs::rename(part, whole, failure);
  if (failure) fs::remove_all(part, failure);  // another process was first
}

}  // namespace stencil_tune
