// Exported files on a real GPU: each builds with nvcc alone, and its own self-check passes.
#include "runtime/export/export.hpp"

#include "generator/candidates/constraints.hpp"
#include "gpu_test.hpp"
#include "tests/kernels/kernel_cases.hpp"
#include "tests/runtime/export/export_cases.hpp"
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

Exported exported(const Problem& problem, const Tuning& tuning, const std::optional<Tuning>& single_steps = {}) {
  const ExportOptions options{.name = "exported", .architecture = "sm_90", .provenance = {}, .with_main = true};
  return {code(tuning) + " " + std::string(name(problem.type)),
          export_kernel(problem, tuning, options, single_steps).source};
}

/// One kernel of every form, in the types and with the boundaries that a form meets in turn.
std::vector<Exported> one_of_every_form(const Limits& limits) {
  constexpr std::array kTypes{ElementType::f32, ElementType::f64, ElementType::f16, ElementType::bf16};
  const std::vector<Boundaries> boundaries = covering_boundaries();
  std::vector<Exported> all;
  for (const Tuning& form : kernel_forms()) {
    const Problem problem = problem_of(make_builtin(Shape::star, 3, 2), kTypes[all.size() % kTypes.size()],
                                       boundaries[all.size() % boundaries.size()]);
    const auto tuning = plainest(form, problem);
    if (!tuning || !is_legal({problem, *tuning}, limits)) continue;
    all.push_back(exported(problem, *tuning));
  }
  return all;
}

/// Fused steps of either rank, on a grid that the widest of their tiles lies in.
std::vector<Exported> of_fused_steps() {
  struct Fused {
    Stencil stencil;
    ElementType type;
    Boundaries boundaries;
    const char* code;
  };
  using enum Boundary;
  const Fused fused[]{
      {make_builtin(Shape::star, 3, 1), ElementType::f32, {}, "temporal.bx32.by4.rx2.ry4.v2.pf3.t4.ch2.u2"},
      {make_builtin(Shape::box, 3, 1), ElementType::f64, {periodic, clamp, zero}, "temporal.bx32.by4.rx1.ry4.pf2.t2"},
      {make_builtin(Shape::star, 2, 2), ElementType::f16, {hold, reflect, hold}, "temporal.bx32.by1.rx2.v2.pf2.t3"},
      {make_builtin(Shape::box, 3, 1), ElementType::f32, {}, "temporal.bx32.by2.rx2.ry4.sums.v2.pf2.t2.ch2.u2"},
      {make_builtin(Shape::star, 3, 1), ElementType::f64, {}, "temporal.bx32.by2.rx2.ry4.v2.pf2.t2.ch2.cl2.zfirst"},
      {make_builtin(Shape::star, 3, 1), ElementType::f32, {}, "temporal.bx32.by4.rx2.ry4.v2.tmarows.pf3.t3.ch2.u2"},
      {make_builtin(Shape::star, 3, 1), ElementType::f64, {}, "temporal.bx64.by2.rx2.ry4.v2.pf3.t2.tg2.split.ch2.u2"},
  };
  std::vector<Exported> all;
  for (const Fused& one : fused) {
    const Extents extents{one.stencil.rank, {160, 64, one.stencil.rank == 3 ? 64 : 1}};
    const Problem problem = make_problem(one.stencil, one.type, one.boundaries, extents, 0, 100);
    all.push_back(exported(problem, parse_code(one.code)));
  }
  return all;
}

/// What a command said, and its status.
std::pair<int, std::string> run(const std::string& command, const std::filesystem::path& log) {
  const int status = std::system((command + " > " + log.string() + " 2>&1").c_str());
  std::ifstream said(log);
  return {status, std::string(std::istreambuf_iterator<char>(said), {})};
}

/// Builds all at once, then runs one after the other.
void expect_self_checks_pass(const std::vector<Exported>& exports, const std::string& architecture) {
  const TemporaryFolder folder;
  std::vector<std::future<std::pair<int, std::string>>> builds;
  for (std::size_t i = 0; i < exports.size(); ++i) {
    const std::filesystem::path file = folder.path() / ("export" + std::to_string(i));
    std::ofstream(file.string() + ".cu") << exports[i].source;
    builds.push_back(std::async(std::launch::async, [file, architecture] {
      return run("nvcc -O3 -std=c++17 -arch=" + architecture + " " + file.string() + ".cu -o " + file.string(),
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

class DeviceExport : public GpuTest<> {
 protected:
  void SetUp() override {
    GpuTest<>::SetUp();
    if (IsSkipped()) return;
    if (std::system("nvcc --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "no nvcc here";
  }
};

TEST_F(DeviceExport, EveryFormsSelfCheckPasses) {
  const std::vector<Exported> exports = one_of_every_form(device_.limits);
  ASSERT_GE(exports.size(), 6U);
  expect_self_checks_pass(exports, device_.architecture);
}

TEST_F(DeviceExport, FusedStepsCheckThemselvesAgainstPlainSweeps) {
  expect_self_checks_pass(of_fused_steps(), device_.architecture);
}

/// The same that the host executor runs.
TEST_F(DeviceExport, WholeStepsCheckThemselvesAgainstPlainSweeps) {
  std::vector<Exported> exports;
  for (const ExportCase& each : export_cases()) {
    exports.push_back(exported(each.problem, each.tuning, each.single_steps));
  }
  expect_self_checks_pass(exports, device_.architecture);
}

}  // namespace
}  // namespace stencil_tune
