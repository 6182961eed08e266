#include "tests/runtime/export/exported_program.hpp"

#include "generator/candidates/family.hpp"
#include "generator/kernel_source/source.hpp"
#include "runtime/export/export.hpp"
#include "tests/runtime/export/host_launch.h"
#include "tuner/executor/executor.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <regex>
#include <span>
#include <utility>
#include <vector>

namespace stencil_tune {
namespace {

constexpr const char* kName = "exported";

/// From a section's title to the next.
std::string section(const std::string& file, const std::string& title) {
  const std::size_t begin = file.find("// ---- " + title);
  if (begin == std::string::npos) return {};
  return file.substr(begin, file.find("\n// ---- ", begin) - begin);
}

/// The launcher behind `from`, and where the next search begins.
std::string launcher(const std::string& file, std::size_t from) { return section(file.substr(from), "the launcher "); }

/// All of the file that is no kernel, in the words of host_cuda.h.
std::string without_kernels(const std::string& file) {
  const std::size_t single = file.find("// ---- single steps ");
  std::string text = launcher(file, 0);
  if (single != std::string::npos) text += launcher(file, single);
  text += section(file, "any number of steps ") + section(file, "self-check and benchmark ");
  static const std::regex launch(R"((\w+)<<<grid, (dim3\([^)]*\)), (\d+), stream>>>\(arguments\);)");
  return std::regex_replace(text, launch, "launch_on_host(\"$1\", grid, $2, $3, arguments);");
}

/// The kernels that the file has, under its names.
std::vector<KernelSource> kernels_of(const ExportCase& program) {
  std::vector<KernelSource> kernels{generate({program.problem, program.tuning}, fmt::format("{}_kernel", kName))};
  if (program.single_steps && sweeps_per_launch(program.tuning) > 1) {
    Problem step = program.problem;
    step.steps = 1;
    kernels.push_back(generate({step, *program.single_steps}, fmt::format("{}_step_kernel", kName)));
  }
  return kernels;
}

/// The launch that is run now: host_launch is a plain function.
struct Running {
  const HostLibrary& library;
  ProgramResult result;
};
Running* running = nullptr;

void run_launch(const HostLaunch& launch) {
  LaunchGeometry geometry;
  std::copy(std::begin(launch.grid), std::end(launch.grid), geometry.grid.begin());
  std::copy(std::begin(launch.block), std::end(launch.block), geometry.block.begin());
  geometry.shared_bytes = launch.shared_bytes;
  const auto* bytes = static_cast<const std::byte*>(launch.arguments);
  const auto fault = running->library.kernel(launch.kernel).run(geometry, {bytes, launch.argument_bytes});
  if (fault && running->result.fault.empty()) running->result.fault = fault->message;
}

}  // namespace

ProgramResult run(const ExportedProgram& program) {
  const ExportCase& exported = program.exported;
  const std::string file =
      export_kernel(exported.problem, exported.tuning, {.name = kName, .with_main = true}, exported.single_steps)
          .source;
  std::vector<KernelSource> sources = kernels_of(exported);
  if (program.change_kernels) {
    for (KernelSource& source : sources) source.text = program.change_kernels(source.text);
  }
  std::string others = without_kernels(file);
  if (program.change_others) others = program.change_others(others);
  const auto header = std::filesystem::current_path() / "tests/runtime/export/host_cuda.h";
  sources.back().text += fmt::format(
      "\n#include \"{0}\"\nnamespace {1}_detail = stencil_tune;\nnamespace {1}_step_detail = stencil_tune;\n{2}\n"
      "extern \"C\" __attribute__((visibility(\"default\"))) int run_exported() {{ return {1}_check::run(); }}\n",
      header.string(), kName, others);

  const HostLibrary library(sources);
  *static_cast<void (**)(const HostLaunch&)>(library.symbol("host_launch")) = &run_launch;
  Running now{library, {}};
  running = &now;
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  now.result.status = reinterpret_cast<int (*)()>(library.symbol("run_exported"))();
  now.result.said = testing::internal::GetCapturedStdout() + testing::internal::GetCapturedStderr();
  return std::move(now.result);
}

}  // namespace stencil_tune
