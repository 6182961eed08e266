// Generated kernels through NVRTC, whose C++ is neither the host compiler's nor nvcc's: what those take it may refuse.
#include "generator/candidates/constraints.hpp"
#include "generator/definition/definition.hpp"
#include "generator/stencil/measures.hpp"
#include "runtime/compile/compiler.hpp"
#include "runtime/compile/machine_code.hpp"
#include "stencil_tune/error.hpp"

#include "runtime/library/launch/box_copies.hpp"
#include "runtime/library/launch/tap_launch.hpp"
#include "runtime/library/points/point_kernels.hpp"
#include "stencil_tune/library.hpp"
#include "tests/runtime/compile/compiler_if_there.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace stencil_tune {
namespace {

/// The source with its templates as they are: the compiler reads these by itself where the line is written like this.
KernelSource untrimmed(KernelSource source) {
  const std::string_view include = "#include \"stencil_tune/";
  for (std::size_t at = source.text.find(include); at != std::string::npos; at = source.text.find(include, at + 1)) {
    source.text.insert(at + 1, " ");
  }
  return source;
}

TEST(NvrtcKernels, WhatIsLeftOutOfTheTextIsNotCompiled) {
  const auto compiler = compiler_if_there();
  if (!compiler) GTEST_SKIP() << "no NVRTC here";
  const Boundaries boundaries{Boundary::periodic, Boundary::hold, Boundary::reflect};
  for (const ElementType type : {ElementType::f32, ElementType::bf16}) {
    const Problem problem = make_problem(make_builtin(Shape::star, 3, 1), type, boundaries, {3, {512, 512, 512}}, 0, 8);
    for (const char* code : {"direct.bx32.by4.rx2.shfl.cl2", "tiled.bx32.by8", "streaming.bx32.by4.cz8.mixed",
                             "streaming.bx32.by4.cz8.ring.sums.pf2", "temporal.bx32.by4.rx2.ry2.v2.pf2.t2.cl2"}) {
      const Tuning tuning = parse_code(code);
      ASSERT_TRUE(is_legal({problem, tuning}, limits_of_architecture("sm_90"))) << code;
      const KernelSource source = generate({problem, tuning});
      const auto code_of = [&](const KernelSource& text) {
        return machine_code(compiler->compile(text, "sm_90").cubin);
      };
      EXPECT_EQ(code_of(source), code_of(untrimmed(source))) << code << " " << name(type);
    }
  }
}

/// Each of the problem's candidates compiles for sm_90.
void expect_compiled(Compiler& compiler, const Problem& problem, std::initializer_list<const char*> codes) {
  for (const char* code : codes) {
    const Tuning tuning = parse_code(code);
    ASSERT_TRUE(is_legal({problem, tuning}, limits_of_architecture("sm_90"))) << code;
    EXPECT_NO_THROW(compiler.compile(generate({problem, tuning}), "sm_90")) << code;
  }
}

TEST(NvrtcKernels, OneOfEachTemplateCompiles) {
  const auto compiler = compiler_if_there();
  if (!compiler) GTEST_SKIP() << "no NVRTC here";
  expect_compiled(*compiler,
                  make_problem(make_builtin(Shape::star, 3, 1), ElementType::f32, {}, {3, {512, 512, 512}}, 0, 8),
                  {"direct.bx32.by4.rx4.v4.cl4", "tiled.bx32.by8", "streaming.bx32.by4.cz8.regs",
                   "streaming.bx32.by4.cz8.shared", "streaming.bx32.by4.cz8.mixed", "streaming.bx32.by4.cz8.ring.pf1",
                   "streaming.bx32.by4.cz8.regs.sums", "streaming.bx32.by4.cz8.ring.sums.step.tb4",
                   "streaming.bx32.by4.cz8.ring.sums.cpasync", "temporal.bx32.by4.rx2.ry2.v2.pf2.t2",
                   "temporal.bx32.by4.rx2.ry2.sums.v2.pf2.t2", "temporal.bx32.by4.rx2.ry2.v2.pf2.t2.cl2",
                   "temporal.bx32.by4.rx2.ry2.v2.tmarows.pf2.t2", "temporal.bx64.by4.rx2.ry4.v2.pf2.t2.split"});
}

TEST(NvrtcKernels, PipelinesOfWarpsCompile) {
  const auto compiler = compiler_if_there();
  if (!compiler) GTEST_SKIP() << "no NVRTC here";
  expect_compiled(*compiler,
                  make_problem(make_builtin(Shape::star, 2, 1), ElementType::f64, {}, {2, {4096, 4096, 1}}, 0, 32),
                  {"systolic.rx7.pf2.t8.tg4.rb2.sh132", "systolic.rx7.pf1.t8.tg4.rb2.split.sh132",
                   "systolic.rx7.pf2.t8.tg4.rb2.words.sh132"});
}

/// Kernels of fused steps are as fast as their planes are in registers: a pointer into what a walk keeps would leave
/// all of it in memory.
TEST(NvrtcKernels, PlanesWithoutAHaloHaveNoCellsBeyondAnEdge) {
  const auto compiler = compiler_if_there();
  if (!compiler) GTEST_SKIP() << "no NVRTC here";
  const Problem upright = make_problem(parse_stencil("u_next = 0.5*u + 0.25*(u[z-1] + u[z+1])", 3), ElementType::f64,
                                       {Boundary::clamp, Boundary::reflect, Boundary::hold}, {3, {256, 128, 64}});
  expect_compiled(*compiler, upright, {"streaming.bx64.by1.cz4.ring.sums.cl4.stcs"});
}

TEST(NvrtcKernels, FusedStepsKeepTheirPlanesInRegisters) {
  const auto compiler = compiler_if_there();
  if (!compiler) GTEST_SKIP() << "no NVRTC here";
  const auto stack_bytes = [&](const Problem& problem, const char* code) {
    const Tuning tuning = parse_code(code);
    EXPECT_TRUE(is_legal({problem, tuning}, limits_of_architecture("sm_90"))) << code;
    return compiler->compile(generate({problem, tuning}), "sm_90").resources.stack_bytes;
  };
  const Extents cube{3, {512, 512, 512}};
  const Problem star = make_problem(make_builtin(Shape::star, 3, 2), ElementType::f32, {}, cube, 0, 8);
  for (const char* code :
       {"temporal.bx32.by8.rx2.ry4.v2.pf4.t2", "temporal.bx32.by8.rx2.ry4.v2.tmarows.pf4.t2.rim.cl2",
        "temporal.bx32.by8.rx2.ry4.v2.sums.pf4.t2.split.rim", "temporal.bx32.by4.rx2.ry4.v2.pf4.t2.tg2.rim"}) {
    EXPECT_EQ(stack_bytes(star, code), 0) << code;
  }
  const Problem yee = make_problem(load_definition("corpus/yee3d.toml"), ElementType::f32, {}, cube, 0, 8, kWholeStep);
  for (const char* code :
       {"system.bx32.by8.rx2.ry2.v2.pf2.t1.ch3", "system.bx32.by8.rx2.ry2.v2.tmarows.pf2.t1.rim.ch3"}) {
    EXPECT_EQ(stack_bytes(yee, code), 0) << code;
  }
}

TEST(NvrtcKernels, WholeStepsOfSystemsCompile) {
  const auto compiler = compiler_if_there();
  if (!compiler) GTEST_SKIP() << "no NVRTC here";
  const Stencil yee = load_definition("corpus/yee3d.toml");
  expect_compiled(*compiler, make_problem(yee, ElementType::f32, {}, {3, {256, 256, 256}}, 0, 8, kWholeStep),
                  {"system.bx32.by4.rx2.ry2.v2.pf2.t1.ch2", "system.bx32.by4.rx2.ry2.v2.sectors.tmarows.pf2.t1.ch2"});
}

TEST(NvrtcKernels, KernelsWithPointsCompile) {
  const auto compiler = compiler_if_there();
  if (!compiler) GTEST_SKIP() << "no NVRTC here";
  const Extents grid{3, {128, 128, 128}};
  const Problem star = make_problem(make_builtin(Shape::star, 3, 1), ElementType::f32, {}, grid, 0, 8);
  for (const char* code :
       {"temporal.bx32.by4.rx2.ry2.sums.v2.pf2.t2.cl2", "temporal.bx32.by4.rx2.ry2.v2.tmarows.pf2.t2"}) {
    EXPECT_NO_THROW(compiler->compile(generate_with_points({star, parse_code(code)}), "sm_90")) << code;
  }
  const Problem wave =
      make_problem(load_stencil("corpus/acoustic3d_o2.toml"), ElementType::f32, {}, grid, 0, 8, kWholeStep);
  const char* code = "system.bx32.by4.rx2.ry4.v2.tmarows.pf1.t2";
  EXPECT_NO_THROW(compiler->compile(generate_with_points({wave, parse_code(code)}), "sm_90")) << code;
  for (const PointTask task : {PointTask::step, PointTask::sum}) {
    for (const ElementType type : {ElementType::f64, ElementType::f16}) {
      EXPECT_NO_THROW(compiler->compile(point_kernel_source(task, type), "sm_90")) << name(type);
    }
  }
}

TEST(NvrtcKernels, KernelsThatMeasureCompile) {
  const auto compiler = compiler_if_there();
  if (!compiler) GTEST_SKIP() << "no NVRTC here";
  const char* line =
      "u_next = u + x*laplacian(u); measure residual = max(abs(u_next - u)); measure least = min(u); measure mass = "
      "sum(u)";
  for (const ElementType type : {ElementType::f64, ElementType::bf16}) {
    const Stencil stencil = parse_stencil(line, 3);
    const Problem measured = measured_problem(make_problem(stencil, type, {}, {3, {128, 128, 128}}));
    const Candidate candidate(measured, measuring_tuning(measured));
    const std::vector<Reduction>& reductions = stencil.measures->reductions;
    EXPECT_NO_THROW(compiler->compile(generate_measuring(candidate, reductions), "sm_90")) << name(type);
    EXPECT_NO_THROW(compiler->compile(gather_source(reductions), "sm_90")) << name(type);
  }
}

/// Tiles of several fields hold hundreds of cells; NVRTC instantiates no more than 200 templates within each other.
TEST(NvrtcKernels, WhatRunsBesideStencilsCompiles) {
  const auto compiler = compiler_if_there();
  if (!compiler) GTEST_SKIP() << "no NVRTC here";
  for (const std::size_t cell_bytes : {2, 4, 8}) {
    EXPECT_NO_THROW(compiler->compile(box_copy_source(cell_bytes), "sm_90")) << cell_bytes;
  }
  for (const ElementType type : {ElementType::f64, ElementType::bf16}) {
    const Problem star = make_problem(make_builtin(Shape::star, 3, 2), type, {}, {3, {64, 64, 64}});
    EXPECT_NO_THROW(compiler->compile(tap_kernel_source(star), "sm_90")) << name(type);
  }
}

TEST(NvrtcKernels, TilesOfHundredsOfCellsCompile) {
  const auto compiler = compiler_if_there();
  if (!compiler) GTEST_SKIP() << "no NVRTC here";
  const Problem problem = make_problem(make_builtin(Shape::star, 3, 1), ElementType::f32, {}, {3, {64, 64, 64}});
  KernelSource source = generate({problem, parse_code("direct.bx32.by4.rx4")});
  source.text =
      "# include \"stencil_tune/rows.cuh\"\n"
      "template <int... k> __device__ int sum(stencil_tune::Indices<k...>) { return (k + ...); }\n"
      "extern \"C\" __global__ void " +
      source.entry +
      "(int* to) {\n  *to = sum(stencil_tune::IndicesBelow<1000>{});\n"
      "  stencil_tune::unrolled<300>([&](auto i) { *to += i; });\n}\n";
  EXPECT_NO_THROW(compiler->compile(source, "sm_90"));
}

}  // namespace
}  // namespace stencil_tune
