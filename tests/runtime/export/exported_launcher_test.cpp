#include "tests/runtime/export/exported_launcher.hpp"

#include "generator/definition/definition.hpp"
#include "tests/runtime/export/corpus_export.hpp"

#include <gtest/gtest.h>

namespace stencil_tune {
namespace {

struct Exported {
  Stencil stencil;
  ElementType type;
  Boundaries boundaries;
  const char* code;
};

Problem on_grid(const Exported& exported, const Extents& extents, std::int64_t pitch) {
  return make_problem(exported.stencil, exported.type, exported.boundaries, extents, pitch, 8, kWholeStep);
}

constexpr const char* kWave = R"toml(
name = "wave"
rank = 3
fields = ["p", "p_prev", "c", "p_next"]
[[stage]]
p_next = "2*p - p_prev + c*laplacian(p)"
[rotate]
p_next = "p"
p = "p_prev"
)toml";

constexpr const char* kYee = R"toml(
name = "yee"
rank = 3
fields = ["e", "h", "c", "e_next", "h_next"]
[[stage]]
h_next = "h - 0.5*(e[x+1] - e) - 0.25*(e[z+1] - e)"
[[stage]]
e_next = "e + c*(h_next - h_next[x-1]) + 0.5*(h_next - h_next[y-1])"
[rotate]
e_next = "e"
h_next = "h"
)toml";

// Boundaries and types take turns; one kernel of each way to count tiles and to fill arguments.
TEST(ExportedLauncher, LaunchesWhatTheLibraryWouldOnEveryGridAndNothingElse) {
  if (!has_nvcc()) GTEST_SKIP() << "no nvcc here";
  using enum Boundary;
  const Exported exports[]{
      {make_builtin(Shape::star, 3, 2), ElementType::f32, {hold, zero, hold}, "direct.bx32.by4.rx4.v4"},
      {parse_stencil("0.25 * (u[x-1] + u[y+1])", 2),  // no coefficients
       ElementType::f64,
       {periodic, hold, hold},
       "streaming.bx64.by1.cz16.regs.raster"},
      {parse_stencil("v = a * u[x-1] + x*y[y+1]*z; a = 0.5", 3),
       ElementType::f32,
       {hold, periodic, zero},
       "direct.bx32.by4.rx2"},
      {parse_stencil("v = table(id, 1, u[x-1], 3) - k; storage id = u8; storage k = i16/4 + 1; storage v = f16", 2),
       ElementType::f32,
       {hold, periodic, zero},
       "direct.bx32.by4.rx4.v4"},
      {parse_stencil("v = u[x-1] + sin(x*y)", 2),
       ElementType::f64,
       {hold, periodic, zero},
       "streaming.bx64.by1.cz16.regs"},
      {make_builtin(Shape::star, 3, 1),
       ElementType::f32,
       {hold, hold, zero},
       "streaming.bx32.by4.cz8.ring.sums.tb2.pf1.cl2"},
      {make_builtin(Shape::star, 3, 1),
       ElementType::f32,
       {hold, periodic, hold},
       "temporal.bx32.by4.rx2.ry2.v2.pf2.t2.ch3"},
      // To one side only, and further to one side.
      {parse_stencil("u_next = 0.5 * u[x-1] + 0.3 * u[y+1] + 0.2 * u[z-2] + 0.1 * u[z+1]", 3),
       ElementType::f32,
       {hold, hold, hold},
       "direct.bx32.by4.rx4.v4"},
      {parse_stencil("u_next = 0.5 * u[x-1] + 0.3 * u[y+1] + 0.2 * u[z-2] + 0.1 * u[z+1]", 3),
       ElementType::f32,
       {hold, hold, hold},
       "temporal.bx32.by4.rx2.ry2.pf2.t2.ch3"},
      {make_builtin(Shape::star, 3, 1),
       ElementType::f32,
       {hold, zero, hold},
       "temporal.bx32.by4.rx2.ry2.tmarows.pf2.t2.ch3"},
      {make_builtin(Shape::star, 3, 1),
       ElementType::f32,
       {hold, zero, hold},
       "temporal.bx64.by4.rx2.ry2.tmarows.pf2.t2.tg2.split.ch3"},
      {parse_definition(kWave, "wave.toml"),
       ElementType::f32,
       {hold, zero, hold},
       "system.bx32.by4.rx2.ry2.v2.cprows.pf2.t2.ch3"},
      {parse_definition(kWave, "wave.toml"),
       ElementType::f32,
       {hold, zero, hold},
       "system.bx32.by4.rx2.ry2.v2.tmabeyond.pf2.t2.ch3"},
      {parse_definition(kYee, "yee.toml"),
       ElementType::f64,
       {hold, periodic, zero},
       "system.bx32.by4.rx2.ry2.v2.cprows.pf2.t1.ch3"},
      {make_builtin(Shape::star, 2, 1), ElementType::f64, {hold, hold, hold}, "systolic.bx32.by1.rx7.pf1.t8.tg4.sh132"},
      {make_builtin(Shape::star, 2, 1),
       ElementType::f64,
       {hold, hold, hold},
       "systolic.bx32.by1.rx7.pf1.t8.tg4.words.sh132"},
  };
  for (const Exported& each : exports) {
    const bool flat = each.stencil.rank == 2;
    const ExportedLauncher launcher(on_grid(each, {each.stencil.rank, {512, 512, flat ? 1 : 512}}, 0),
                                    parse_code(each.code));
    for (const auto& [x, y, z, pitch] :
         {std::array{1, 1, 1, 4}, std::array{3, 18, 7, 8}, std::array{64, 8, 4, 64}, std::array{64, 9, 5, 64},
          std::array{63, 8, 9, 64}, std::array{65, 33, 17, 80}, std::array{129, 40, 2, 131},
          std::array{200, 5, 70, 200}, std::array{160, 24, 12, 160}, std::array{301, 140, 30, 304},
          std::array{302, 140, 30, 304}, std::array{2048, 2048, 500, 2048}, std::array{2048, 2048, 520, 2048}}) {
      const Problem grid = on_grid(each, {each.stencil.rank, {x, y, flat ? 1 : z}}, pitch);
      EXPECT_EQ(launcher.complaint(grid), "") << each.code << " on " << to_string(grid.extents) << ", pitch " << pitch;
    }
  }
}

