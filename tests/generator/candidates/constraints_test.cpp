#include "generator/candidates/constraints.hpp"

#include "generator/candidates/family.hpp"
#include "generator/definition/definition.hpp"
#include "generator/stencil/layer_arrays.hpp"
#include "stencil_tune/definition.hpp"
#include "stencil_tune/error.hpp"
#include "tests/generator/corpus.hpp"
#include "tests/generator/problems.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace stencil_tune {
namespace {

using testing::box;
using ::testing::HasSubstr;
using testing::kSm90;
using testing::star;

/// Names of all constraints that the code breaks.
std::set<std::string_view> broken(const Problem& problem, std::string_view code, const Limits& limits = kSm90) {
  std::set<std::string_view> names;
  const Candidate candidate(problem, parse_code(code));
  for_each_constraint(candidate.family(), [&](const Constraint& constraint) {
    if (constraint.violation(candidate, limits)) names.insert(constraint.name);
  });
  return names;
}

const std::set<std::string_view> kNone{};

using Names = std::set<std::string_view>;

/// In 3D, yet every plane by itself.
Problem flat() {
  StencilBuilder builder("flat", 3);
  const int in = builder.field("in");
  builder.update(builder.field("out"),
                 builder.apply(Operation::add, builder.read(in, {-1, 0, 0}), builder.read(in, {1, 0, 0})));
  return make_problem(std::move(builder).build(), ElementType::f32, {}, Extents{3, {64, 64, 64}});
}

TEST(Constraints, LeaveNoShareOfASystolicGridWithoutARow) {
  const Problem run =
      make_problem(make_builtin(Shape::star, 2, 1), ElementType::f64, {}, Extents{2, {512, 66, 1}}, 0, 100);
  EXPECT_EQ(broken(run, "systolic.rx7.pf1.t8.tg8.sh64"), kNone);
  EXPECT_EQ(broken(run, "systolic.rx7.pf1.t8.tg8.sh66"), Names{"systolic_tile_in_grid"}) << "two rows are held";
}

TEST(Constraints, HaveNamesAndMeanings) {
  for (const Family* family : families()) {
    Names names;
    for_each_constraint(*family, [&](const Constraint& constraint) {
      EXPECT_TRUE(names.insert(constraint.name).second) << constraint.name;
      EXPECT_FALSE(constraint.meaning.empty());
    });
  }
}

TEST(Constraints, FirstViolationNamesTheConstraintAndTheNumbers) {
  const auto violation = first_violation({star(3, 1), parse_code("direct.bx512.by4")}, kSm90);
  ASSERT_TRUE(violation);
  EXPECT_EQ(violation->constraint, "threads_per_block");
  EXPECT_EQ(violation->message, "2048 threads; a block may have 1024");
  EXPECT_FALSE(is_legal({star(3, 1), parse_code("direct.bx512.by4")}, kSm90));
  EXPECT_FALSE(first_violation({star(3, 1), parse_code("direct.bx512.by2")}, kSm90));
  EXPECT_TRUE(is_legal({star(3, 1), parse_code("direct.bx512.by2")}, kSm90));
}

TEST(Constraints, AcceptTheKernelsThatMeasuredBest) {
  EXPECT_EQ(broken(star(3, 1), "streaming.bx32.by4.rx4.v4.cz4.regs"), kNone);
  EXPECT_EQ(broken(star(3, 8), "streaming.bx32.by4.rx4.v4.cz64.regs"), kNone) << "17 planes of 4 in registers";
  EXPECT_EQ(broken(star(3, 2, ElementType::f64), "streaming.bx32.by4.rx2.ry2.v2.cz8.mixed.u2.mb4"), kNone);
}

TEST(Constraints, EveryRequiredOrderHasAFamily) {
  for (int order = 1; order <= 8; ++order) EXPECT_EQ(broken(star(3, order), "direct.bx32.by8"), kNone) << order;
  for (int order = 1; order <= 4; ++order) EXPECT_EQ(broken(box(3, order), "direct.bx32.by8"), kNone) << order;
  EXPECT_EQ(broken(box(3, 4), "streaming.bx32.by8.cz16.shared"), kNone);
}

TEST(Constraints, ThreadsFillAWarp) {
  EXPECT_EQ(broken(star(3, 1), "direct.bx8.by2"), Names{"threads_per_block"});
  EXPECT_EQ(broken(star(3, 1), "direct.bx8.by4"), kNone);
  EXPECT_EQ(broken(star(3, 1), "direct.bx1.by1.bz128"), Names{"threads_per_block"}) << "64 along z at most";
}

TEST(Constraints, VectorsDivideTheRegisterTile) {
  EXPECT_EQ(broken(star(3, 1), "direct.bx32.by4.rx2.v4"), Names{"vector_divides_register_x"});
  EXPECT_EQ(broken(star(3, 1), "direct.bx32.by4.rx8.v4"), kNone);
}

TEST(Constraints, VectorsHave16Bytes) {
  EXPECT_EQ(broken(star(3, 1, ElementType::f64), "direct.bx32.by4.rx4.v4"), Names{"vector_bytes"});
  EXPECT_EQ(broken(star(3, 1, ElementType::f64), "direct.bx32.by4.rx4.v2"), kNone);
  EXPECT_EQ(broken(star(3, 1, ElementType::f16), "direct.bx32.by4.rx8.v8"), kNone);
  EXPECT_EQ(broken(star(3, 1, ElementType::f32, 510), "direct.bx32.by4.rx3.v3"), Names{"vector_bytes"})
      << "12 bytes are no vector";
}

TEST(Constraints, RowsAreAlignedForVectors) {
  EXPECT_EQ(broken(star(3, 1, ElementType::f32, 509), "direct.bx32.by4.rx4.v4"), Names{"rows_aligned"});
  EXPECT_EQ(broken(star(3, 1, ElementType::f32, 510), "direct.bx32.by4.rx4.v4"), Names{"rows_aligned"});
  EXPECT_EQ(broken(star(3, 1, ElementType::f32, 509), "direct.bx32.by4.rx4"), kNone);
  const Problem padded =
      make_problem(make_builtin(Shape::star, 3, 1), ElementType::f32, {}, testing::cube(3, 509), 512);
  EXPECT_EQ(broken(padded, "direct.bx32.by4.rx4.v4"), kNone);
}

TEST(Constraints, StreamingNeedsAnAxisToWalk) {
  EXPECT_EQ(broken(star(1, 1), "streaming.bx256.by1.cz4.regs"), Names{"streaming_needs_rank_2"});
  EXPECT_EQ(broken(star(2, 1), "streaming.bx256.by1.cz4.regs"), kNone);
}

TEST(Constraints, WalksTurnOnceRoundAnAxisOrReflectOnce) {
  const auto broken_by = [](Boundary boundary, std::int64_t ny, std::string_view code) {
    Problem problem = star(3, 4, ElementType::f32, 64);
    problem.boundaries = {Boundary::hold, boundary, Boundary::hold};
    problem.extents.n[1] = ny;
    return broken(problem, code);
  };
  const Names turned{"turned_once"};
  for (const Boundary boundary : {Boundary::periodic, Boundary::reflect}) {
    for (const std::string_view code :
         {"streaming.bx32.by4.cz4.regs", "streaming.bx32.by4.cz4.ring.sums.cpasync.pf1"}) {
      EXPECT_EQ(broken_by(boundary, 4, code), turned) << "a read 4 beyond an end of 4 cells comes to the other end";
      EXPECT_EQ(broken_by(boundary, 5, code), kNone);
    }
    EXPECT_EQ(broken_by(boundary, 1, "direct.bx32.by4"), kNone) << "serves every grid";
  }
  EXPECT_EQ(broken_by(Boundary::clamp, 1, "streaming.bx32.by4.cz4.regs"), kNone);
  EXPECT_EQ(broken_by(Boundary::zero, 1, "streaming.bx32.by4.cz4.regs"), kNone);
}

TEST(Constraints, ThreadsLieAlongAxesThatTheKernelHas) {
  EXPECT_EQ(broken(star(1, 1), "direct.bx32.by4"), Names{"unused_axis"});
  EXPECT_EQ(broken(star(2, 1), "direct.bx32.by4.rz2"), Names{"unused_axis"});
  EXPECT_EQ(broken(star(2, 1), "streaming.bx32.by4.cz4.regs"), Names{"unused_axis"}) << "a 2D walk has no y";
}

TEST(Constraints, InputTilesHaveOutputs) {
  EXPECT_EQ(broken(star(3, 4), "tiled.bx8.by8.bz8.cin"), Names{"tile_not_empty"});
  EXPECT_EQ(broken(star(3, 4), "tiled.bx9.by9.bz9.cin"), kNone);
  EXPECT_EQ(broken(star(3, 4), "streaming.bx64.by8.cz8.shared.cin"), Names{"tile_not_empty"});
}

TEST(Constraints, ThreadsThatCoverTheInputHoldOneCell) {
  EXPECT_EQ(broken(star(3, 1), "tiled.bx32.by4.bz4.rx2.cin"), Names{"cover_input_one_cell"});
  EXPECT_EQ(broken(star(3, 1), "tiled.bx32.by4.bz4.rz2.cin"), Names{"cover_input_one_cell"});
}

TEST(Constraints, MixedPlanesReadOnlyTheirColumnOffThePlane) {
  EXPECT_EQ(broken(box(3, 1), "streaming.bx32.by4.cz4.mixed"), Names{"mixed_needs_axis_taps"});
  EXPECT_EQ(broken(box(2, 1), "streaming.bx64.by1.cz4.mixed"), Names{"mixed_needs_axis_taps"});
  EXPECT_EQ(broken(star(3, 3), "streaming.bx32.by4.cz4.mixed"), kNone);
  EXPECT_EQ(broken(box(3, 1), "streaming.bx32.by4.cz4.shared"), kNone);
}

TEST(Constraints, MixedPlanesAllowDiagonalsWithinThePlane) {
  StencilBuilder builder("plane", 3);
  const int u = builder.field("u");
  builder.update(builder.field("out"),
                 builder.apply(Operation::add, builder.read(u, {1, 1, 0}), builder.read(u, {0, 0, -1})));
  const Problem problem = make_problem(std::move(builder).build(), ElementType::f32, {}, testing::cube(3, 64));
  EXPECT_EQ(broken(problem, "streaming.bx32.by4.cz4.mixed"), kNone);
}

TEST(Constraints, ShufflesStayWithinAWarp) {
  EXPECT_EQ(broken(star(3, 1), "direct.bx16.by4.shfl"), kNone);
  EXPECT_EQ(broken(star(3, 1), "direct.bx48.by2.shfl"), Names{"shuffle_in_warp"});
  EXPECT_EQ(broken(star(3, 1), "direct.bx8.by5.shfl"), Names{"shuffle_in_warp"}) << "the last warp is incomplete";
  EXPECT_EQ(broken(star(3, 2), "direct.bx32.by4.shfl"), Names{"shuffle_in_warp"}) << "reaches two lanes";
  EXPECT_EQ(broken(star(3, 2), "direct.bx32.by4.rx2.shfl"), kNone);
}

TEST(Constraints, ParametersThatThePlanesDoNotUseKeepTheirDefault) {
  EXPECT_EQ(broken(star(3, 1), "streaming.bx32.by4.cz4.regs.cin"), Names{"parameter_unused"});
  EXPECT_EQ(broken(star(3, 1), "streaming.bx32.by4.cz4.shared.shfl"), Names{"parameter_unused"});
}

TEST(Constraints, RingsNeedWhatTmaDoes) {
  const char* ring = "streaming.bx32.by4.rx4.v4.cz16.ring.pf2";
  EXPECT_EQ(broken(star(3, 1), ring), kNone);
  EXPECT_EQ(broken(star(3, 1), ring, limits_of_architecture("sm_80")), Names{"tensor_architecture"});
  EXPECT_EQ(broken(star(3, 1), "streaming.bx32.by4.rx4.v4.cz16.ring"), Names{"ring_prefetch"});
  EXPECT_EQ(broken(star(3, 1), "streaming.bx8.by5.rx4.v4.cz16.ring.pf2"), Names{"ring_warps"});
  EXPECT_EQ(broken(star(3, 1, ElementType::f32, 510), "streaming.bx32.by4.cz16.ring.pf2"), Names{"tensor_rows"});
  EXPECT_EQ(broken(star(3, 1), "streaming.bx64.by4.rx4.v4.cz16.ring.pf1"), Names{"tensor_box"})
      << "256 cells and a halo";
  Problem problem = star(3, 1);
  problem.boundaries = {Boundary::hold, Boundary::zero, Boundary::periodic};
  EXPECT_EQ(broken(problem, ring), kNone) << "the walk's own axis may have any boundary";
  problem.boundaries[0] = Boundary::clamp;
  EXPECT_EQ(broken(problem, ring), Names{"ring_edges"});
  EXPECT_EQ(broken(problem, "streaming.bx32.by4.rx4.v4.cz16.ring.sums.pf2"), kNone) << "threads write edge cells";
}

TEST(Constraints, SumsNeedSeveralPlanesAndUnrollByThemselves) {
  EXPECT_EQ(broken(star(3, 1), "streaming.bx32.by4.cz4.regs.sums"), kNone);
  EXPECT_EQ(broken(star(3, 1), "streaming.bx32.by4.cz4.ring.sums"), kNone) << "a ring without pf still runs ahead";
  EXPECT_EQ(broken(star(3, 1), "streaming.bx32.by4.cz4.regs.sums.u2"), Names{"parameter_unused"});
  EXPECT_EQ(broken(star(3, 1), "streaming.bx32.by4.cz4.regs.sums.step"), kNone);
  EXPECT_EQ(broken(star(3, 1), "streaming.bx32.by4.cz4.regs.step"), Names{"parameter_unused"});
  EXPECT_EQ(broken(star(3, 1), "streaming.bx32.by4.cz4.ring.sums.tb4"), kNone);
  EXPECT_EQ(broken(star(3, 1), "streaming.bx32.by4.cz4.ring.pf1.tb4"), Names{"parameter_unused"});
  EXPECT_EQ(broken(star(3, 1), "streaming.bx32.by4.cz4.ring.sums.cpasync.tb4"), Names{"parameter_unused"});
  EXPECT_EQ(broken(star(3, 1), "streaming.bx32.by4.cz4.regs.sums.pf1"), Names{"parameter_unused"});
  EXPECT_EQ(broken(star(3, 1), "streaming.bx32.by4.cz4.shared.sums"), Names{"parameter_unused"});
  EXPECT_EQ(broken(flat(), "streaming.bx32.by4.cz4.regs.sums"), Names{"sums_of_planes"});
}

TEST(Constraints, ThreadsFillRingsOfSumsWhereverTheyCan) {
  const char* ring = "streaming.bx32.by4.rx4.cz16.ring.sums.cpasync.pf2";
  Problem problem = star(3, 1, ElementType::f32, 509);
  problem.boundaries = {Boundary::clamp, Boundary::periodic, Boundary::reflect};
  EXPECT_EQ(broken(problem, ring), kNone) << "any boundary, any rows";
  EXPECT_EQ(broken(problem, ring, limits_of_architecture("sm_80")), kNone);
  EXPECT_EQ(broken(problem, ring, limits_of_architecture("sm_75")), Names{"ring_copies"});
  EXPECT_EQ(broken(star(3, 1), "streaming.bx32.by4.rx4.cz16.ring.cpasync.pf2"), Names{"parameter_unused"});
  EXPECT_EQ(broken(star(3, 1, ElementType::f16), ring), Names{"ring_copies"}) << "2 bytes a copy";
}

TEST(Constraints, UnrollStaysWithinTheWalk) {
  EXPECT_EQ(broken(star(3, 1), "streaming.bx32.by4.cz2.regs.u4"), Names{"unroll_within_depth"});
  EXPECT_EQ(broken(star(3, 1), "streaming.bx32.by4.cz4.regs.u4"), kNone);
}

TEST(Constraints, TilesFitInSharedMemoryOfTheArchitecture) {
  const char* code = "streaming.bx64.by16.cz16.shared";  // 9 planes of 24 rows of 72 cells
  EXPECT_EQ(broken(star(3, 4), code, limits_of_architecture("sm_90")), kNone);
  EXPECT_EQ(broken(star(3, 4, ElementType::f64), code, limits_of_architecture("sm_80")), kNone);
  EXPECT_EQ(broken(star(3, 4, ElementType::f64), code, limits_of_architecture("sm_86")), Names{"shared_memory"});
}

TEST(Constraints, LiveValuesFitInRegisters) {
  EXPECT_EQ(broken(star(3, 8), "streaming.bx32.by4.rx4.ry4.cz8.regs"), Names{"register_tile"});
  EXPECT_EQ(broken(star(3, 1), "direct.bx32.by4.rx8.ry8.rz4"), Names{"register_tile"});
}

TEST(Constraints, CodeIsSmallEnoughToCompile) {
  EXPECT_EQ(broken(box(3, 4), "direct.bx32.by4.rx8"), kNone);
  EXPECT_EQ(broken(box(3, 4), "direct.bx32.by4.rx8.ry2"), Names{"update_size"});
  EXPECT_THAT(broken(box(3, 16), "direct.bx32.by4"), ::testing::Contains("update_size"));
}

TEST(Constraints, CoefficientsFitInTheArguments) {
  EXPECT_EQ(broken(box(3, 8), "direct.bx32.by8"), kNone) << "4913 coefficients in f32";
  EXPECT_EQ(broken(box(3, 8, ElementType::f64), "direct.bx32.by8"), Names{"argument_bytes"});
}

TEST(Constraints, BlocksAreCountable) {
  const Problem tall = make_problem(make_builtin(Shape::star, 2, 1), ElementType::f32, {}, {2, {64, 1 << 20, 1}});
  EXPECT_EQ(broken(tall, "direct.bx32.by4"), Names{"grid_blocks"});
  EXPECT_EQ(broken(tall, "direct.bx32.by4.zfirst"), kNone);
  EXPECT_EQ(broken(tall, "direct.bx32.by16"), Names{"grid_blocks"}) << "65536 is one too many";
  EXPECT_EQ(broken(tall, "direct.bx32.by32"), kNone);
  const Problem huge = make_problem(make_builtin(Shape::star, 3, 1), ElementType::f32, {}, testing::cube(3, 1 << 14));
  EXPECT_EQ(broken(huge, "direct.bx32.by1.zfirst"), (Names{"grid_blocks", "tile_numbers"}));
}

TEST(Constraints, TilesAreNumberedIn32Bits) {
  const Problem line = star(1, 1, ElementType::f32, (1LL << 32) - 32);
  EXPECT_EQ(broken(line, "direct.bx32.by1.raster32"), kNone);
  EXPECT_EQ(broken(star(1, 1, ElementType::f32, 1LL << 32), "direct.bx32.by1.raster32"), Names{"tile_numbers"})
      << "2^27 tiles times a strip of 32 rows";
  EXPECT_EQ(broken(star(1, 1, ElementType::f32, 1LL << 32), "direct.bx32.by1.raster"), kNone);
}

TEST(Constraints, TensorCopiesReachGridsOf32BitCoordinates) {
  const char* ring = "streaming.bx32.by1.cz64.ring.pf1.zfirst";
  const Problem wide = make_problem(make_builtin(Shape::star, 2, 1), ElementType::f32, {}, {2, {1LL << 31, 16, 1}});
  EXPECT_EQ(broken(wide, ring), Names{"tensor_grid"});
  const Problem narrow = make_problem(make_builtin(Shape::star, 2, 1), ElementType::f32, {}, {2, {1LL << 30, 16, 1}});
  EXPECT_EQ(broken(narrow, ring), kNone);
  const Problem thick = make_problem(make_builtin(Shape::star, 3, 1), ElementType::f32, {}, {3, {1 << 20, 1 << 18, 4}});
  EXPECT_EQ(broken(thick, "streaming.bx32.by4.cz4.ring.pf1.zfirst").count("tensor_grid"), 1U) << "2^40 bytes a plane";
}

TEST(Constraints, ClustersCameWithSm90AndHaveEightBlocksAtMost) {
  EXPECT_EQ(broken(star(3, 1), "direct.bx32.by8.cl8"), kNone);
  EXPECT_EQ(broken(star(3, 1), "direct.bx32.by8.cl16"), Names{"clusters"});
  Limits older = kSm90;
  older.compute_capability = 89;
  EXPECT_EQ(broken(star(3, 1), "direct.bx32.by8.cl2", older), Names{"clusters"});
}

TEST(Constraints, PromisedBlocksFitInAnSm) {
  EXPECT_EQ(broken(star(3, 1), "direct.bx32.by8.mb8"), kNone);
  EXPECT_EQ(broken(star(3, 1), "direct.bx32.by8.mb12"), Names{"min_blocks_fit"}) << "3072 threads";
  EXPECT_EQ(broken(star(3, 1), "direct.bx32.by1.mb33"), Names{"min_blocks_fit"}) << "an SM holds 32 blocks";
  EXPECT_EQ(broken(star(3, 8), "streaming.bx32.by8.rx4.v4.cz8.regs.mb8"), Names{"min_blocks_fit"}) << "32 registers";
  EXPECT_EQ(broken(star(3, 4), "streaming.bx64.by16.cz16.shared.mb2"), kNone);
  EXPECT_EQ(broken(star(3, 4, ElementType::f64), "streaming.bx64.by8.cz16.shared.mb4"), Names{"min_blocks_fit"})
      << "shared memory";
}

TEST(Constraints, JudgeAbsurdNumbersWithoutOverflow) {
  const char* code = "tiled.bx65536.by65536.bz65536.rx65536.ry65536.rz65536.v65536.mb65536";
  EXPECT_THAT(broken(star(3, 1), code), ::testing::IsSupersetOf<std::string_view>(
                                            {"threads_per_block", "shared_memory", "register_tile", "update_size"}));
}

/// On slabs along x, of 16 cells at the low end and `high` at the other.
Problem on_slabs(int stage, int high = 0, const std::string& storage = "") {
  Stencil stencil =
      parse_stencil("u_next = u + 0.1*m[x-1]; m_next = 0.9*m + 0.1*u; m(x in layer); m_next(x in layer)" + storage, 3);
  stencil.layers = LayerWidths{.low = {16, 0, 0}, .high = {high, 0, 0}};
  return with_slabs(make_problem(std::move(stencil), ElementType::f32, {}, testing::cube(3, 512), 0, 8, stage));
}

TEST(Constraints, SlabsAreReadBySomeFamiliesAndFusedStepsSeeOneEnd) {
  EXPECT_EQ(broken(on_slabs(0, 16), "direct.bx32.by4.rx4.v4"), kNone);
  EXPECT_EQ(broken(on_slabs(0, 16), "tiled.bx32.by4.cin"), Names{"layer_arrays"});
  constexpr std::string_view kFused = "system.bx32.by4.rx2.ry2.v2.pf2.t2.ch3";
  EXPECT_EQ(broken(on_slabs(kWholeStep), kFused), kNone);
  EXPECT_EQ(broken(on_slabs(kWholeStep, 16), kFused), Names{"layer_arrays"});
  EXPECT_EQ(broken(on_slabs(kWholeStep, 0, "; storage u = i32; storage u_next = i32"), kFused), Names{"layer_arrays"});
}

TEST(Constraints, EveryOneForbidsSomething) {
  // A constraint that nothing breaks would be a check that cannot fail: each has a case above.
  Names seen;
  const auto add = [&](const Problem& problem, std::string_view code, const Limits& limits = kSm90) {
    seen.merge(broken(problem, code, limits));
  };
  add(star(3, 1), "direct.bx8.by2");
  add(on_slabs(0, 16), "tiled.bx32.by4.cin");
  Problem short_ends = star(3, 4, ElementType::f32, 4);
  short_ends.boundaries[2] = Boundary::reflect;
  add(short_ends, "streaming.bx32.by4.cz4.regs");
  add(star(3, 1), "direct.bx32.by4.rx2.v4");
  add(star(3, 1, ElementType::f64), "direct.bx32.by4.rx4.v4");
  add(star(3, 1, ElementType::f32, 509), "direct.bx32.by4.rx4.v4");
  add(star(1, 1), "streaming.bx256.by1.cz4.regs");
  add(star(1, 1), "direct.bx32.by4");
  add(star(3, 4), "tiled.bx8.by8.bz8.cin");
  add(star(3, 1), "tiled.bx32.by4.bz4.rx2.cin");
  add(box(3, 1), "streaming.bx32.by4.cz2.mixed.shfl.u4");
  add(star(3, 2), "direct.bx32.by4.shfl");
  add(star(3, 8), "tiled.bx512.by1.rx8.ry8.rz4.mb16");
  add(box(3, 8, ElementType::f64, 1 << 16), "direct.bx32.by1.ry1");
  add(star(1, 1, ElementType::f32, 1LL << 33), "direct.bx32.by1.raster32");
  add(make_problem(make_builtin(Shape::star, 2, 1), ElementType::f32, {}, {2, {1LL << 31, 8, 1}}),
      "streaming.bx32.by1.cz64.ring.pf1");
  Problem periodic = star(3, 1, ElementType::f32, 510);
  periodic.boundaries[0] = Boundary::periodic;
  add(periodic, "streaming.bx64.by4.rx4.cz16.ring.pf1", limits_of_architecture("sm_80"));
  add(star(3, 1), "streaming.bx8.by5.cz16.ring");
  add(star(3, 1), "streaming.bx32.by4.cz4.regs.sums.u2.pf1");
  add(flat(), "streaming.bx32.by4.cz4.regs.sums");
  add(star(3, 1), "streaming.bx32.by4.cz4.ring.sums.cpasync.pf1", limits_of_architecture("sm_75"));
  add(box(3, 2), "streaming.bx32.by4.rx8.ry4.v4.cz8.shared.u4");
  add(box(3, 4), "direct.bx32.by4.rx8.ry2");
  add(star(3, 1), "streaming.bx32.by4.cz4.ring.pf1.tb2");
  Problem run = star(3, 1);
  add(run, "temporal.bx32.by4.rx2.ry4.v2.pf3.t2");
  run.steps = 8;
  add(run, "temporal.bx48.by4.rx1.ry4.t2");
  add(run, "temporal.bx32.by1.rx2.ry4.v2.pf3.t2.cl16");
  add(run, "temporal.bx32.by4.rx2.ry4.v2.pf3.t2", limits_of_architecture("sm_75"));
  Limits of_several_steps;
  of_several_steps.least_fused_steps = 3;
  add(run, "temporal.bx32.by4.rx2.ry4.v2.pf3.t2", of_several_steps);
  Limits with_points;
  with_points.takes_points = true;
  add(run, "temporal.bx32.by4.rx2.ry4.v2.pf3.t2.sh66", with_points);
  Limits of_little_memory;
  of_little_memory.most_fused_steps = 1;
  add(run, "temporal.bx32.by4.rx2.ry4.v2.pf3.t2", of_little_memory);
  add(run, "temporal.bx32.by4.rx2.ry4.v2.pf3.t4.tg3");
  add(run, "temporal.bx32.by1.rx2.ry8.v2.pf3.t2.rim");
  add(run, "temporal.bx32.by4.rx2.ry4.v2.pf3.t2.heldaside");
  add(run, "temporal.bx32.by4.rx2.ry4.v2.pf3.t2.sh66.cl4");
  add(run, "temporal.bx32.by4.rx2.ry4.v2.pf3.t2.split", limits_of_architecture("sm_80"));
  Problem cornered = make_problem(make_builtin(Shape::box, 3, 1), ElementType::f32,
                                  {Boundary::hold, Boundary::clamp, Boundary::hold}, {3, {512, 512, 512}}, 0, 8);
  add(cornered, "temporal.bx64.by4.rx2.ry4.v2.pf3.t2");
  Problem uneven = star(3, 1, ElementType::f32, 510);
  uneven.steps = 8;
  add(uneven, "temporal.bx32.by4.rx2.ry4.v2.tmarows.pf3.t2");
  Problem mirrored = star(3, 2);
  mirrored.steps = 8;
  add(mirrored, "temporal.bx32.by4.rx1.ry4.pf3.t2");
  Problem clamped = run;
  clamped.boundaries = {Boundary::hold, Boundary::hold, Boundary::clamp};
  add(clamped, "temporal.bx32.by4.rx2.ry4.sums.v2.pf3.t2");
  Problem narrow = star(3, 1, ElementType::f32, 20);
  narrow.steps = 8;
  add(narrow, "temporal.bx32.by4.rx2.ry4.v2.pf3.t2");
  const Stencil two_stages = parse_definition(R"toml(
name = "two"
rank = 3
fields = ["u", "t"]
[[stage]]
t = "u[x+1] - u"
[[stage]]
u = "t - t[x-1]"
)toml",
                                              "two.toml");
  const auto of_two_stages = [&](int stage) {
    return make_problem(two_stages, ElementType::f32, {}, testing::cube(3, 512), 0, 8, stage);
  };
  add(of_two_stages(kWholeStep), "direct.bx32.by4");
  add(of_two_stages(kWholeStep), "system.bx32.by4.rx2.ry2.v2.pf2.t2.ch3");
  add(of_two_stages(0), "system.bx32.by4.rx2.ry2.v2.pf2.t2.ch3");
  const Stencil wave = parse_definition(R"toml(
name = "wave"
rank = 3
fields = ["p", "p_prev", "p_next"]
[update]
p_next = "2*p - p_prev + 0.1*(laplacian(p, accuracy=4) + p[x+1,y+1,z+2])"
[rotate]
p_next = "p"
p = "p_prev"
)toml",
                                        "wave.toml");
  const auto waves = [&](std::int64_t n) {
    return make_problem(wave, ElementType::f32, {}, testing::cube(3, n), 0, 8);
  };
  add(waves(512), "temporal.bx32.by4.rx2.ry4.v2.pf3.t2");
  add(waves(512), "system.bx32.by4.rx2.ry2.v2.pf2.t9.ch3");
  Limits of_one_step = kSm90;
  of_one_step.most_fused_steps = 1;
  add(waves(512), "system.bx32.by4.rx2.ry2.v2.pf2.t2.ch3", of_one_step);
  add(waves(512), "system.bx32.by4.rx2.ry2.v2.pf2.t2.ch3", limits_of_architecture("sm_75"));
  add(waves(512), "system.bx64.by4.rx2.ry2.v2.t2.ch3");
  const Problem flat_waves =
      make_problem(corpus("gray_scott2d"), ElementType::f32, {}, {2, {512, 512, 1}}, 0, 8, kWholeStep);
  add(flat_waves, "system.bx32.by1.rx2.v2.pf2.t2.walky");
  add(waves(512), "system.bx32.by4.rx2.ry1.v2.pf2.t2.ch3");
  add(waves(510), "system.bx32.by4.rx2.ry2.v2.tmarows.pf2.t2.ch3");
  add(make_problem(wave, ElementType::f32, {Boundary::hold, Boundary::hold, Boundary::reflect}, {3, {512, 512, 2}}, 0,
                   8),
      "system.bx32.by4.rx2.ry2.v2.pf2.t2.ch1");
  add(waves(16), "system.bx32.by4.rx2.ry2.v2.pf2.t2.ch3");
  add(waves(512), "system.bx32.by4.rx2.ry2.v2.pf2.t2.once.ch3");
  add(waves(512), "system.bx32.by1.rx2.ry8.v2.pf2.t2.rim.ch3");
  add(waves(512), "system.bx32.by20.rx6.ry4.v2.pf2.t2.ch3");
  const auto forced = [&](const char* text) {
    return make_problem(parse_definition(text, "forced.toml"), ElementType::f32, {}, testing::cube(3, 512), 0, 8);
  };
  add(forced(
          "rank = 3\nfields = [\"u\", \"v\"]\n[update]\nv = \"u + 0.1*laplacian(u) + 0.1*x\"\n[rotate]\nv = \"u\"\n"),
      "temporal.bx32.by4.rx2.ry2.v2.pf3.t2");
  add(forced("rank = 3\nfields = [\"u\", \"w\", \"v\"]\n[update]\nv = \"u[x-1] - w + 0.1*x\"\n[rotate]\nv = \"u\"\nu = "
             "\"w\"\n"),
      "system.bx32.by4.rx2.ry2.v2.pf3.t2.ch3");
  const auto flat_run = [](int order, std::int64_t columns, ElementType type, Boundary walk = Boundary::hold) {
    return make_problem(make_builtin(Shape::star, 2, order), type, {Boundary::hold, walk, walk},
                        {2, {columns, 4096, 1}}, 0, 100);
  };
  add(flat_run(1, 4096, ElementType::f64), "systolic.rx7.pf1.t128.tg8.sh132");
  add(flat_run(1, 4096, ElementType::f64), "systolic.rx7.t30.tg8.sh132");
  add(flat_run(1, 4096, ElementType::f64), "systolic.rx13.pf1.t32.tg8.sh132", of_little_memory);
  add(flat_run(1, 4096, ElementType::bf16), "systolic.rx13.pf1.t32.tg8.sh132", limits_of_architecture("sm_75"));
  add(flat_run(8, 200, ElementType::f32, Boundary::clamp), "systolic.rx7.pf1.t8.tg8.sh132");
  add(flat_run(1, 4096, ElementType::f64), "systolic.rx7.pf1.t96.tg16.sh132");
  add(flat_run(1, 4096, ElementType::f64), "systolic.rx7.pf1.t8.tg8.split.sh132", limits_of_architecture("sm_80"));
  const char* placed =
      "rank = 2\nfields = [\"u\", \"w\", \"v\"]\n[update]\nv = \"u[y-1] - w + 0.1*x\"\n[rotate]\nv = \"u\"\n";
  add(make_problem(parse_definition(placed, "placed.toml"), ElementType::f32, {}, {2, {4096, 4096, 1}}, 0, 100),
      "systolic.rx7.pf1.t8.tg8.sh132");
  Problem on_chip = star(3, 1, ElementType::f32, 64);
  on_chip.steps = 100;
  add(on_chip, "resident.bx512.tx16.ty16.tz8.ex2.t128");
  add(on_chip, "resident.bx512.tx16.ty16.tz8.ex2.t64", of_little_memory);
  add(on_chip, "resident.bx128.by4.tx16.ty16.tz8.ex2.t64");
  add(on_chip, "resident.bx512.ry8.rz4.tx512.ty512.tz512.ex8.t4");
  add(on_chip, "resident.bx512.tx16.ty16.tz2.ex2.t64");
  add(make_problem(corpus("gray_scott2d"), ElementType::f32, {}, {2, {64, 64, 1}}, 0, 100),
      "resident.bx512.tx16.ty16.tz8.ex2.t64");
  add(make_problem(
          parse_definition("rank = 2\nfields = [\"w(t)\", \"u\", \"v\"]\n[update]\nv = \"u[x-1] * w\"\n[rotate]\n"
                           "v = \"u\"\n",
                           "driven.toml"),
          ElementType::f32, {}, {2, {64, 64, 1}}, 0, 200),
      "resident.bx512.tx16.ty16.tz1.ex2.t129");
  add(forced("rank = 3\nfields = [\"u\", \"w\", \"u_next\", \"w_next\"]\n[storage]\nu = \"u8\"\nu_next = "
             "\"u8\"\n[update]\n"
             "u_next = \"w[x-1]\"\nw_next = \"w - u\"\n"),
      "system.bx32.by4.rx2.ry2.v2.tmarows.pf2.t2.ch3");
  for (const Family* family : families()) {
    for_each_constraint(
        *family, [&](const Constraint& constraint) { EXPECT_TRUE(seen.count(constraint.name)) << constraint.name; });
  }
}

