// The plan of a run of several steps: what is fused, what is left, and where the buffers end.
#include "generator/kernel_source/signature.hpp"
#include "runtime/library/kernel_state.hpp"
#include "runtime/library/library_parts.hpp"
#include "tests/runtime/compile/fake_compiler.hpp"
#include "tests/runtime/expect_error.hpp"
#include "tests/runtime/fake_driver.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <future>

namespace stencil_tune {
namespace {

constexpr std::uintptr_t kIn = 0x7f0000000000;
constexpr std::uintptr_t kOut = 0x7f1000000000;
constexpr const char* kFour = "temporal.bx32.by4.rx2.ry4.v2.pf3.t4";
constexpr const char* kThree = "temporal.bx32.by4.rx2.ry4.v2.pf3.t3";
constexpr const char* kSingle = "direct.bx64.by4";

std::uint64_t input_of(const RecordedLaunch& launch) {
  std::uint64_t address = 0;
  std::memcpy(&address, launch.argument.data(), sizeof(address));
  return address;
}

class FusedSteps : public testing::Test {
 protected:
  static Stencil stencil() { return find_builtin("heat3d"); }

  static Request request(int steps, std::int64_t n = 64) {
    return {.stencil = stencil(), .extents = {.rank = 3, .n = {n, n, n}}, .steps = steps};
  }

  LibraryParts make_parts() {
    LibraryParts parts;
    parts.driver = [this]() -> Driver& { return driver_; };
    parts.compiler = [this] { return std::make_shared<FakeCompiler>(compiled_); };
    parts.winners = [this](const Problem&, const std::string&) { return winners_; };
    return parts;
  }

  static Library make_library(LibraryParts parts) { return Library(std::make_unique<Library::Impl>(std::move(parts))); }

  void add_winner(int steps, const char* candidate, double rate = 100, std::int64_t n = 64) {
    TrialRecord trial;
    trial.id = static_cast<std::int64_t>(winners_.size()) + 1;
    trial.problem = {.stencil_key = stencil_key(stencil()),
                     .stencil_name = "heat3d",
                     .boundaries = {Boundary::hold, Boundary::hold, Boundary::hold},
                     .extents = {.rank = 3, .n = {n, n, n}},
                     .pitch = n,
                     .steps = steps};
    trial.platform = {.gpu = "Fake GPU",
                      .architecture = "sm_90",
                      .driver = "13.0",
                      .nvrtc = "13.0",
                      .template_signature = template_signature(parse_code(candidate))};
    trial.code = candidate;
    trial.rate = rate;
    winners_.push_back({.trial = trial});
  }

  Kernel prepared(const Request& request) {
    Library library = make_library(make_parts());
    Kernel kernel = library.lookup(request);
    kernel.prepare();
    return kernel;
  }

  /// Launches of advance(steps), and that the newest state ends in the buffer written last.
  std::size_t launches_of(const Kernel& kernel, std::int64_t steps) {
    driver_.launches.clear();
    std::array<void*, 2> fields{at(kIn), at(kOut)};
    kernel.advance(nullptr, fields, steps);
    for (std::size_t i = 0; i < driver_.launches.size(); ++i) {
      EXPECT_EQ(input_of(driver_.launches[i]), i % 2 == 0 ? kIn : kOut) << "launch " << i;
    }
    EXPECT_EQ(fields[0], at(driver_.launches.size() % 2 == 0 ? kIn : kOut));
    return driver_.launches.size();
  }

