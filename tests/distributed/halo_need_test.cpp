// How deep halos must be: what reaches a part's own cells within some steps.
#include "generator/cut/halo_need.hpp"

#include "generator/stencil/problem.hpp"
#include "stencil_tune/definition.hpp"
#include "stencil_tune/library.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace stencil_tune {
namespace {

Problem whole_step(const Stencil& stencil, Boundary boundary = Boundary::hold) {
  const Extents extents{stencil.rank, {16, stencil.rank > 1 ? 16 : 1, stencil.rank > 2 ? 16 : 1}};
  return make_problem(stencil, ElementType::f64, {boundary, boundary, boundary}, extents, 0, 1, kWholeStep);
}

constexpr HaloLayers all_around(std::int64_t n) { return {{{n, n}, {n, n}, {n, n}}}; }

TEST(HaloNeed, GrowsByTheReachWithEachStep) {
  const Problem heat = whole_step(load_stencil("heat3d"));
  for (const int steps : {1, 2, 4}) {
    const HaloNeed need = halo_need(heat, steps);
    EXPECT_EQ(need.fields[0], all_around(steps));
    EXPECT_EQ(need.fields[1], HaloLayers{}) << "u_next is written before it is read";
    EXPECT_EQ(need.arrays, all_around(steps));
  }
}

TEST(HaloNeed, IsOneSidedWhereReadsAre) {
  const Stencil upwind = parse_stencil("u_next = 0.5 * u + 0.3 * u[x-2,y] + 0.2 * u[x,y+1]", 2);
  ASSERT_EQ(upwind.fields[0], "u");
  EXPECT_EQ(halo_need(whole_step(upwind), 3).fields[0], (HaloLayers{{{6, 0}, {0, 3}, {0, 0}}}));
}

TEST(HaloNeed, IsTwoSidedWhereAnAxisMirrors) {
  const Stencil ahead = parse_stencil("u_next = u + u[x+2,y]", 2);
  EXPECT_EQ(halo_need(whole_step(ahead, Boundary::reflect), 1).fields[0], (HaloLayers{{{2, 2}, {0, 0}, {0, 0}}}))
      << "a part of one cell at the end reads two cells before it";
  EXPECT_EQ(halo_need(whole_step(ahead, Boundary::clamp), 1).fields[0], (HaloLayers{{{0, 2}, {0, 0}, {0, 0}}}));
}

TEST(HaloNeed, OfAnOlderTimeLevelIsOneStepsReachLess) {
  const Problem wave = whole_step(load_stencil("corpus/acoustic3d_o4.toml"));
  EXPECT_EQ(wave.stencil.fields[1], "p_prev");
  const HaloNeed one = halo_need(wave, 1);
  EXPECT_EQ(one.fields[0], all_around(2));
  EXPECT_EQ(one.fields[1], HaloLayers{}) << "read in the cell itself alone";
  const HaloNeed three = halo_need(wave, 3);
  EXPECT_EQ(three.fields[0], all_around(6));
  EXPECT_EQ(three.fields[1], all_around(4));
  EXPECT_EQ(three.fields[2], all_around(4)) << "the velocity, which no step changes";
}

TEST(HaloNeed, ArraysAreAsWideAsReadsOfProfiles) {
  const Stencil damped = parse_stencil("u_next = u[x-1] + r[x+3]; r(x)", 1);
  ASSERT_EQ(damped.fields[1], "u");
  const HaloNeed need = halo_need(whole_step(damped), 2);
  EXPECT_EQ(need.fields[1], (HaloLayers{{{2, 0}, {0, 0}, {0, 0}}}));
  EXPECT_EQ(need.arrays, (HaloLayers{{{2, 3}, {0, 0}, {0, 0}}}));
}

TEST(HaloNeed, AddsUpOverTheStagesOfAStep) {
  const Problem yee = whole_step(load_stencil("corpus/yee3d.toml"));
  const HaloNeed need = halo_need(yee, 1);
  const auto ey = need.fields[1], hx = need.fields[3], ca = need.fields[6];
  EXPECT_EQ(ey, (HaloLayers{{{1, 1}, {1, 0}, {1, 1}}})) << "hx_next one cell below reads ey there";
  EXPECT_EQ(hx, (HaloLayers{{{1, 0}, {1, 0}, {1, 0}}}));
  EXPECT_EQ(ca, HaloLayers{});
  EXPECT_EQ(need.arrays, all_around(1));
}

TEST(HaloNeed, OfAFieldWhoseLayersAnIntermediateHasIsAsFarAsThatOneIsRead) {
  const auto need_of_u = [](Boundary boundary) {
    const Stencil stencil = parse_definition(R"toml(
rank = 2
fields = ["u", "k", "e", "u_next"]
[[stage]]
e = "k[x-1]"
[[stage]]
u_next = "u + e[y+3]"
[rotate]
u_next = "u"
)toml",
                                             "estimate.toml");
    return halo_need(whole_step(stencil, boundary), 1).fields[0];
  };
  EXPECT_EQ(need_of_u(Boundary::hold), (HaloLayers{{{0, 0}, {0, 3}, {0, 0}}}));
  EXPECT_EQ(need_of_u(Boundary::zero), HaloLayers{});
}

TEST(HaloNeed, FieldsOfTheRunAloneTravel) {
  EXPECT_EQ(fields_with_halos(whole_step(load_stencil("corpus/acoustic3d_o4.toml"))), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(fields_with_halos(whole_step(load_stencil("corpus/yee3d_layer.toml"))),
            (std::vector<int>{0, 1, 2, 3, 4, 5, 6}))
      << "profiles do not";
}

TEST(HaloNeed, CoordinatesDoNotGoRoundAPeriodicEdge) {
  const Stencil placed = parse_stencil("u_next = 0.5 * u[x-1,y] + x", 2);
  EXPECT_FALSE(may_cut(whole_step(placed, Boundary::periodic), 0, 2));
  EXPECT_TRUE(may_cut(whole_step(placed, Boundary::periodic), 0, 1));
  EXPECT_TRUE(may_cut(whole_step(placed, Boundary::periodic), 1, 2));
  EXPECT_TRUE(may_cut(whole_step(placed), 0, 2));
  const Stencil noisy = parse_stencil("u_next = 0.5 * u[x-1,y] + random(1)", 2);
  EXPECT_FALSE(may_cut(whole_step(noisy, Boundary::periodic), 1, 2));
  EXPECT_TRUE(may_cut(whole_step(noisy, Boundary::periodic), 1, 1));
  EXPECT_TRUE(may_cut(whole_step(noisy), 1, 2));
}

TEST(HaloNeed, PartsDoNotKnowHowFarAPeriodicEdgeIs) {
  for (const char* asked : {"x_before[x-1]", "x_after[x+2]"}) {
    const Stencil edges = parse_definition(
        fmt::format("rank = 2\nfields = [\"u\", \"u_next\"]\n[update]\nu_next = \"u[x-1]*{}\"\n", asked), "edges.toml");
    EXPECT_FALSE(may_cut(whole_step(edges, Boundary::periodic), 0, 1));
    EXPECT_TRUE(may_cut(whole_step(edges, Boundary::periodic), 1, 2));
    EXPECT_TRUE(may_cut(whole_step(edges, Boundary::zero), 0, 2));
  }
}

}  // namespace
}  // namespace stencil_tune
