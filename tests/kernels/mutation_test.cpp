// Would the checks notice? Each test breaks a template on purpose, and the check of a kernel made from it must fail.
#include "generator/candidates/constraints.hpp"
#include "generator/candidates/family.hpp"
#include "generator/definition/definition.hpp"
#include "tests/kernels/fused/resident_cases.hpp"
#include "tests/kernels/fused/system_cases.hpp"
#include "tests/kernels/fused/systolic_cases.hpp"
#include "tests/kernels/fused/temporal_cases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace stencil_tune {
namespace {

constexpr Boundaries kHold{Boundary::hold, Boundary::hold, Boundary::hold};
constexpr Boundaries kZero{Boundary::zero, Boundary::zero, Boundary::zero};
constexpr Boundaries kPeriodic{Boundary::periodic, Boundary::periodic, Boundary::periodic};
constexpr Boundaries kReflect{Boundary::reflect, Boundary::reflect, Boundary::reflect};

/// A statement that is dropped, or a text that is replaced.
struct Mutation {
  std::string_view name;
  std::string_view file;
  std::string_view text;  ///< what the statement begins with, or the text
  int nth;                ///< of the places in the file that have it
  std::string_view code;  ///< of a candidate that the change breaks
  Boundaries boundaries;
  std::string_view noticed_as;     ///< part of the verdict's message
  std::string_view stencil{};      ///< of whole steps; the others are of a star
  std::string_view replaced_by{};  ///< empty: the statement is dropped
};

void PrintTo(const Mutation& mutation, std::ostream* out) { *out << mutation.name; }

constexpr std::string_view kWrongCell = "should be";
constexpr std::string_view kOverwritten = "another one is still on its way";
constexpr std::string_view kUnawaited = "tensor copies to its shared memory were on their way";

constexpr std::string_view kByTma = "temporal.bx32.by4.rx2.ry4.v2.tmarows.pf2.t3.ch2";
constexpr std::string_view kClustered = "temporal.bx32.by4.rx2.ry4.v2.pf2.t3.ch2.cl2";
constexpr std::string_view kOnChip = "resident.bx64.ry2.rz2.tx9.ty6.tz5.ex2.t6";
constexpr std::string_view kRelay = "systolic.rx7.pf1.t8.tg4.rb2.sh3";  // rows pass from warp to warp

constexpr Mutation kMutations[]{
    {"TiledWithoutBarrier", "tiled.cuh", "barrier(", 1, "tiled.bx16.by4", kZero, kWrongCell},
    {"BarrierThatHalfTheBlockSkips", "tiled.cuh", "barrier();", 1, "tiled.bx16.by4", kZero, "mismatched_wait", "",
     "if (thread_x() < 8) barrier();\n  else barrier();"},
    {"SharedPlanesReadBeforeTheyArrive", "streaming_shared.cuh", "barrier(", 1, "streaming.bx16.by4.cz4.shared", kZero,
     kWrongCell},
    {"SharedPlanesOverwrittenWhileRead", "streaming_shared.cuh", "barrier(", 2, "streaming.bx16.by4.cz4.shared", kZero,
     kWrongCell},
    {"CurrentPlaneReadBeforeItArrives", "streaming_mixed.cuh", "barrier(", 1, "streaming.bx16.by4.cz4.mixed", kZero,
     kWrongCell},
    {"CurrentPlaneOverwrittenWhileRead", "streaming_mixed.cuh", "barrier(", 2, "streaming.bx16.by4.cz4.mixed", kZero,
     kWrongCell},
    {"StageRefilledWhileItIsRead", "streaming_ring.cuh", "wait_phase(", 1, "streaming.bx32.by4.cz4.ring.pf1", kZero,
     ""},
    {"PlaneReadBeforeItArrives", "streaming_ring.cuh", "wait_phase(", 2, "streaming.bx32.by4.cz4.ring.pf1", kZero,
     kUnawaited},
    {"SumsTakeAPlaneBeforeItArrives", "streaming_ring_sums.cuh", "wait_phase(", 3,
     "streaming.bx32.by4.cz4.ring.sums.pf1", kZero, kUnawaited},
    {"TilesTakeAPlaneBeforeItArrives", "streaming_tiles_of_sums.cuh", "wait_phase(", 3,
     "streaming.bx32.by4.cz4.ring.sums.tb2.pf2", kZero, ""},
    {"PlanesReleasedWhileLoadsAreInFlight", "ring.cuh", "fence_async_proxy(", 1, "streaming.bx32.by4.cz4.ring.sums.pf1",
     kZero, "it has not fenced"},
    {"EdgeCellsReadBeforeOthersWriteThem", "edge_cells.cuh", "barrier(", 1, "streaming.bx32.by4.cz4.ring.sums.pf1",
     kReflect, kWrongCell},
    {"EdgeCellsReadBeforeTheyArrive", "edge_cells.cuh", "async_wait<", 1, "streaming.bx32.by4.cz4.ring.sums.pf1",
     kReflect, kOverwritten},
    {"CopiedPlaneAddedBeforeItArrives", "streaming_copied_sums.cuh", "async_wait<", 1,
     "streaming.bx32.by4.cz4.ring.sums.cpasync.pf1", kZero, kWrongCell},
    {"CopiedPlaneAddedBeforeOthersHaveIt", "streaming_copied_sums.cuh", "barrier(", 1,
     "streaming.bx32.by4.cz4.ring.sums.cpasync.pf1", kZero, kWrongCell},

    {"RowsOfOtherWarpsReadBeforeTheyArrive", "temporal_barrier.cuh", "barrier(", 2,
     "temporal.bx32.by4.rx2.ry4.v2.pf2.t3.ch2", kZero, kWrongCell},
    {"RowsOfOtherWarpsOverwrittenWhileRead", "temporal_edges.cuh", "kFirstExchanged + 2", 1,
     "temporal.bx32.by4.rx2.ry4.v2.pf2.t3.ch2", kZero, kWrongCell, "", "kFirstExchanged + 1"},
    {"WarpsThatDoNotWaitForEachOther", "temporal_barrier.cuh", "warp_wait_phase(", 1,
     "temporal.bx32.by4.rx2.ry4.v2.pf2.t3.split.ch2", kZero, kWrongCell},
    {"WarpsThatArriveBeforeTheyPublish", "temporal_pipeline.cuh", "kLevel == Shape::kLevels - 1", 2,
     "temporal.bx32.by4.rx2.ry4.v2.pf2.t3.split.ch2", kZero, kWrongCell, "", "kLevel == 0"},
    {"PlanesTakenBeforeTheyArePassedOn", "temporal_walk.cuh", "levels.begin_step(", 1,
     "temporal.bx32.by4.rx2.ry4.v2.pf2.t4.ch2.tg2", kZero, kWrongCell},
    {"RowsOfOtherBlocksReadBeforeTheyArrive", "temporal_edges.cuh", "warp_wait_phase(", 1, kClustered, kZero, ""},
    {"RowsSentBeforeThereIsABarrier", "temporal_edges.cuh", "cluster_barrier(", 1, kClustered, kZero,
     "before its barrier"},
    {"BlocksThatDoNotWaitForTheirRows", "temporal_pipeline.cuh", "begin_step(", 2, kClustered, kZero, "sent to"},
    {"RowsReadBeforeTmaHasCopiedThem", "temporal_copies.cuh", "warp_wait_phase(", 1, kByTma, kZero, ""},
    {"RowsReleasedWhileLoadsAreInFlight", "temporal_copies.cuh", "fence_async_proxy(", 1, kByTma, kZero,
     "it has not fenced"},
    {"LanesReadBeforeTheyHaveCopied", "temporal_copies.cuh", "lanes.await(", 1, kByTma, kPeriodic, ""},
    {"BarriersThatCountNothing", "temporal_copies.cuh", "copies && Shape", 1,
     "temporal.bx32.by4.rx2.ry4.v2.tmarows.pf2.t4.ch2.tg2", kZero, "counts no arrivals", "", "Shape"},
    {"CopiesOnTheirWayWhenTheBlockEnds", "temporal_walk.cuh", "input.leave(", 1, kByTma, kZero, kUnawaited},
    {"BlocksWhereAPeriodicGridEndsTakeTheOthersLoop", "temporal_tile.cuh", "at_edge || ends", 1, kByTma, kPeriodic,
     "assumption that does not hold", "", "at_edge && ends"},
    {"RunsThatBeginWhileOthersRead", "temporal_walk.cuh", "barrier(", 1, "temporal.bx32.by4.rx2.ry4.v2.pf2.t3.sh3",
     kZero, ""},
    {"RunsThatBeginWhileARimIsInFlight", "temporal_walk.cuh", "async_commit(", 1,
     "temporal.bx32.by3.rx2.ry4.v2.pf2.t2.sh5.rim", kHold, kOverwritten},
    {"RunsThatBeginWhileLoadsAreInFlight", "temporal_copies.cuh", "fence_async_proxy(", 2,
     "temporal.bx32.by4.rx2.ry4.v2.tmarows.pf2.t3.sh3", kZero, "it has not fenced"},
    {"RimReadBeforeItArrives", "temporal_rim.cuh", "async_wait<", 1, "temporal.bx32.by3.rx2.ry4.tmarows.pf2.t2.rim.ch2",
     kHold, kOverwritten},

    {"RowsTakenBeforeTheyAreGiven", "systolic_barrier.cuh", "barrier(", 1, kRelay, kZero, ""},
    {"RowsTakenWhileOthersGiveThem", "systolic_barrier.cuh", "warp_wait_phase(", 1,
     "systolic.rx7.pf1.t8.tg4.rb2.split.sh3", kZero, ""},
    {"RowsGivenWhereTheNextWarpReads", "systolic_rings.cuh", "slot_of_given(slot)", 1, kRelay, kZero, "", "", "slot"},
    {"RowsTakenWhileTheyAreCopied", "systolic_words.cuh", "async_wait<", 1, "systolic.rx7.pf1.t8.tg4.rb2.words.sh3",
     kZero, kOverwritten},
    {"LinesTakenBeforeTheyArrive", "systolic_lines.cuh", "warp_wait_phase(", 1, kRelay, kZero, ""},
    {"LinesBroughtOverWhatIsRead", "systolic_lines.cuh", "fence_async_proxy(", 1, kRelay, kZero, "has not fenced"},
    {"LinesStoredBeforeTheyAreWritten", "systolic_lines.cuh", "fence_async_proxy(", 2, kRelay, kZero, "did not fence"},
    {"LinesOverwrittenBeforeTheyAreStored", "systolic_lines.cuh", "lines_wait_read<", 1, kRelay, kZero, kWrongCell},

    {"CellsMirroredWhileOthersReadThem", "resident.cuh", "barrier(", 1, kOnChip, kReflect, kWrongCell},
    {"TileReadBeforeItIsLoaded", "resident.cuh", "barrier(", 2, kOnChip, kZero, kWrongCell},
    {"StepsThatReadWhatOthersCompute", "resident.cuh", "barrier(", 3, kOnChip, kZero, kWrongCell},
    {"HaloReadBeforeOthersFillIt", "resident.cuh", "barrier(", 5, kOnChip, kZero, kWrongCell},
    {"LettersTakenBeforeTheyAreThere", "resident_mail.cuh", "found[i][part].number == number_", 1, kOnChip, kZero,
     kWrongCell, "", "true"},
    {"LettersOverwrittenBeforeTheyAreRead", "resident_mail.cuh", "number_ % 2", 1, kOnChip, kZero, "can go on", "",
     "0"},
    {"BlocksThatReadButDoNotAnswer", "resident_mail.cuh", "!tile.changes_any()", 1, "resident.bx64.tx9.ty6.tz5.ex1.t16",
     kHold, "can go on", "", "false"},

    {"WarpsThatDoNotMeetWithinALevel", "system_levels.cuh", "barrier(", 1, "system.bx32.by2.rx2.ry2.v2.pf2.t1.ch2",
     kZero, kWrongCell, "yee3d"},
    {"WarpsThatDoNotMeetBetweenSteps", "system_levels.cuh", "step_barrier.await(", 1,
     "system.bx32.by3.rx2.ry4.v1.pf1.t2.ch2", kZero, kWrongCell, "acoustic3d_o2"},
    {"SystemCopiesOnTheirWayWhenTheBlockEnds", "system/system.cuh", "input.leave(", 1,
     "system.bx32.by2.rx4.ry2.v4.pf2.t1.tmarows", kHold, kUnawaited, "yee3d"},

    // No other test writes where nothing may be written.
    {"WriteBeforeTheArray", "window.cuh", "store_row<S, T>(", 1, "direct.bx32.by4", kZero,
     "the bytes around output 0 were written", "",
     "offset + x == 0 ? void(arguments.out[o][-1] = arguments.in[0][0]) : void(), store_row<S, T>("},
    {"WriteOneRowTooMany", "output.cuh", "y < high_y", 1, "tiled.bx16.by4", kHold, "was written", "", "y <= high_y"},
};

HostCase case_of(const Mutation& mutation) {
  const Tuning tuning = parse_code(mutation.code);
  const std::string_view family = tuning.family->name;
  if (family == "system") {
    const Stencil stencil = load_definition("corpus/" + std::string(mutation.stencil) + ".toml");
    return system_case(stencil, ElementType::f32, mutation.boundaries, mutation.code);
  }
  if (family == "systolic") {
    return systolic_case(make_builtin(Shape::star, 2, 1), ElementType::f64, mutation.boundaries, mutation.code);
  }
  if (family == "resident") {
    return resident_case(make_builtin(Shape::star, 3, 1), ElementType::f32, mutation.boundaries, mutation.code);
  }
  if (family == "temporal") {
    return temporal_case(make_builtin(Shape::star, 3, 1), ElementType::f32, mutation.boundaries, mutation.code);
  }
  const Problem problem =
      make_problem(make_builtin(Shape::star, 3, 2), ElementType::f32, mutation.boundaries, Extents{3, {64, 64, 64}});
  return {tuning, awkward_grids(problem, tuning), {}};
}

class MutatedTemplates : public testing::TestWithParam<Mutation> {};

/// Where the nth place that has the text begins. No name goes on before it: warp_barrier() is no barrier().
std::size_t place_of(const Mutation& mutation, std::string_view file) {
  std::size_t place = std::string_view::npos;
  for (int found = 0; found < mutation.nth;) {
    place = file.find(mutation.text, place + 1);
    if (place == std::string_view::npos) break;
    const char before = file[place - 1];
    found += before != '_' && before != '.' && std::isalnum(static_cast<unsigned char>(before)) == 0 ? 1 : 0;
  }
  return place;
}

TEST_P(MutatedTemplates, FailTheirCheck) {
  const Mutation& mutation = GetParam();
  std::vector<TemplateFile> files(template_files().begin(), template_files().end());
  const auto file = std::find_if(files.begin(), files.end(), [&](const TemplateFile& each) {
    return each.name.ends_with("/" + std::string(mutation.file));
  });
  ASSERT_NE(file, files.end()) << "no template " << mutation.file;
  std::string mutated(file->text);
  const std::size_t place = place_of(mutation, mutated);
  ASSERT_NE(place, std::string::npos) << "the template no longer has this text; mutate what replaced it";
  if (mutation.replaced_by.empty()) {
    mutated.erase(place, mutated.find(';', place) - place);
  } else {
    mutated.replace(place, mutation.text.size(), mutation.replaced_by);
  }
  file->text = mutated;
  const HostCase broken = case_of(mutation);
  const auto verdicts = check_cases_on_host(std::span(&broken, 1), files);
  EXPECT_FALSE(verdicts.front().right);
  EXPECT_NE(verdicts.front().message.find(mutation.noticed_as), std::string::npos) << verdicts.front().message;
}

INSTANTIATE_TEST_SUITE_P(, MutatedTemplates, testing::ValuesIn(kMutations),
                         [](const auto& mutation) { return std::string(mutation.param.name); });

TEST(UnmutatedTemplates, PassTheSameChecks) {
  std::vector<HostCase> cases;
  std::set<std::tuple<std::string_view, Boundaries, std::string_view>> seen;
  for (const Mutation& mutation : kMutations) {
    if (seen.emplace(mutation.code, mutation.boundaries, mutation.stencil).second) cases.push_back(case_of(mutation));
  }
  const auto verdicts = check_cases_on_host(cases);
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    EXPECT_TRUE(verdicts[i].right) << describe(cases[i]) << "\n" << verdicts[i].message;
    EXPECT_GT(verdicts[i].cells_checked, 0);
  }
}

}  // namespace
}  // namespace stencil_tune
