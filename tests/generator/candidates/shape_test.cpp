#include "generator/candidates/shape.hpp"

#include "tests/generator/corpus.hpp"
#include "tests/generator/problems.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace stencil_tune {
namespace {

using testing::box;
using testing::star;

TEST(KernelAxes, AreTheGridsForDirectAndTiled) {
  const KernelAxes axes = Candidate(star(2, 3), parse_code("tiled.bx32.by4")).shape().axes;
  EXPECT_EQ(axes.grid_axis, (std::array{0, 1, -1}));
  EXPECT_EQ(axes.extents, (Lengths{512, 512, 1}));
  EXPECT_EQ(axes.reach[1], (Reach{-3, 3}));
  EXPECT_EQ(axes.reach[2], (Reach{0, 0}));
}

TEST(KernelAxes, WalkTheLastGridAxisWhenStreaming) {
  const Tuning tuning = parse_code("streaming.bx128.by1.cz8.regs");
  const KernelAxes plane = Candidate(star(2, 2), tuning).shape().axes;
  EXPECT_EQ(plane.grid_axis, (std::array{0, -1, 1}));
  EXPECT_EQ(plane.extents, (Lengths{512, 1, 512}));
  EXPECT_EQ(plane.reach[1], (Reach{0, 0}));
  EXPECT_EQ(plane.reach[2], (Reach{-2, 2}));
  EXPECT_EQ(Candidate(star(3, 1), tuning).shape().axes.grid_axis, (std::array{0, 1, 2}));
}

TEST(KernelAxes, SeeRowsAlongZWhereAWalkGoesAlongY) {
  const Problem wave = make_problem(corpus("acoustic3d_o4"), ElementType::f32, {}, {3, {64, 48, 32}}, 0, 4, kWholeStep);
  const KernelAxes axes = Candidate(wave, parse_code("system.bx32.by4.rx2.v2.pf2.t2.walky")).shape().axes;
  EXPECT_EQ(axes.grid_axis, (std::array{0, 2, 1}));
  EXPECT_EQ(axes.extents, (Lengths{64, 32, 48}));
  EXPECT_EQ(axes.strides, (Lengths{1, 64 * 48, 64}));
}

TEST(KernelTile, IsThreadsTimesRegisterTileOrDepth) {
  EXPECT_EQ(Candidate(star(3, 1), parse_code("direct.bx32.by4.bz2.rx4.ry2.rz2")).shape().tile, (Lengths{128, 8, 4}));
  EXPECT_EQ(Candidate(star(3, 1), parse_code("streaming.bx32.by4.rx4.cz16.regs")).shape().tile, (Lengths{128, 4, 16}));
}

TEST(KernelTile, LosesTheReachOnEveryCoveredAxisWhenThreadsCoverTheInput) {
  EXPECT_EQ(Candidate(star(3, 1), parse_code("tiled.bx8.by8.bz8.cin")).shape().tile, (Lengths{6, 6, 6}));
  EXPECT_EQ(Candidate(star(3, 1), parse_code("streaming.bx32.by32.cz30.shared.cin")).shape().tile,
            (Lengths{30, 30, 30}));
  EXPECT_EQ(Candidate(star(2, 1), parse_code("tiled.bx32.by32.cin")).shape().tile, (Lengths{30, 30, 1}));
  EXPECT_EQ(Candidate(star(3, 4), parse_code("tiled.bx8.by8.bz8.cin")).shape().tile, (Lengths{0, 0, 0}));
}

TEST(KernelBlocks, CoverTheGridWithAPartialLastTile) {
  EXPECT_EQ(Candidate(star(3, 1), parse_code("tiled.bx8.by8.bz8.cin")).shape().tiles, (Lengths{86, 86, 86}));
}

TEST(ClusterTile, LiesAlongTheAxisWhereNeighboursReadMostOfTheSame) {
  EXPECT_EQ(Candidate(star(3, 1), parse_code("direct.bx32.by4.rz2.cl4")).shape().cluster_tile, (Lengths{32, 4, 8}))
      << "2 of 2 planes";
  EXPECT_EQ(Candidate(star(3, 1), parse_code("direct.bx8.by8.bz8.cl4")).shape().cluster_tile, (Lengths{32, 8, 8}))
      << "16 of 8 cells";
  EXPECT_EQ(Candidate(star(3, 1), parse_code("direct.bx64.by2.bz8.cl4")).shape().cluster_tile, (Lengths{64, 8, 8}))
      << "2 of 2 rows";
  EXPECT_EQ(Candidate(star(2, 1), parse_code("direct.bx32.by4.cl4")).shape().cluster_tile, (Lengths{32, 16, 1}));
  EXPECT_EQ(Candidate(star(2, 1), parse_code("streaming.bx64.by1.cz4.regs.cl2")).shape().cluster_tile,
            (Lengths{64, 1, 8}));
  EXPECT_EQ(Candidate(star(1, 1), parse_code("direct.bx32.by1.cl8")).shape().cluster_tile, (Lengths{256, 1, 1}));
}

TEST(ClusterTile, OfADeepRingLiesAlongItsRowsOfWholeLines) {
  EXPECT_EQ(Candidate(star(3, 4), parse_code("streaming.bx32.by8.rx4.ry4.v4.cz128.ring.pf1.cl2")).shape().cluster_tile,
            (Lengths{256, 32, 128}))
      << "64 of 128 cells, 8 of 32 rows, 8 of 128 planes";
  EXPECT_EQ(Candidate(star(3, 2), parse_code("streaming.bx32.by8.rx4.ry4.v4.cz8.ring.pf1.cl2")).shape().cluster_tile,
            (Lengths{128, 32, 16}))
      << "as many planes as cells of a row: the later axis";
}

TEST(ClusterTile, OfOneBlockIsItsTile) {
  const Tuning one = parse_code("direct.bx32.by4");
  EXPECT_EQ(Candidate(star(3, 1), one).shape().cluster_tile, Candidate(star(3, 1), one).shape().tile);
}

TEST(ClusterTile, IsSharedByTheBlocksOfFusedSteps) {
  const Problem run = make_problem(make_builtin(Shape::star, 3, 1), ElementType::f32, {}, {3, {512, 512, 512}}, 0, 8);
  const Tuning tuning = parse_code("temporal.bx32.by4.rx2.ry4.v2.pf3.t4.cl2");
  EXPECT_EQ(Candidate(run, tuning).shape().cluster_axis, -1);
  EXPECT_EQ(Candidate(run, tuning).shape().cluster_tile, Candidate(run, tuning).shape().tile);
}

TEST(KernelBlocks, OfAClusterFollowEachOtherInX) {
  const Problem problem = star(3, 1);  // 512 cells along each axis
  const Tuning tuning = parse_code("direct.bx32.by4.bz3.cl4");
  EXPECT_EQ(Candidate(problem, tuning).shape().tiles, (Lengths{16, 128, 43}))
      << "43 x 12 planes: the last cluster has a tile less";
  EXPECT_EQ(blocks_of(Candidate(problem, tuning).shape().tiles, tuning), (Lengths{64, 128, 43}));
}

TEST(KernelBlocks, TakeSeveralTiles) {
  const Problem problem = star(3, 1);
  const Tuning tuning = parse_code("streaming.bx32.by4.cz8.ring.sums.tb4.pf1.cl2");
  EXPECT_EQ(Candidate(problem, tuning).shape().tiles, (Lengths{8, 128, 64})) << "clusters lie along x";
  EXPECT_EQ(blocks_of(Candidate(problem, tuning).shape().tiles, tuning), (Lengths{32768, 1, 1}));
  EXPECT_EQ(blocks_of({3, 1, 3}, tuning), (Lengths{6, 1, 1})) << "nine clusters' tiles in turns of four";
}

TEST(SharedTile, HoldsTheOutputTileAndItsHalo) {
  const SharedTile tile = Candidate(star(3, 2), parse_code("tiled.bx32.by4.bz4")).shape().shared;
  EXPECT_EQ(tile.left_pad, 2);
  EXPECT_EQ(tile.pitch, 36);
  EXPECT_EQ(tile.rows, 8);
  EXPECT_EQ(tile.planes, 8);
  EXPECT_EQ(tile.bytes, 36u * 8 * 8 * 4);
}

TEST(SharedTile, KeepsRowBodiesOnVectorBoundaries) {
  for (const int order : {1, 3, 4, 5}) {
    const SharedTile tile = Candidate(star(3, order), parse_code("tiled.bx32.by4.rx4.v4")).shape().shared;
    EXPECT_EQ(tile.left_pad % 4, 0) << order;
    EXPECT_EQ(tile.pitch % 4, 0) << order;
    EXPECT_GE(tile.left_pad, order);
    EXPECT_GE(tile.pitch, tile.left_pad + 128 + order);
  }
}

TEST(SharedTile, IsExactlyTheBlockWhenThreadsCoverTheInput) {
  const SharedTile tile = Candidate(star(3, 1), parse_code("tiled.bx8.by8.bz8.cin")).shape().shared;
  EXPECT_EQ(tile.pitch, 8);
  EXPECT_EQ(tile.rows, 8);
  EXPECT_EQ(tile.planes, 8);
  EXPECT_EQ(tile.left_pad, 1);
}

TEST(SharedTile, HoldsOneRingOfPlanesOrTheCurrentOneWhenStreaming) {
  EXPECT_EQ(Candidate(star(3, 2), parse_code("streaming.bx32.by8.cz16.shared")).shape().shared.planes, 5);
  EXPECT_EQ(Candidate(star(3, 2), parse_code("streaming.bx32.by8.cz16.mixed")).shape().shared.planes, 1);
  EXPECT_EQ(Candidate(star(3, 2), parse_code("streaming.bx32.by8.cz16.regs")).shape().shared.bytes, 0u);
  EXPECT_EQ(Candidate(star(3, 2), parse_code("direct.bx32.by8")).shape().shared.bytes, 0u);
}

TEST(SharedTile, HoldsComputeValuesOf16BitTypes) {
  const Tuning tuning = parse_code("tiled.bx32.by4");
  EXPECT_EQ(Candidate(star(2, 1, ElementType::f16), tuning).shape().shared.bytes,
            Candidate(star(2, 1), tuning).shape().shared.bytes);
  EXPECT_EQ(Candidate(star(2, 1, ElementType::f64), tuning).shape().shared.bytes,
            2 * Candidate(star(2, 1), tuning).shape().shared.bytes);
}

TEST(SharedTile, HoldsEveryInput) {
  StencilBuilder builder("two", 2);
  const int u = builder.field("u");
  const int k = builder.field("k");
  builder.update(builder.field("out"),
                 builder.apply(Operation::multiply, builder.read(u, {1, 0, 0}), builder.read(k, {0, -2, 0})));
  const Problem problem = make_problem(std::move(builder).build(), ElementType::f32, {}, testing::cube(2, 64));
  const SharedTile tile = Candidate(problem, parse_code("tiled.bx32.by4")).shape().shared;
  EXPECT_EQ(tile.inputs, 2);
  EXPECT_EQ(tile.pitch, 33);
  EXPECT_EQ(tile.rows, 6);
  EXPECT_EQ(tile.bytes, 2u * 33 * 6 * 4);
}

TEST(SharedTile, SaturatesInsteadOfWrapping) {
  const Tuning tuning = parse_code("tiled.bx65536.by65536.bz65536.rx65536.ry65536.rz65536");
  EXPECT_GT(Candidate(box(3, 1), tuning).shape().shared.bytes, std::size_t{1} << 62);
  EXPECT_EQ(threads_per_block(tuning), std::int64_t{1} << 48);
}

}  // namespace
}  // namespace stencil_tune
