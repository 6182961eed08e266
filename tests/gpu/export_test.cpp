// Exported files on a real GPU: each builds with nvcc alone, and its own self-check passes.
#include "runtime/export.hpp"

#include "generator/constraints.hpp"
#include "gpu_test.hpp"
#include "tests/kernels/kernel_cases.hpp"
#include "tests/runtime/temporary_folder.hpp"

#include <cstdlib>
#include <fstream>
#include <future>
#include <string>

namespace stencil_tune {
namespace {

struct Exported {
  std::string title;
  std::string source;
};

/// One kernel of every form, in the types and with the boundaries that a form meets in turn.
std::vector<Exported> one_of_every_form(const Limits& limits) {
  constexpr std::array kTypes{ElementType::f32, ElementType::f64, ElementType::f16, ElementType::bf16};
  const std::vector<Boundaries> boundaries = covering_boundaries();
  std::vector<Exported> all;
  for (const Tuning& form : kernel_forms()) {
    const Problem problem = problem_of(make_builtin(Shape::star, 3, 2), kTypes[all.size() % kTypes.size()],
                                       boundaries[all.size() % boundaries.size()]);
    const auto tuning = plainest(form, problem);
    if (!tuning || !is_legal(problem, limits, *tuning)) continue;
    all.push_back({code(*tuning) + " " + std::string(name(problem.type)),
                   export_kernel(problem, *tuning,
                                 {.name = "exported", .architecture = "sm_90", .provenance = {}, .with_main = true})
                       .source});
  }
  return all;
}

/// What a command said, and its status.
std::pair<int, std::string> run(const std::string& command, const std::filesystem::path& log) {
  const int status = std::system((command + " > " + log.string() + " 2>&1").c_str());
  std::ifstream said(log);
  return {status, std::string(std::istreambuf_iterator<char>(said), {})};
}

class DeviceExport : public GpuTest<> {};

TEST_F(DeviceExport, EveryFormsSelfCheckPasses) {
  if (std::system("nvcc --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "no nvcc here";
  const TemporaryFolder folder;
  const std::vector<Exported> exports = one_of_every_form(device_.limits);
  ASSERT_GE(exports.size(), 6U);
  std::vector<std::future<std::pair<int, std::string>>> builds;
  for (std::size_t i = 0; i < exports.size(); ++i) {
    const std::filesystem::path file = folder.path() / ("export" + std::to_string(i));
    std::ofstream(file.string() + ".cu") << exports[i].source;
    builds.push_back(std::async(std::launch::async, [file, arch = device_.architecture] {
      return run("nvcc -O3 -std=c++17 -arch=" + arch + " " + file.string() + ".cu -o " + file.string(),
                 file.string() + ".log");
    }));
  }
  for (std::size_t i = 0; i < exports.size(); ++i) {
    const auto [built, messages] = builds[i].get();
    ASSERT_EQ(built, 0) << exports[i].title << "\n" << messages;
    const std::filesystem::path program = folder.path() / ("export" + std::to_string(i));
    const auto [status, said] = run(program.string(), program.string() + ".log");
    EXPECT_EQ(status, 0) << exports[i].title << "\n" << said;
  }
}

}  // namespace
}  // namespace stencil_tune
