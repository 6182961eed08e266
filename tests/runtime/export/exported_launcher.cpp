#include "tests/runtime/export/exported_launcher.hpp"

#include "generator/candidates/constraints.hpp"
#include "generator/candidates/family.hpp"
#include "generator/kernel_source/launch.hpp"
#include "generator/kernel_source/source.hpp"
#include "generator/stencil/buffers.hpp"
#include "runtime/export/export.hpp"
#include "tests/runtime/export/launch_record.h"
#include "tests/runtime/temporary_folder.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace stencil_tune {
namespace {

using Call = int (*)(void* const* fields, const long long* sizes, const double* coefficients, LaunchRecord* record);

/// The places of the buffers that the launcher takes, in order (generator/stencil/buffers.hpp): inputs and outputs, or
/// a system's fields and spare buffers.
std::vector<int> places_of(const Candidate& candidate) {
  constexpr int kAnyNumberOfSteps = 1000;
  const Problem& problem = candidate.problem();
  std::vector<int> places = problem.facts.inputs;
  if (!candidate.family().advances_all_fields) {
    places.insert(places.end(), problem.facts.outputs.begin(), problem.facts.outputs.end());
  } else {
    places.resize(problem.stencil.fields.size() + static_cast<std::size_t>(spare_buffers(problem, kAnyNumberOfSteps)));
    std::iota(places.begin(), places.end(), 0);
  }
  return places;
}

/// The launcher's parameters from arrays: buffers, then extents and strides.
std::string caller_text(const Candidate& candidate) {
  const Problem& problem = candidate.problem();
  const std::size_t fields = places_of(candidate).size();
  const int sizes = 2 * problem.extents.rank - 1;
  std::string arguments;
  for (std::size_t i = 0; i < fields; ++i) arguments += fmt::format("Pointer{{fields[{}]}}, ", i);
  for (int i = 0; i < sizes; ++i) arguments += fmt::format("sizes[{}], ", i);
  if (!problem.stencil.coefficients.empty()) arguments += "coefficients, ";
  if (problem.facts.placed) arguments += "kOrigin, 42, ";
  return fmt::format(R"(
#include "tests/runtime/export/launch_record.h"

extern "C" LaunchRecord* current_record;

namespace {{
struct Pointer {{
  void* address;
  template <class T>
  operator T*() const {{
    return static_cast<T*>(address);
  }}
}};
[[maybe_unused]] const long long kOrigin[3] = {{-5, 1000000000000, 77}};
}}  // namespace

extern "C" int call(void* const* fields, const long long* sizes, [[maybe_unused]] const double* coefficients,
                    LaunchRecord* record) {{
  current_record = record;
  return launcher({}nullptr);
}}
)",
                     arguments);
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::shared_ptr<void> compile_and_load(const std::string& source) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "export.cu") << source;
  // No machine code: kernels are not run.
  const std::string command = fmt::format(
      "nvcc -std=c++17 -arch=compute_90 -code=compute_90 -I . -shared -Xcompiler -fPIC -cudart none -o {0}/export.so "
      "{0}/export.cu tests/runtime/export/launch_recorder.cpp > {0}/log 2>&1",
      folder.path().string());
  if (std::system(command.c_str()) != 0) throw std::runtime_error(read_file(folder.path() / "log"));
  void* handle = dlopen((folder.path() / "export.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) throw std::runtime_error(dlerror());
  return {handle, [](void* opened) { dlclose(opened); }};
}

/// Addresses of those places, which nothing reads.
std::vector<std::uint64_t> addresses(const std::vector<int>& places) {
  std::vector<std::uint64_t> result;
  for (const int place : places) result.push_back(0x1000000 + static_cast<std::uint64_t>(place) * 0x10000);
  return result;
}

std::vector<long long> sizes_of(const Problem& grid) {
  std::vector<long long> sizes(grid.extents.n.begin(), grid.extents.n.begin() + grid.extents.rank);
  if (grid.extents.rank > 1) sizes.push_back(grid.pitch);
  if (grid.extents.rank > 2) sizes.push_back(grid.pitch * grid.extents.n[1]);
  return sizes;
}

/// What the recorder writes for the library's request.
void write_map(const TensorMapRequest& request, std::span<std::byte> to) {
  TensorMapRecord record{request.address, {}, {}, {}, 3};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    record.extents[axis] = request.extents[axis];
    record.box[axis] = request.box[axis];
    if (axis < 2) record.strides[axis] = request.strides[axis];
  }
  std::memcpy(to.data(), &record, sizeof record);
}

