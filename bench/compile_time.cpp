// Where does the time to compile a kernel go, and are its registers foreseen?
//
//   stencil_tune_bench_compile_time DEFINITION CELLS[:LAYER:STEPS:ZONE] CODE|COUNT ...
//
// For runs of 100 steps on a square or cube of so many cells an axis, or for a zone of it that makes so many steps at
// once, where layers are so wide, as in 512:20:3:xy, of the candidates named and of so many that are drawn among those
// that fuse steps: processor milliseconds that it takes to make the kernel's source, to write the templates out, and to
// compile it; the registers that its values take by the generator's estimate, and what the assembler says.
// STENCIL_TUNE_SOURCES names a folder for the sources as they are compiled, for `nvcc --time`.
#include "generator/candidates/space.hpp"
#include "generator/cut/zones.hpp"
#include "generator/definition/definition.hpp"
#include "generator/kernel_source/source.hpp"
#include "generator/trim/trim.hpp"
#include "runtime/compile/compiler.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

namespace stencil_tune {
namespace {

constexpr const char* kArchitecture = "sm_90";

template <class Work>
double milliseconds(const Work& work) {
  const std::clock_t start = std::clock();
  work();
  return 1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

Problem problem_of(const std::string& definition, const std::string& place) {
  const std::int64_t cells = std::atoll(place.c_str());
  Stencil stencil = definition.ends_with(".toml") ? load_definition(definition) : find_builtin(definition);
  const Extents extents{stencil.rank, {cells, stencil.rank > 1 ? cells : 1, stencil.rank > 2 ? cells : 1}};
  const auto problem = [&] {
    const ElementType type = stencil.element.value_or(ElementType::f32);
    return make_problem(stencil, type, Boundaries{}, extents, 0, 100, kWholeStep);
  };
  int layer = 0, steps = 0;
  std::array<char, 8> name{};
  if (std::sscanf(place.c_str(), "%*d:%d:%d:%7s", &layer, &steps, name.data()) != 3) return problem();
  stencil.layers = parse_layer_widths(std::to_string(layer), stencil.rank);
  for (const Zone& zone : zones(problem(), steps)) {
    if (zone.name == name.data()) return zone_problems({zone}).front();
  }
  throw Error(ErrorCode::invalid_argument, "no such zone: " + place);
}

std::vector<std::string> drawn(const Problem& problem, int count) {
  const Limits limits = limits_of_architecture(kArchitecture);
  const Space space(problem, limits);
  std::mt19937_64 random(1);
  std::vector<std::string> codes;
  for (const Family* family : families()) {
    if (!family->fuses_steps || !family->serves(problem)) continue;
    for (int i = 0; i < count; ++i) {
      if (const auto tuning = space.sample(*family, random)) codes.push_back(code(*tuning));
    }
  }
  return codes;
}

void print_kernel(const Problem& problem, const std::string& code, Compiler& compiler) {
  const Candidate candidate(problem, parse_code(code));
  if (const auto violation = first_violation(candidate, limits_of_architecture(kArchitecture))) {
    throw Error(ErrorCode::illegal_candidate, fmt::format("{}: {}", code, violation->message));
  }
  KernelSource source;
  std::string written;
  CompiledKernel kernel;
  const double made = milliseconds([&] { source = generate(candidate); });
  const double wrote = milliseconds([&] { written = write_out(source.text, template_files()).text(); });
  const double compiled = milliseconds([&] { kernel = compiler.compile(source, kArchitecture); }) - wrote;
  fmt::print(
      "{}: source {:.0f} ms, templates {:.0f} ms, compiled {:.0f} ms; {} registers foreseen, {} and {} bytes spilled\n",
      code, made, wrote, compiled, candidate.shape().live_registers, kernel.resources.registers,
      kernel.resources.spill_bytes);
  std::fflush(stdout);
  if (const char* folder = std::getenv("STENCIL_TUNE_SOURCES")) {
    std::ofstream(std::filesystem::path(folder) / (code + ".cu")) << written;
  }
}

}  // namespace
}  // namespace stencil_tune

int main(int count, char** words) try {
  if (count < 4)
    throw stencil_tune::Error(stencil_tune::ErrorCode::invalid_argument,
                              "DEFINITION CELLS[:LAYER:STEPS:ZONE] CODE|COUNT ...");
  const stencil_tune::Problem problem = stencil_tune::problem_of(words[1], words[2]);
  const auto compiler = stencil_tune::open_nvrtc();
  for (int i = 3; i < count; ++i) {
    const int draws = std::atoi(words[i]);
    const auto codes = draws > 0 ? stencil_tune::drawn(problem, draws) : std::vector<std::string>{words[i]};
    for (const std::string& code : codes) stencil_tune::print_kernel(problem, code, *compiler);
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