  FakeDriver driver_;
  std::atomic<int> compiled_{0};
  std::vector<WinnerRecord> winners_;
};

TEST_F(FusedSteps, ARunIsFusedLaunchesAndThenSingleSteps) {
  add_winner(100, kFour);
  add_winner(1, kSingle);
  const Kernel kernel = prepared(request(100));
  EXPECT_EQ(kernel.fused_steps(), 4);
  EXPECT_EQ(kernel.match(), Match::exact);
  EXPECT_EQ(kernel.evidence().code, kFour);
  EXPECT_NE(kernel.evidence().sentence().find(kSingle), std::string::npos) << "what runs the rest is told";
  EXPECT_EQ(launches_of(kernel, 100), 25U);
  EXPECT_EQ(launches_of(kernel, 11), 2U + 3U);
  EXPECT_EQ(driver_.launches[0].function, driver_.launches[1].function);
  EXPECT_NE(driver_.launches[1].function, driver_.launches[2].function);
  EXPECT_EQ(driver_.launches[2].function, driver_.launches[4].function);
}

TEST_F(FusedSteps, WhatARunLeavesIsFusedTooWhereItIsTwoStepsOrMore) {
  add_winner(102, kFour);
  add_winner(1, kSingle);
  const Kernel kernel = prepared(request(102));
  EXPECT_EQ(kernel.fused_steps(), 4);
  EXPECT_EQ(compiled_, 3);
  EXPECT_EQ(launches_of(kernel, 102), 25U + 1U);
  EXPECT_EQ(launches_of(kernel, 11), 2U + 1U + 1U);
  EXPECT_EQ(prepared(request(101)).evidence().sentence().find("left of the run"), std::string::npos);
}

TEST_F(FusedSteps, FewerStepsThanAreFusedAreSingleOnes) {
  add_winner(100, kFour);
  const Kernel kernel = prepared(request(100));
  EXPECT_EQ(launches_of(kernel, 3), 3U);
  const CUfunc_st* single = driver_.launches[0].function;
  EXPECT_EQ(launches_of(kernel, 4), 1U);
  EXPECT_NE(driver_.launches[0].function, single);
  driver_.launches.clear();
  kernel.launch(nullptr, at(kIn), at(kOut));
  EXPECT_EQ(driver_.launches.at(0).function, single) << "launch() is one step";
}

TEST_F(FusedSteps, WhereNoneAreKnownTheEvidenceSaysHowToLookForThem) {
  const auto says = [](const Kernel& kernel) {
    return kernel.evidence().sentence().find(
               "(match: nearest size): no kernel that fuses steps has won for it, which is "
               "often twice as fast and more: `stencil-tune --stencil heat3d --dims "
               "64x64x64 --steps 100` looks for one") != std::string::npos;
  };
  add_winner(1, kSingle);
  EXPECT_TRUE(says(prepared(request(100)))) << prepared(request(100)).evidence().sentence();
  EXPECT_FALSE(says(prepared(request(1)))) << "none are wanted";
  Request far = request(100);
  far.stencil = find_builtin("star3d16r");
  EXPECT_FALSE(says(prepared(far))) << "it reaches too far for any";
  add_winner(100, kSingle);
  EXPECT_FALSE(says(prepared(request(100)))) << "one was looked for";
}

TEST_F(FusedSteps, WhereOnlySingleStepsHaveWonTheModelGoesOnFromWhatFusesStepsOfOthers) {
  add_winner(100, kFour);
  std::vector<WinnerRecord> others = std::exchange(winners_, {});
  others[0].trial.problem.stencil_key = others[0].trial.problem.form = "another";
  const auto looked_up = [&](double rate_of_single_steps, std::int64_t n = 64) {
    winners_.clear();
    add_winner(1, kSingle, rate_of_single_steps, n);
    LibraryParts parts = make_parts();
    parts.all_winners = [&] { return std::span<const WinnerRecord>(others); };
    return make_library(std::move(parts)).lookup(request(100));
  };
  const Kernel fused = looked_up(1);
  EXPECT_EQ(fused.match(), Match::predicted);
  EXPECT_GT(fused.fused_steps(), 1);
  const Kernel single = looked_up(1e6);
  EXPECT_EQ(single.match(), Match::nearest_size) << "it won single steps, not runs";
  EXPECT_EQ(single.fused_steps(), 1);
  EXPECT_NE(single.evidence().sentence().find("the performance model expects none to gain"), std::string::npos)
      << single.evidence().sentence();
  EXPECT_GT(looked_up(1e6, 512).fused_steps(), 1) << "a rate on another grid says nothing about this one";
}

TEST_F(FusedSteps, BoxesOfSingleStepsAreRememberedForAllThatAreFused) {
  add_winner(100, "temporal.bx32.by8.rx2.ry4.v2.pf3.t8");
  const Kernel kernel = prepared(request(100));
  ASSERT_EQ(kernel.fused_steps(), 8);
  const StageKernel& single = kernel.state().stages().front();
  const auto launch = [&](std::int64_t step, std::int64_t slab) {
    const Box box{.low = {1, 1, 1}, .high = {2 + step, 2 + slab, 63}};
    return single.boxes->find_or_make(single.problem, single.tuning, box);
  };
  const auto first = launch(0, 0);
  for (std::int64_t step = 0; step < 12; ++step) {
    for (std::int64_t slab = 0; slab < 6; ++slab) launch(step, slab);
  }
  EXPECT_EQ(launch(0, 0), first);
}

TEST_F(FusedSteps, BuffersTurnOnceALaunchAlsoForAnOddNumberOfFusedSteps) {
  add_winner(100, kThree);
  const Kernel kernel = prepared(request(100));
  EXPECT_EQ(launches_of(kernel, 3), 1U);
  EXPECT_EQ(launches_of(kernel, 6), 2U);
  EXPECT_EQ(launches_of(kernel, 8), 4U);
}

TEST_F(FusedSteps, OneStepNeverGetsAFusedKernelNorANoteOfOne) {
  add_winner(100, kFour, 900);
  const Kernel kernel = prepared(request(1));
  EXPECT_EQ(kernel.fused_steps(), 1);
  EXPECT_EQ(kernel.match(), Match::default_candidate);
  EXPECT_TRUE(kernel.evidence().notes.empty()) << kernel.evidence().sentence();
  EXPECT_EQ(launches_of(kernel, 8), 8U);
}

TEST_F(FusedSteps, AKernelOfOneSweepThatWonARunServesSingleStepsToo) {
  add_winner(100, kSingle);
  EXPECT_EQ(prepared(request(1)).evidence().code, kSingle);
  const Kernel kernel = prepared(request(50));
  EXPECT_EQ(kernel.fused_steps(), 1);
  EXPECT_EQ(kernel.match(), Match::exact);
}

TEST_F(FusedSteps, AKernelOfOneSweepThatWonARunMakesItAlsoWhereAnotherIsFasterInBursts) {
  constexpr const char* kInBursts = "direct.bx32.by8";
  add_winner(100, kSingle, 90);
  add_winner(1, kInBursts, 100);
  EXPECT_EQ(prepared(request(100)).evidence().code, kSingle);
  EXPECT_EQ(prepared(request(50)).evidence().code, kSingle);
  EXPECT_EQ(launches_of(prepared(request(100)), 100), 100U);
  EXPECT_EQ(prepared(request(1)).evidence().code, kInBursts) << "one sweep is raced in bursts";
  EXPECT_EQ(prepared(request(1000)).evidence().code, kInBursts) << "the run of 100 steps is another";
}

TEST_F(FusedSteps, WinnersOfRunsServeOtherNumbersOfStepsAndOtherGrids) {
  add_winner(100, kFour);
  EXPECT_EQ(prepared(request(64)).match(), Match::exact);
  EXPECT_EQ(prepared(request(64)).fused_steps(), 4);
  EXPECT_EQ(prepared(request(1000)).match(), Match::nearest_size) << "more might be fused";
  EXPECT_EQ(prepared(request(100, 80)).fused_steps(), 4);
  EXPECT_EQ(prepared(request(100, 80)).match(), Match::nearest_size);
}

TEST_F(FusedSteps, WhatTheRunOrTheGridCannotTakeIsPassedOver) {
  add_winner(100, kFour, 200);
  add_winner(100, kThree, 100);
  EXPECT_EQ(prepared(request(100)).fused_steps(), 4);
  EXPECT_EQ(prepared(request(3)).fused_steps(), 3);
  EXPECT_EQ(prepared(request(2)).fused_steps(), 1);
  EXPECT_EQ(prepared(request(100, 48)).fused_steps(), 1) << "the tile is wider than the grid";
}

TEST_F(FusedSteps, StencilsThatCannotFuseRunStepByStep) {
  StencilBuilder builder("wave", 3);
  const int u = builder.field("u");
  const int previous = builder.field("u_prev");
  const int next = builder.field("u_next");
  builder.update(next, builder.apply(Operation::subtract, builder.read(u, {1, 0, 0}), builder.read(previous, {})));
  builder.rotate(next, u);
  builder.rotate(u, previous);
  Request wave = request(100);
  wave.stencil = std::move(builder).build();
  EXPECT_EQ(prepared(wave).fused_steps(), 1);
}

TEST_F(FusedSteps, UntilTheyAreCompiledInTheBackgroundRunsGoWithoutThem) {
  class Gated : public FakeCompiler {
   public:
    Gated(std::atomic<int>& compiled, std::shared_future<void> gate) : FakeCompiler(compiled), gate_(std::move(gate)) {}
    CompiledKernel compile(const KernelSource& source, std::string_view arch) override {
      if (source.text.find("kSteps = 4") != std::string::npos) gate_.get();
      return FakeCompiler::compile(source, arch);
    }

   private:
    std::shared_future<void> gate_;
  };
  add_winner(100, kFour);
  std::promise<void> gate;
  LibraryParts parts = make_parts();
  parts.compile_in_background = true;
  parts.compiler = [&, opened = gate.get_future().share()] { return std::make_shared<Gated>(compiled_, opened); };
  Library library = make_library(std::move(parts));
  Kernel kernel = library.lookup(request(100));
  kernel.prepare();
  EXPECT_FALSE(kernel.ready());
  EXPECT_EQ(launches_of(kernel, 9), 9U);
  gate.set_value();
  kernel.wait();
  EXPECT_EQ(launches_of(kernel, 9), 3U);
}

TEST_F(FusedSteps, AMissTunesTheRunAndItsSingleSteps) {
  std::vector<int> steps;
  LibraryParts parts = make_parts();
  parts.tune = [&](const TuningJob& job) {
    for (const Problem& problem : job.problems) steps.push_back(problem.steps);
    return true;
  };
  Library library = make_library(std::move(parts));
  library.lookup(request(100));
  EXPECT_EQ(steps, (std::vector{1, 100}));
}

TEST_F(FusedSteps, RequestsOfOtherStepsAreOthersAndNoStepsAreRefused) {
  EXPECT_NE(request_digest(request(1), 0), request_digest(request(2), 0));
  Library library = make_library(make_parts());
  EXPECT_ERROR(library.lookup(request(0)), ErrorCode::invalid_argument, "steps 0");
}

}  // namespace
}  // namespace stencil_tune