TEST(ExportedRun, TakesAllFieldsAndMakesAnyNumberOfSteps) {
  const Problem wave =
      on_grid({parse_definition(kWave, "wave.toml"), ElementType::f32, {}, ""}, {3, {512, 512, 512}}, 0);
  const auto files = export_kernel(wave, parse_code("system.bx32.by4.rx2.ry2.v2.cprows.pf2.t2.ch3"), {.name = "wave"},
                                   parse_code("direct.bx32.by4"));
  const std::string& source = files.source;
  EXPECT_NE(source.find("cudaError_t wave(float* p, float* p_prev, const float* c, float* p_next, float* spare,"),
            std::string::npos);
  EXPECT_NE(source.find("p stands in p_next, p_prev stands in spare"), std::string::npos);
  EXPECT_NE(source.find("cudaError_t wave_advance(float* buffers[], long long nx"), std::string::npos);
  EXPECT_NE(source.find("steps >= 2"), std::string::npos);
  EXPECT_NE(source.find("kNext[] = {3, 4, 2, 0, 1}"), std::string::npos) << "of two steps";
  EXPECT_NE(source.find("wave_step(buffers[0], buffers[1], buffers[2], buffers[3], nx"), std::string::npos);
  EXPECT_NE(source.find("kNext[] = {3, 0, 2, 1, 4}"), std::string::npos) << "of one";
  if (has_nvcc()) {
    EXPECT_EQ(nvcc_complaints(source), "");
  }
}

}  // namespace
}  // namespace stencil_tune
