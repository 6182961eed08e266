#include "runtime/export/export.hpp"

#include "generator/candidates/constraints.hpp"
#include "generator/candidates/space.hpp"
#include "generator/definition/definition.hpp"
#include "tests/runtime/expect_error.hpp"
#include "tests/runtime/temporary_folder.hpp"

#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>

namespace stencil_tune {
namespace {

Problem cube(Stencil stencil = make_builtin(Shape::star, 3, 1), ElementType type = ElementType::f32,
             Boundaries boundaries = {}) {
  const int rank = stencil.rank;
  Extents extents{.rank = rank, .n = {1, 1, 1}};
  for (int axis = 0; axis < rank; ++axis) extents.n[static_cast<std::size_t>(axis)] = 128;
  return make_problem(std::move(stencil), type, boundaries, extents);
}

const Tuning kPlain = parse_code("direct.bx32.by4.bz1.rx1.ry1.rz1.v1");

std::size_t count(std::string_view text, std::string_view what) {
  std::size_t number = 0;
  for (std::size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + 1)) ++number;
  return number;
}

void expect_nvcc_takes(const std::string& source) {
  if (std::system("nvcc --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "no nvcc here";
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "all.cu") << source;
  const std::string command = "cd " + folder.path().string() +
                              " && nvcc -std=c++17 -arch=sm_90 -Xcompiler -Wall,-Wextra -Werror all-warnings -c all.cu "
                              "-o all.o > log 2>&1";
  const int status = std::system(command.c_str());
  std::ifstream log(folder.path() / "log");
  EXPECT_EQ(status, 0) << std::string(std::istreambuf_iterator<char>(log), {});
}

TEST(Export, IsOneSelfContainedFile) {
  const ExportedFiles files = export_kernel(cube(), kPlain, {.name = "heat"});
  EXPECT_TRUE(files.header.empty());
  EXPECT_EQ(count(files.source, "#include \""), 0U);
  EXPECT_EQ(count(files.source, "#pragma once"), 0U);
  EXPECT_EQ(count(files.source, "stencil_tune::"), 0U) << "several exports must link into one program";
  EXPECT_EQ(count(files.source, "#define STENCIL_DEVICE "), 1U) << "each template once";
  EXPECT_LT(files.source.find("#define STENCIL_DEVICE "), files.source.find("// ---- the kernel "))
      << "in order of need";
  EXPECT_EQ(
      count(files.source,
            "extern \"C\" cudaError_t heat(const float* in, float* out, long long nx, long long ny, long long nz,"),
      1U);
  EXPECT_EQ(count(files.source, "int main()"), 0U);
}

TEST(Export, SaysWhereItComesFrom) {
  const ExportedFiles files =
      export_kernel(cube(), kPlain, {.name = "heat", .provenance = {"tuned on NVIDIA H200: 475.0 GStencil/s"}});
  EXPECT_NE(files.source.find("// tuned on NVIDIA H200: 475.0 GStencil/s\n"), std::string::npos);
  EXPECT_NE(files.source.find(code(kPlain)), std::string::npos);
  EXPECT_NE(files.source.find("nvcc"), std::string::npos);
}

TEST(Export, IsBuiltWithTheAddressesThatItWasTunedWith) {
  const auto source = [](const char* code) { return export_kernel(cube(), parse_code(code), {.name = "heat"}).source; };
  EXPECT_NE(source("tiled.bx16.by4").find(" -Xcicc --sharedmem32=0 heat.cu"), std::string::npos);
  EXPECT_EQ(source("direct.bx64.by2").find("sharedmem32"), std::string::npos) << "no shared memory";
}

TEST(Export, SaysWhichArchitecturesItRunsOn) {
  const auto source = [](const char* code) {
    return export_kernel(cube(), parse_code(code), {.name = "heat", .architecture = "sm_90"}).source;
  };
  EXPECT_NE(source("direct.bx32.by4").find("-arch=sm_90 heat.cu (runs on sm_70 and newer)\n"), std::string::npos);
  EXPECT_NE(source("streaming.bx32.by8.cz8.ring.sums.cpasync").find("(runs on sm_80 and newer)"), std::string::npos);
  const std::string tensor_copies = source("streaming.bx32.by8.cz8.ring.pf1");
  EXPECT_NE(tensor_copies.find("(runs on sm_90 and newer)"), std::string::npos);
  EXPECT_NE(
      tensor_copies.find("__CUDA_ARCH__ < 900\n#error \"heat needs sm_90 or newer: compile it with -arch=sm_90\"\n"),
      std::string::npos);
}

TEST(Export, HoldsOnlyWhatTheCandidateUses) {
  const std::string plain = export_kernel(cube(), kPlain, {.name = "heat"}).source;
  for (const char* unused :
       {"mbarrier", "TensorMap", "cluster_rank", "F16", "BF16", "shuffle_up", "cp.async", "shared_memory"}) {
    EXPECT_EQ(plain.find(unused), std::string::npos) << unused;
  }
  const std::string half = export_kernel(cube(make_builtin(Shape::star, 3, 1), ElementType::f16),
                                         parse_code("streaming.bx32.by8.cz8.ring.pf1"), {.name = "heat"})
                               .source;
  for (const char* used : {"mbarrier", "TensorMap", "f16_from_float"}) {
    EXPECT_NE(half.find(used), std::string::npos) << used;
  }
  EXPECT_EQ(half.find("bf16_from_float"), std::string::npos);
}

TEST(Export, TheHeaderHoldsTheDeclarationWhenSplit) {
  const ExportedFiles files = export_kernel(cube(), kPlain, {.name = "heat", .split_header = true});
  EXPECT_NE(files.source.find("#include \"heat.h\""), std::string::npos);
  EXPECT_NE(files.header.find("cudaError_t heat(const float* in"), std::string::npos);
}

TEST(Export, SaysWhatTheLauncherTakesAndWhatFollows) {
  const Problem problem = make_problem(parse_stencil("u_next = u + a * d_x(u); a = 0.5", 2), ElementType::f32,
                                       {Boundary::hold, Boundary::periodic}, {2, {128, 128, 1}});
  const std::string source = export_kernel(problem, kPlain, {.name = "heat"}).source;
  for (const char* said :
       {"//   nx, ny        extents", "//   stride_y      cells from one row to the next\n",
        "1 number in host memory, in this order, or nullptr for these values: a = 0.5 in the weights of",
        "layers that it holds (1 at each end of x) are never written", "//   afterwards    u_next becomes u\n",
        "for 128x128 cells\n"}) {
    EXPECT_NE(source.find(said), std::string::npos) << said;
  }
}

/// The line that the file's first one names.
std::string line_to_call(const std::string& source) {
  std::smatch said;
  const std::string first = source.substr(0, source.find('\n'));
  EXPECT_TRUE(std::regex_search(first, said, std::regex("// Call \\w+ \\(line (\\d+)\\): "))) << first;
  std::istringstream lines(source);
  std::string line;
  for (int number = std::stoi("0" + said[1].str()); number > 0; --number) std::getline(lines, line);
  return line;
}

TEST(Export, SaysWhichFunctionToCallFirstAndWhereItStands) {
  const std::string sweep = export_kernel(cube(), kPlain, {.name = "heat", .with_main = true}).source;
  EXPECT_EQ(line_to_call(sweep).find("extern \"C\" cudaError_t heat("), 0U) << line_to_call(sweep);
  EXPECT_NE(sweep.find("): one step.\n"), std::string::npos);
  Problem run = cube();
  run.steps = 100;
  const Tuning fused = parse_code("temporal.bx32.by4.rx2.ry4.v2.pf3.t3.ch2");
  const std::string steps = export_kernel(run, fused, {.name = "heat", .split_header = true}, kPlain).source;
  EXPECT_EQ(line_to_call(steps).find("extern \"C\" cudaError_t heat_advance("), 0U) << line_to_call(steps);
  EXPECT_NE(steps.find("): any number of steps; heat makes 3, heat_step one.\n"), std::string::npos);
}

TEST(Export, RunsOfOneFieldMakeAnyNumberOfSteps) {
  const Stencil stencil = parse_stencil("u_next = k * laplacian(u) + u", 3);
  Problem run = make_problem(stencil, ElementType::f32, {}, {3, {512, 512, 512}}, 0, 100);
  const Tuning fused = parse_code("temporal.bx32.by4.rx2.ry4.v2.pf3.t3.ch2");
  const auto single = single_steps_of(run, fused, "sm_90");
  ASSERT_TRUE(single);
  EXPECT_EQ(sweeps_per_launch(*single), 1);
  const std::string source = export_kernel(run, fused, {.name = "heat", .with_main = true}, single).source;
  EXPECT_NE(source.find("cudaError_t heat_advance(float* buffers[], long long nx"), std::string::npos);
  EXPECT_NE(source.find("device pointers: k, u, u_next."), std::string::npos);
  EXPECT_NE(source.find("kNext[] = {0, 2, 1}"), std::string::npos);
  EXPECT_NE(source.find("heat_step(buffers[0], buffers[1], buffers[2], nx"), std::string::npos);
  expect_nvcc_takes(source);
  run.steps = 1;
  EXPECT_FALSE(single_steps_of(run, kPlain, "sm_90")) << "a sweep is no run";
}

TEST(Export, ItsContractKeepsToTheWidthOfThePage) {
  const std::string header =
      export_kernel(cube(make_builtin(Shape::box, 3, 2)), kPlain, {.name = "blur", .split_header = true}).header;
  for (std::size_t begin = 0; begin < header.size();) {
    const std::size_t end = header.find('\n', begin);
    EXPECT_LE(end - begin, 120U) << header.substr(begin, end - begin);
    begin = end + 1;
  }
}

TEST(Export, RefusesACandidateThatBreaksAConstraint) {
  EXPECT_ERROR(export_kernel(cube(), parse_code("direct.bx3200.by4"), {.name = "heat"}), ErrorCode::illegal_candidate,
               "threads_per_block");
  const Tuning ring = parse_code("streaming.bx32.by8.cz8.ring.pf1");
  EXPECT_ERROR(export_kernel(cube(), ring, {.name = "heat", .architecture = "sm_80"}), ErrorCode::illegal_candidate,
               "tensor_architecture");
}

TEST(Export, NamesBecomeIdentifiers) {
  EXPECT_EQ(export_name("3D heat!"), "s3D_heat_");
  EXPECT_EQ(export_name("double"), "double_");
  EXPECT_EQ(export_name(""), "stencil");
  EXPECT_EQ(export_name("../../etc/passwd"), "etc_passwd");
  EXPECT_EQ(export_name("a\nb\";system(\"x\")"), "a_b_system_x_");
  EXPECT_ERROR(export_kernel(cube(), kPlain, {.name = "heat(); evil"}), ErrorCode::invalid_argument, "heat_evil");
  EXPECT_ERROR(export_kernel(cube(), kPlain, {.name = "int"}), ErrorCode::invalid_argument, "int_");
  EXPECT_ERROR(export_kernel(cube(), kPlain, {.name = ""}), ErrorCode::invalid_argument, "stencil");
}

TEST(Export, NamesOfTheLibrariesItBuildsOnAreLeftToThem) {
  for (const std::string name : {"div", "gamma", "random", "y0", "sinf", "write", "float4", "remainderl", "cudaFree"}) {
    EXPECT_EQ(export_name(name), name + "_");
  }
  // Locals and parameters of launchers and of NAME_advance.
  for (const std::string name : {"before", "after", "buffers", "steps", "i"}) EXPECT_EQ(export_name(name), name + "_");
  for (const std::string name : {"heat3d", "wave", "blur", "life", "box2d1r", "self", "l"}) {
    EXPECT_EQ(export_name(name), name);
  }
}

TEST(Export, TheSelfCheckHasItsNamesForItself) {
  const std::string source = export_kernel(cube(), kPlain, {.name = "reflect", .with_main = true}).source;
  EXPECT_NE(source.find("namespace reflect_check {"), std::string::npos);
  EXPECT_NE(source.find("return ::reflect("), std::string::npos);
  EXPECT_NE(source.find("int main() { return reflect_check::run(); }"), std::string::npos);
}

TEST(Export, CommentsAndNamesCannotBreakOut) {
  Stencil stencil = make_builtin(Shape::star, 3, 1);
  stencil.name = "x\n#error broke out\\";
  stencil.fields[0] = "in; int evil";
  stencil.fields[1] = "in; int evil";
  stencil.coefficients[0].name = "c\n#error broke out";
  const ExportedFiles files = export_kernel(
      cube(std::move(stencil)), kPlain, {.name = "heat", .provenance = {"a\r\n#error broke out\\"}, .with_main = true});
  EXPECT_EQ(count(files.source, "\n#error broke out"), 0U);
  EXPECT_EQ(count(files.source, "\\\n"), 0U) << "no comment continues on the next line";
  EXPECT_NE(files.source.find("const float* in_int_evil, float* in_int_evil_2"), std::string::npos);
}

/// Exports that together use every template file, in one translation unit.
std::string exports_of_every_family(bool with_main) {
  const Limits limits = limits_of_architecture("sm_90");
  std::string all;
  int number = 0;
  const auto add = [&](const Problem& problem, const Tuning& tuning) {
    const auto violation = first_violation({problem, tuning}, limits);
    EXPECT_FALSE(violation) << code(tuning) << ": " << violation->message;
    const bool last = with_main && number == 0;
    all += export_kernel(problem, tuning, {.name = "export" + std::to_string(number++), .with_main = last}).source;
  };
  StencilBuilder builder("several", 2);
  const int u = builder.field("u");
  const int k = builder.field("k");
  const NodeId product = builder.apply(Operation::multiply, builder.read(u, {1, 0, 0}), builder.read(k, {0, -1, 0}));
  builder.update(builder.field("double"), builder.apply(Operation::square_root, product));
  builder.update(builder.field("n"),
                 builder.apply(Operation::less, product, builder.coefficient_value(builder.coefficient("limit", 0.3))));
  add(cube(std::move(builder).build(), ElementType::f64, {Boundary::reflect, Boundary::zero, Boundary::hold}),
      parse_code("direct.bx32.by4.bz1.rx1.ry1.rz1.v1"));
  for (const ElementType type : {ElementType::f32, ElementType::f16, ElementType::bf16}) {
    for (const Family* family : families()) {
      // 16-bit types add conversions alone, and fused steps take a compiler longest.
      if (type != ElementType::f32 && family->fuses_steps) continue;
      Problem problem =
          cube(make_builtin(Shape::star, 3, 2), type, {Boundary::periodic, Boundary::hold, Boundary::clamp});
      problem.steps = 4;
      if (const auto tuning = default_candidate(*family, problem, limits)) add(problem, *tuning);
    }
  }
  for (const Planes planes : {Planes::shared, Planes::mixed, Planes::ring}) {
    const Problem problem = cube(make_builtin(Shape::star, 3, 1));
    Tuning tuning = *default_candidate(family_named("streaming"), problem, limits);
    tuning.planes = planes;
    if (planes == Planes::ring) tuning.prefetch = 1;
    add(problem, tuning);
  }
  return all;
}

TEST(Export, EveryFamilyCompilesWithNvccAloneWithoutWarnings) { expect_nvcc_takes(exports_of_every_family(true)); }

/// A candidate of three fused steps.
std::string export_of_fused_steps(Problem problem = cube(),
                                  const char* code = "temporal.bx32.by4.rx2.ry4.v2.pf3.t3.ch2") {
  problem.steps = 100;
  const Tuning tuning = parse_code(code);
  return export_kernel(problem, tuning, {.name = "heat", .with_main = true}).source;
}

TEST(Export, FusedStepsAreToldAndCheckedAgainstAsManySweeps) {
  const std::string source = export_of_fused_steps();
  EXPECT_NE(source.find("// 3 steps of the stencil in one launch"), std::string::npos);
  EXPECT_NE(source.find("constexpr int kSteps = 3;"), std::string::npos);
  EXPECT_NE(source.find("nx must be 64 at least, ny 16."), std::string::npos);
}

TEST(Export, FusedStepsCheckThemselvesWithFieldsThatNoStepChanges) {
  const Stencil stencil = parse_stencil("u_next = k * laplacian(u) + u", 3);
  const std::string source = export_of_fused_steps(make_problem(stencil, ElementType::f32, {}, {3, {512, 512, 512}}));
  EXPECT_NE(source.find("  fields[1] = before[2];"), std::string::npos) << "what they advance";
}

TEST(Export, ClustersAreLaunchedBlockByBlock) {
  Problem problem = cube();
  problem.steps = 100;
  for (const auto& [order, grid] :
       {std::pair{"", "const dim3 grid(2 * arguments.tiles[0], arguments.tiles[1], arguments.tiles[2]);"},
        std::pair{".zfirst", "const dim3 grid(2 * arguments.tiles[0] * arguments.tiles[1] * arguments.tiles[2]);"}}) {
    const Tuning tuning = parse_code(std::string("temporal.bx32.by4.rx2.ry4.v2.pf3.t3.ch2.cl2") + order);
    const std::string source = export_kernel(problem, tuning, {.name = "heat", .with_main = true}).source;
    EXPECT_NE(source.find(grid), std::string::npos);
    EXPECT_NE(source.find("STENCIL_CLUSTER(2) __launch_bounds__(128)"), std::string::npos);
    EXPECT_NE(source.find("nx must be 64 at least, ny 32."), std::string::npos);
    if (*order) expect_nvcc_takes(source);
  }
}

TEST(Export, FusedStepsWhoseRowsTmaCopiesCheckThemselvesOnRowsThatItCanCopy) {
  Problem problem = cube();
  problem.steps = 100;
  const Tuning tuning = parse_code("temporal.bx32.by4.rx2.ry4.v2.tmarows.pf3.t3.ch2");
  const std::string source = export_kernel(problem, tuning, {.name = "heat", .with_main = true}).source;
  EXPECT_NE(source.find("nx must be 64 at least, ny 16; nx must be a multiple of 4."), std::string::npos);
  EXPECT_NE(source.find(" || nx % 4 != 0) return cudaErrorInvalidValue;"), std::string::npos);
  EXPECT_NE(source.find("const cuuint32_t box[3] = {64, 4, 1},"), std::string::npos) << "a warp's rows";
  EXPECT_NE(source.find("const long long small[3] = {72, 21, "), std::string::npos);
  expect_nvcc_takes(source);
}

TEST(Export, DeepRunsWhoseRowsBulkCopiesBringCheckThemselvesOnRowsOfWholeWords) {
  const Problem problem =
      make_problem(make_builtin(Shape::star, 2, 1), ElementType::f64, {}, {2, {512, 512, 1}}, 0, 100, kWholeStep);
  const auto exported = [&](const char* code) {
    return export_kernel(problem, parse_code(code), {.name = "heat", .with_main = true}).source;
  };
  const std::string lines = exported("systolic.bx32.by1.rx7.pf1.t8.tg4.sh132");
  EXPECT_NE(lines.find("nx must be 224 at least; nx must be a multiple of 2."), std::string::npos);
  EXPECT_NE(lines.find("  if (nx < 224 || ny < 3 || nx % 2 != 0) return cudaErrorInvalidValue;"), std::string::npos);
  EXPECT_NE(lines.find("const long long small[3] = {230, "), std::string::npos);
  const std::string words = exported("systolic.bx32.by1.rx7.pf1.t8.tg4.words.sh132");
  EXPECT_EQ(words.find("nx % 2"), std::string::npos) << "threads bring cells too";
  EXPECT_NE(words.find("const long long small[3] = {229, "), std::string::npos);
  expect_nvcc_takes(lines);
}

TEST(Export, FusedStepsOfWideTilesAskForThem) {
  const std::string source = export_of_fused_steps(cube(), "temporal.bx64.by4.rx2.ry4.v2.tmarows.pf3.t4.tg2.split.ch2");
  EXPECT_NE(source.find("nx must be 128 at least, ny 16; nx must be a multiple of 4."), std::string::npos);
  EXPECT_NE(source.find("const cuuint32_t box[3] = {64, 4, 1},"), std::string::npos) << "of a warp";
  EXPECT_NE(source.find("dim3(64, 4, 2)"), std::string::npos);
  expect_nvcc_takes(source);
}

TEST(Export, WalksRefuseGridsThatTheStencilReachesRound) {
  const Boundaries mixed{Boundary::periodic, Boundary::hold, Boundary::reflect};
  const Problem problem = cube(make_builtin(Shape::star, 3, 2), ElementType::f32, mixed);
  const std::string walk = export_kernel(problem, parse_code("streaming.bx32.by4.cz4.regs"), {.name = "heat"}).source;
  EXPECT_NE(walk.find("// No read goes round the whole grid: nx > 2, nz > 2.\n"), std::string::npos);
  EXPECT_NE(walk.find("  if (nx <= 2) return cudaErrorInvalidValue;\n  if (nz <= 2)"), std::string::npos);
  EXPECT_EQ(walk.find("if (ny <= 2)"), std::string::npos);
  const std::string direct = export_kernel(problem, kPlain, {.name = "heat"}).source;
  EXPECT_EQ(direct.find("if (nx <= 2)"), std::string::npos) << "it turns as often as it must";
  expect_nvcc_takes(walk);
}

TEST(Export, FusedStepsCompileWithTheirSelfCheck) { expect_nvcc_takes(export_of_fused_steps()); }

}  // namespace
}  // namespace stencil_tune