TEST(Constraints, FusedStepsAreNoMoreThanCanBeVerified) {
  Problem run = star(3, 1);
  run.steps = 8;
  Limits limits;
  EXPECT_EQ(broken(run, "temporal.bx32.by4.rx2.ry4.v2.pf3.t2", limits), kNone);
  limits.most_fused_steps = 1;
  EXPECT_EQ(broken(run, "temporal.bx32.by4.rx2.ry4.v2.pf3.t2", limits), Names{"temporal_verifiable"});
  EXPECT_EQ(broken(run, "direct.bx32.by4", limits), kNone);
}

TEST(Constraints, CopiedRowsOfFusedStepsStartOn16Bytes) {
  const char* code = "temporal.bx32.by4.rx2.ry4.tmarows.pf3.t2";
  const auto on = [](std::int64_t n, ElementType type, std::int64_t pitch) {
    return make_problem(make_builtin(Shape::star, 3, 1), type, {}, {3, {n, 512, 512}}, pitch, 8);
  };
  EXPECT_EQ(broken(on(512, ElementType::f32, 512), code), Names{});
  EXPECT_EQ(broken(on(508, ElementType::f32, 512), code), Names{});
  EXPECT_EQ(broken(on(510, ElementType::f32, 512), code), Names{"temporal_copies"});
  EXPECT_EQ(broken(on(510, ElementType::f64, 510), code), Names{});
  EXPECT_EQ(broken(on(508, ElementType::f32, 509), code), Names{"tensor_rows"});
  EXPECT_EQ(broken(on(512, ElementType::f16, 512), "temporal.bx32.by8.rx1.ry1.tmarows.pf3.t2"),
            Names{"temporal_copies"})
      << "64 bytes of shared memory";
  EXPECT_EQ(broken(on(512, ElementType::f32, 512), "temporal.bx32.by8.rx12.ry1.tmarows.pf3.t2"), Names{"tensor_box"});
}

