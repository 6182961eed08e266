#include "generator/stencil/layer_arrays.hpp"

#include "generator/cut/zones.hpp"
#include "generator/stencil/buffers.hpp"
#include "generator/stencil/stage_problems.hpp"
#include "stencil_tune/definition.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace stencil_tune {
namespace {

Problem layered(Stencil stencil, const Extents& extents, const char* layers, ElementType type = ElementType::f32,
                std::int64_t pitch = 0) {
  stencil.layers = parse_layer_widths(layers, stencil.rank);
  return with_slabs(make_problem(std::move(stencil), type, {Boundary::hold, Boundary::hold, Boundary::hold}, extents,
                                 pitch, 1, kWholeStep));
}

int field_named(const Problem& problem, const std::string& name) {
  const auto& fields = problem.stencil.fields;
  return static_cast<int>(std::find(fields.begin(), fields.end(), name) - fields.begin());
}

double bytes_of_arrays(const Problem& problem) {
  double bytes = 0;
  for (int field = 0; field < static_cast<int>(problem.stencil.fields.size()); ++field) {
    bytes += static_cast<double>(array_of(problem, field).cells()) * static_cast<double>(size_of(problem.type));
  }
  return bytes;
}

TEST(LayerArrays, AreTheGridsWithFewerCellsAlongTheirAxis) {
  const Problem problem = layered(find_stencil("acoustic3d_o2_cpml"), {3, {512, 400, 300}}, "x=20,y=20:10,z=0:15");
  using Cells = std::array<std::int64_t, kMaxRank>;
  EXPECT_EQ(array_of(problem, field_named(problem, "p")).n, (Cells{512, 400, 300}));
  EXPECT_EQ(array_of(problem, field_named(problem, "psx")).n, (Cells{40, 400, 300}));
  EXPECT_EQ(array_of(problem, field_named(problem, "psx")).row, 40);
  EXPECT_EQ(array_of(problem, field_named(problem, "zty")).n, (Cells{512, 30, 300}));
  EXPECT_EQ(array_of(problem, field_named(problem, "ztz_next")).n, (Cells{512, 400, 15}));
  EXPECT_EQ(array_of(problem, field_named(problem, "ay")).n, (Cells{1, 400, 1}));
}

/// Otherwise vectors of the grid's rows would lie off those of the array's.
TEST(LayerArrays, LeaveOutWholeSectorsAlongX) {
  for (const std::int64_t n : {150, 151, 157, 512}) {
    for (const char* layers : {"x=9:8", "x=7:0", "x=0:13"}) {
      const Problem problem =
          layered(find_stencil("acoustic3d_o2_cpml"), {3, {n, 8, 4}}, layers, ElementType::f32, 520);
      const int psx = field_named(problem, "psx");
      const ArrayLayout array = array_of(problem, psx);
      EXPECT_EQ((n - array.n[0]) % 8, 0);
      EXPECT_EQ((520 - array.row) % 8, 0);
      const LayerWidths widths = *problem.stencil.layers;
      std::set<std::int64_t> places;
      for (std::int64_t x = 0; x < n; ++x) {
        const std::int64_t place = place_in_array(problem, psx, {x, 3, 2});
        if (x >= widths.low[0] && x < n - widths.high[0] && place < 0) continue;
        const std::int64_t along = place - 3 * array.row - 2 * array.plane;
        EXPECT_TRUE(along >= 0 && along < array.n[0]) << x << " of " << n << " stands at " << along;
        EXPECT_TRUE(places.insert(place).second) << x;
        const bool is_low = x < widths.low[0], is_high = x >= n - widths.high[0];
        EXPECT_TRUE(!is_low || along == x) << x << " stands at " << along;
        EXPECT_TRUE(!is_high || along == array.n[0] - (n - x)) << x << " stands at " << along;
      }
    }
  }
}

/// Vectors, alignments and sectors count in cells of the widest field; what makes a stage sees the step's arrays.
TEST(LayerArrays, LeaveOutSectorsOfTheWidestCells) {
  const Problem problem =
      layered(parse_stencil("v = u + w + m[x-1]; m(x in layer); storage m = u8; storage w = f64", 1), {1, {150, 1, 1}},
              "x=9:8");
  EXPECT_EQ(array_of(problem, field_named(problem, "m")).n[0], 150 - 132);
  EXPECT_EQ(cells_of_field(problem, field_named(problem, "m")), 150 - 132);
  EXPECT_EQ(stage_problems(problem).front().left_out, problem.left_out);
}

TEST(LayerArrays, AreWholeWhereLittleIsLeftBetweenLayers) {
  const Stencil stencil = find_stencil("acoustic3d_o2_cpml");
  for (const auto& [n, kept] : {std::pair<std::int64_t, std::int64_t>{40 + kLeastLeftOut - 1, 40 + kLeastLeftOut - 1},
                                {40 + kLeastLeftOut, 40},
                                {30, 30}}) {
    const Problem problem = layered(stencil, {3, {8, 8, n}}, "z=20");
    EXPECT_EQ(array_of(problem, field_named(problem, "psz")).n[2], kept);
  }
}

/// Twelve memory variables of 40 of 512 cells, for each its next value, beside four fields of the bare wave; runs of
/// the bare wave that fuse steps take a spare buffer too.
TEST(LayerArrays, TakeWhatTheLayersHold) {
  for (const char* name : {"acoustic3d_o2_cpml", "acoustic3d_o4_cpml"}) {
    const Problem problem = layered(find_stencil(name), {3, {512, 512, 512}}, "20");
    const double field = static_cast<double>(problem.field_bytes());
    const std::vector<Zone> all = zones(problem, 1);
    ASSERT_EQ(all.front().name, "inside");
    const double bare = field * static_cast<double>(all.front().problem.stencil.fields.size());
    EXPECT_EQ(bare, 4 * field) << name;
    EXPECT_LT(bytes_of_arrays(problem) / bare, 1.235) << name;
    EXPECT_LT((bytes_of_arrays(problem) + field) / (bare + field), 1.19) << name;
    EXPECT_GT(bytes_of_arrays(with_slabs(problem, false)), 3.9 * bare) << name;
    EXPECT_EQ(spare_buffers(problem, 3), 1) << name;
    EXPECT_TRUE(keeps_arrays_apart(problem, 3)) << name;
  }
}

}  // namespace
}  // namespace stencil_tune