std::string different_bytes(const std::vector<std::byte>& found, const std::vector<std::byte>& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (found[i] != expected[i]) return fmt::format("byte {} of {} argument bytes differs", i, expected.size());
  }
  return {};
}

}  // namespace

ExportedLauncher::ExportedLauncher(const Problem& problem, const Tuning& tuning)
    : tuning_(tuning),
      wide_index_(Candidate(problem, tuning).shape().wide_index),
      library_(compile_and_load(export_kernel(problem, tuning, {.name = "launcher"}).source +
                                caller_text({problem, tuning}))) {}

std::string ExportedLauncher::complaint(const Problem& grid) const {
  const int steps = sweeps_per_launch(tuning_);
  const std::vector<std::uint64_t> inputs = addresses(kernel_inputs(grid, steps));
  const std::vector<std::uint64_t> outputs = addresses(launch_buffers(grid, steps).outputs);
  std::vector<void*> fields;
  for (const std::uint64_t address : addresses(places_of({grid, tuning_}))) {
    fields.push_back(reinterpret_cast<void*>(address));
  }
  std::vector<double> coefficients;
  for (std::size_t i = 0; i < grid.stencil.coefficients.size(); ++i) coefficients.push_back(0.1 + double(i));

  const Box box = updated_box(grid);
  const std::vector<std::byte> expected =
      KernelArguments({grid, tuning_}, box)
          .pack(inputs, outputs, coefficients, write_map, {{-5, 1000000000000, 77}, 42});
  std::vector<std::byte> found(expected.size());
  LaunchRecord record{0, {}, {}, 0, 0, found.data(), found.size()};
  const auto call = reinterpret_cast<Call>(dlsym(library_.get(), "call"));
  const int error = call(fields.data(), sizes_of(grid).data(), coefficients.data(), &record);

  if (box.cells() == 0) return record.launches == 0 ? "" : "launches where there is nothing to update";
  if (!is_legal({grid, tuning_}, limits_of_architecture("sm_90"))) {
    return error != 0 && record.launches == 0 ? "" : "takes a grid that the candidate is not legal on";
  }
  if (Candidate(grid, tuning_).shape().wide_index != wide_index_) {
    return error != 0 && record.launches == 0 ? "" : "takes a grid whose indices need more bits";
  }
  if (error != 0) return fmt::format("refuses the grid with error {}", error);
  if (record.launches != 1) return fmt::format("{} launches", record.launches);
  const LaunchGeometry geometry = launch_geometry({grid, tuning_}, box);
  if (!std::equal(geometry.grid.begin(), geometry.grid.end(), record.grid)) {
    return fmt::format("{} blocks, not {}", fmt::join(record.grid, "x"), fmt::join(geometry.grid, "x"));
  }
  if (!std::equal(geometry.block.begin(), geometry.block.end(), record.block)) return "another block";
  if (record.shared_bytes != geometry.shared_bytes) return "other shared memory";
  constexpr std::size_t kSharedWithoutAsking = 48 * 1024;
  if (record.shared_bytes > kSharedWithoutAsking && record.allowed_shared_bytes < record.shared_bytes) {
    return "more shared memory than it asked for";
  }
  return different_bytes(found, expected);
}

}  // namespace stencil_tune