TEST(LimitsOfArchitecture, KnowsTheTable) {
  EXPECT_EQ(limits_of_architecture("sm_90"), Limits{});
  EXPECT_EQ(limits_of_architecture("sm_90a"), Limits{});
  EXPECT_EQ(limits_of_architecture("sm_75").max_threads_per_sm, 1024);
  EXPECT_EQ(limits_of_architecture("sm_80").shared_per_block, 163u * 1024);
  EXPECT_EQ(limits_of_architecture("sm_89").max_blocks_per_sm, 24);
  EXPECT_EQ(limits_of_architecture("sm_100f").compute_capability, 100);
}

TEST(LimitsOfArchitecture, IsCarefulWithOnesThatAreNotListed) {
  const Limits unlisted = limits_of_architecture("sm_130");
  EXPECT_EQ(unlisted.compute_capability, 130);
  EXPECT_EQ(unlisted.shared_per_block, 99u * 1024);
  EXPECT_EQ(unlisted.max_threads_per_sm, 1536);
}

TEST(LimitsOfArchitecture, RejectsWhatIsNoArchitecture) {
  for (const char* text :
       {"", "90", "sm90", "sm_", "sm_9", "sm_60", "sm_-90", "sm_90b", "sm_9000", "sm_090", "h200", "SM_90", "sm_90 "}) {
    try {
      limits_of_architecture(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unknown_name);
      EXPECT_THAT(error.what(), HasSubstr("sm_NN"));
    }
  }
}

}  // namespace
}  // namespace stencil_tune
