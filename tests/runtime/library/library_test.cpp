#include "stencil_tune/library.hpp"

#include "generator/kernel_source/signature.hpp"
#include "runtime/compile/caching_compiler.hpp"
#include "runtime/library/library_parts.hpp"
#include "tests/runtime/compile/fake_compiler.hpp"
#include "tests/runtime/expect_error.hpp"
#include "tests/runtime/fake_driver.hpp"
#include "tests/runtime/temporary_folder.hpp"

#include <cmath>
#include <cstring>
#include <future>
#include <limits>
#include <thread>

namespace stencil_tune {
namespace {

constexpr std::uintptr_t kIn = 0x7f0000000000;
constexpr std::uintptr_t kOut = 0x7f1000000000;
constexpr std::uintptr_t kThird = 0x7f2000000000;

/// The input and output address in a launch's argument.
std::pair<std::uint64_t, std::uint64_t> addresses(const RecordedLaunch& launch) {
  std::pair<std::uint64_t, std::uint64_t> pair;
  std::memcpy(&pair.first, launch.argument.data(), 8);
  std::memcpy(&pair.second, launch.argument.data() + 8, 8);
  return pair;
}

/// Compiles what the test lets through.
class GatedCompiler : public FakeCompiler {
 public:
  GatedCompiler(std::atomic<int>& compiled, std::shared_future<void> gate)
      : FakeCompiler(compiled), gate_(std::move(gate)) {}

  CompiledKernel compile(const KernelSource& source, std::string_view arch) override {
    if (source.entry == "stencil_kernel") gate_.get();
    return FakeCompiler::compile(source, arch);
  }

 private:
  std::shared_future<void> gate_;
};

class LibraryTest : public testing::Test {
 protected:
  LibraryTest() : library_(make_library()) {}

  LibraryParts make_parts() {
    LibraryParts parts;
    parts.driver = [this]() -> Driver& { return driver_; };
    parts.compiler = [this] { return std::make_shared<FakeCompiler>(compiled_); };
    parts.winners = [this](const Problem&, const std::string&) {
      ++asked_;
      return winners_;
    };
    return parts;
  }

  static Library make_library(LibraryParts parts) { return Library(std::make_unique<Library::Impl>(std::move(parts))); }
  Library make_library() { return make_library(make_parts()); }

  /// Compiles in the background, once the gate is open.
  Library background_library(std::shared_future<void> gate) {
    LibraryParts parts = make_parts();
    parts.compile_in_background = true;
    parts.compiler = [this, gate] { return std::make_shared<GatedCompiler>(compiled_, gate); };
    return make_library(std::move(parts));
  }

  static Request heat(std::int64_t n = 64) {
    return {.stencil = find_builtin("heat3d"), .extents = {.rank = 3, .n = {n, n, n}}};
  }

  Kernel prepared(const Request& request) {
    Kernel kernel = library_.lookup(request);
    kernel.prepare();
    return kernel;
  }

  WinnerRecord heat_winner(const std::string& code, const std::string& signature) const {
    WinnerRecord winner;
    winner.trial.problem = {.stencil_key = stencil_key(heat().stencil),
                            .stencil_name = "heat3d",
                            .boundaries = heat().boundaries,
                            .extents = heat().extents,
                            .pitch = heat().extents.n[0]};
    winner.trial.platform = {.gpu = driver_.gpus[0].name,
                             .architecture = "sm_90",
                             .driver = "13.0",
                             .nvrtc = "13.0",
                             .template_signature = signature};
    winner.trial.code = code;
    winner.trial.rate = 100;
    return winner;
  }

  FakeDriver driver_;
  std::atomic<int> compiled_{0};
  int asked_ = 0;
  std::vector<WinnerRecord> winners_;
  Library library_;
};

TEST_F(LibraryTest, LookupCompilesNothingAndPrepareOnce) {
  Kernel kernel = library_.lookup(heat());
  EXPECT_EQ(kernel.match(), Match::default_candidate);
  EXPECT_EQ(compiled_, 0);
  kernel.prepare();
  kernel.prepare();
  EXPECT_EQ(compiled_, 1);
  EXPECT_EQ(driver_.count("load_module"), 2) << "the kernel, and the one that copies layers";
}

TEST_F(LibraryTest, TheSameRequestGivesTheSameKernelAnotherGridIsChosenAnew) {
  prepared(heat(64));
  prepared(heat(64));
  EXPECT_EQ(asked_, 1);
  prepared(heat(65));
  EXPECT_EQ(asked_, 2) << "selected per grid, not once a process";
  library_.reload();
  library_.lookup(heat(64));
  EXPECT_EQ(asked_, 3);
}

TEST_F(LibraryTest, GridsWithTheSameSourceShareOneModule) {
  prepared(heat(64));
  prepared(heat(128));
  EXPECT_EQ(compiled_, 1) << "extents are run-time arguments";
}

TEST_F(LibraryTest, LaunchPassesStreamAddressesAndNothingElseHappens) {
  const Kernel kernel = prepared(heat());
  driver_.calls.clear();
  auto* stream = reinterpret_cast<CUstream_st*>(0x77);
  kernel.launch(stream, at(kIn), at(kOut));
  ASSERT_EQ(driver_.launches.size(), 1U);
  EXPECT_EQ(addresses(driver_.launches[0]), (std::pair<std::uint64_t, std::uint64_t>{kIn, kOut}));
  EXPECT_EQ(driver_.launches[0].stream, stream);
  EXPECT_EQ(driver_.calls, std::vector<std::string>{"launch"}) << "no allocation, loading or waiting";
}

TEST_F(LibraryTest, CoefficientsAreTheCallersOrTheStencilsOwn) {
  const Kernel kernel = prepared(heat());
  std::vector<double> coefficients;
  for (const Coefficient& c : heat().stencil.coefficients) coefficients.push_back(c.value);
  kernel.launch(nullptr, at(kIn), at(kOut));
  kernel.launch(nullptr, at(kIn), at(kOut), coefficients);
  coefficients.at(0) += 1;
  kernel.launch(nullptr, at(kIn), at(kOut), coefficients);
  EXPECT_EQ(driver_.launches[0].argument, driver_.launches[1].argument);
  EXPECT_NE(driver_.launches[0].argument, driver_.launches[2].argument);
  coefficients.push_back(0);
  EXPECT_ERROR(kernel.launch(nullptr, at(kIn), at(kOut), coefficients), ErrorCode::invalid_argument, "coefficients");
}

TEST_F(LibraryTest, ABoxLimitsTheLaunchAndMustLieWithinTheUpdatedCells) {
  const Kernel kernel = prepared(heat());
  EXPECT_EQ(kernel.updated_box(), (Box{.low = {1, 1, 1}, .high = {63, 63, 63}}));
  kernel.launch(nullptr, at(kIn), at(kOut));
  kernel.launch(nullptr, at(kIn), at(kOut), {}, Box{.low = {1, 1, 1}, .high = {63, 63, 2}});
  const auto blocks = [](const RecordedLaunch& l) { return l.grid[0] * l.grid[1] * l.grid[2]; };
  EXPECT_LT(blocks(driver_.launches[1]), blocks(driver_.launches[0]));
  kernel.launch(nullptr, at(kIn), at(kOut), {}, Box{.low = {5, 5, 5}, .high = {5, 9, 9}});
  EXPECT_EQ(driver_.launches.size(), 2U) << "an empty box is nothing to do";
  EXPECT_ERROR(kernel.launch(nullptr, at(kIn), at(kOut), {}, Box{.low = {0, 1, 1}, .high = {63, 63, 63}}),
               ErrorCode::invalid_argument, "along x");
}

TEST_F(LibraryTest, BadPointersHaveNamedErrorsAndAreNotLaunched) {
  const Kernel kernel = prepared(heat());
  EXPECT_ERROR(kernel.launch(nullptr, nullptr, at(kOut)), ErrorCode::invalid_argument, "null");
  EXPECT_ERROR(kernel.launch(nullptr, at(kIn), at(kOut + 2)), ErrorCode::invalid_argument, "multiple");
  EXPECT_ERROR(kernel.launch(nullptr, at(kIn), at(kIn)), ErrorCode::invalid_argument, "overlaps");
  EXPECT_ERROR(kernel.launch(nullptr, at(kIn), at(kIn + kernel.field_bytes() - 256)), ErrorCode::invalid_argument,
               "overlaps");
  EXPECT_NO_THROW(kernel.launch(nullptr, at(kIn), at(kIn + kernel.field_bytes())));
  const std::array<void*, 1> one{at(kIn)};
  EXPECT_ERROR(kernel.launch(nullptr, std::span<void* const>(one)), ErrorCode::invalid_argument, "2 fields");
  EXPECT_EQ(driver_.launches.size(), 1U);
}

TEST_F(LibraryTest, FieldsOfTimeAreAsLongAsTheirRunNotAsOthers) {
  Request request = heat();
  request.stencil = parse_stencil("u_next = u + w*u[x-1]; w(t)", 3);
  const Kernel kernel = prepared(request);
  const DevicePointer of_one_step = kIn + kernel.field_bytes(), behind = of_one_step + 256;
  EXPECT_NO_THROW(kernel.launch(nullptr, std::array<void*, 3>{at(of_one_step), at(kIn), at(behind)}));
  EXPECT_ERROR(kernel.launch(nullptr, std::array<void*, 3>{at(of_one_step), at(kIn), at(of_one_step)}),
               ErrorCode::invalid_argument, "overlaps");
}

TEST_F(LibraryTest, MemoryThatTheGpuDoesNotReachIsNamed) {
  const Kernel kernel = prepared(heat());
  driver_.owners = {{kOut, 1}, {kThird, -1}};
  EXPECT_ERROR(kernel.launch(nullptr, at(kIn), at(kOut)), ErrorCode::invalid_argument, "memory of GPU 1");
  EXPECT_ERROR(kernel.launch(nullptr, at(kThird), at(kIn)), ErrorCode::invalid_argument, "no device memory");
  std::array<void*, 2> fields{at(kIn), at(kOut)};
  EXPECT_ERROR(kernel.advance(nullptr, fields, 2), ErrorCode::invalid_argument, "memory of GPU 1");
  EXPECT_TRUE(driver_.launches.empty());
  EXPECT_TRUE(driver_.box_copies.empty());
}

TEST_F(LibraryTest, BadRequestsHaveNamedErrors) {
  Request request = heat();
  request.extents.n[1] = 0;
  EXPECT_ERROR(library_.lookup(request), ErrorCode::invalid_argument, "extent 0");
  request = heat();
  request.pitch = 63;
  EXPECT_ERROR(library_.lookup(request), ErrorCode::invalid_argument, "pitch 63");
  request = heat();
  request.alignment = 24;
  EXPECT_ERROR(library_.lookup(request), ErrorCode::invalid_argument, "24");
  request = heat();
  request.device = 4;
  EXPECT_ERROR(library_.lookup(request), ErrorCode::no_device, "GPU 4");
  EXPECT_ERROR(Library({.database = "/no/such/winners.db"}), ErrorCode::database_io, "/no/such/winners.db");
  setenv("STENCIL_TUNE_DB", "/no/such/winners.db", 1);
  EXPECT_NO_THROW(Library()) << "tuning may make it later";
  setenv("STENCIL_TUNE_DB", std::string(4000, 'A').c_str(), 1);
  EXPECT_ERROR(Library(), ErrorCode::database_io, "AAAA");
  unsetenv("STENCIL_TUNE_DB");
}

TEST_F(LibraryTest, NothingInsideIsNothingToLaunch) {
  const Kernel kernel = prepared(heat(2));
  kernel.launch(nullptr, at(kIn), at(kOut));
  EXPECT_TRUE(driver_.launches.empty());
}

TEST_F(LibraryTest, UnpreparedOrWrongContextIsAnErrorNotALaunch) {
  driver_.gpus.resize(2);
  Kernel kernel = library_.lookup(heat());
  EXPECT_ERROR(kernel.launch(nullptr, at(kIn), at(kOut)), ErrorCode::invalid_argument, "prepare");
  driver_.current = 1;
  EXPECT_ERROR(kernel.prepare(), ErrorCode::invalid_argument, "GPU 1");
  driver_.current = -1;
  EXPECT_ERROR(kernel.prepare(), ErrorCode::invalid_argument, "no CUDA context");
  driver_.current = 0;
  kernel.prepare();
  kernel.launch(nullptr, at(kIn), at(kOut));
  ++driver_.context_number;  // the context was destroyed and made anew at the same address
  EXPECT_ERROR(kernel.launch(nullptr, at(kIn), at(kOut)), ErrorCode::invalid_argument, "prepare");
  kernel.prepare();
  kernel.launch(nullptr, at(kIn), at(kOut));
  EXPECT_EQ(driver_.launches.size(), 2U);
  EXPECT_NE(driver_.launches[0].function, driver_.launches[1].function);
  EXPECT_EQ(compiled_, 1) << "loaded twice, compiled once";
}

TEST_F(LibraryTest, EachGpuHasItsKernel) {
  driver_.gpus.resize(2);
  prepared(heat());
  driver_.current = 1;
  prepared(heat());
  EXPECT_EQ(asked_, 2);
  EXPECT_EQ(driver_.count("load_module"), 2 * 2) << "each with the one that copies layers";
}

TEST_F(LibraryTest, NothingIsUnloadedWhileAKernelLives) {
  {
    std::optional<Kernel> kernel;
    {
      Library library = make_library();
      kernel = library.lookup(heat());
      kernel->prepare();
    }
    EXPECT_EQ(driver_.count("unload_module"), 0);
    kernel->launch(nullptr, at(kIn), at(kOut));
  }
  EXPECT_EQ(driver_.count("unload_module"), 2);
}

TEST_F(LibraryTest, AModuleOfAContextThatIsNotCurrentIsLeftToThatContext) {
  {
    Library library = make_library();
    Kernel kernel = library.lookup(heat());
    kernel.prepare();
    driver_.current = -1;
  }
  EXPECT_EQ(driver_.count("unload_module"), 0);
}

TEST_F(LibraryTest, AdvanceSwapsBuffersAndCarriesTheHeldLayers) {
  const Kernel kernel = prepared(heat());
  std::array<void*, 2> fields{at(kIn), at(kOut)};
  kernel.advance(nullptr, fields, 3);
  ASSERT_EQ(driver_.launches.size(), 3U);
  EXPECT_EQ(addresses(driver_.launches[0]).first, kIn);
  EXPECT_EQ(addresses(driver_.launches[1]).first, kOut);
  EXPECT_EQ(addresses(driver_.launches[2]).first, kIn);
  EXPECT_EQ(fields[0], at(kOut)) << "field 0 holds the newest state";
  ASSERT_EQ(driver_.box_copies.size(), 1U) << "all layers at once";
  EXPECT_EQ(boxes_of(driver_.box_copies[0]).size(), 6U);
  EXPECT_EQ(addresses(driver_.box_copies[0]), std::pair(kIn, kOut));
  kernel.advance(nullptr, fields, 0);
  EXPECT_EQ(driver_.launches.size(), 3U);
  EXPECT_ERROR(kernel.advance(nullptr, fields, -1), ErrorCode::invalid_argument, "-1");
}

TEST_F(LibraryTest, AdvanceTurnsThreeBuffersOfATwoLevelScheme) {
  StencilBuilder builder("wave", 1);
  const int u = builder.field("u");
  const int previous = builder.field("u_prev");
  const int next = builder.field("u_next");
  const NodeId sum = builder.apply(Operation::add, builder.read(u, {-1, 0, 0}), builder.read(u, {1, 0, 0}));
  builder.update(next, builder.apply(Operation::subtract, sum, builder.read(previous, {0, 0, 0})));
  builder.rotate(next, u);
  builder.rotate(u, previous);
  const Kernel kernel = prepared({.stencil = std::move(builder).build(), .extents = {.rank = 1, .n = {100, 1, 1}}});
  std::array<void*, 3> fields{at(kIn), at(kThird), at(kOut)};
  kernel.advance(nullptr, fields, 2);
  EXPECT_EQ(fields, (std::array<void*, 3>{at(kThird), at(kOut), at(kIn)}));
  EXPECT_ERROR(kernel.launch(nullptr, at(kIn), at(kOut)), ErrorCode::invalid_argument, "3 fields");
}

TEST_F(LibraryTest, WhatIsNotYetCompiledRunsOnTheTapTableAndChangesOver) {
  std::promise<void> gate;
  Library library = background_library(gate.get_future().share());
  Kernel kernel = library.lookup(heat());
  kernel.prepare();
  EXPECT_FALSE(kernel.ready());
  kernel.launch(nullptr, at(kIn), at(kOut));
  gate.set_value();
  kernel.wait();
  EXPECT_TRUE(kernel.ready());
  kernel.launch(nullptr, at(kIn), at(kOut));
  ASSERT_EQ(driver_.launches.size(), 2U);
  EXPECT_NE(driver_.launches[0].function, driver_.launches[1].function);
  EXPECT_NE(driver_.launches[0].argument.size(), driver_.launches[1].argument.size());
  EXPECT_EQ(compiled_, 2) << "the table's kernel and the one looked up";
}

TEST_F(LibraryTest, AFailedBackgroundCompileIsToldToWhoWaits) {
  std::promise<void> gate;
  Library library = background_library(gate.get_future().share());
  Kernel kernel = library.lookup(heat());
  kernel.prepare();
  gate.set_exception(std::make_exception_ptr(Error(ErrorCode::compile_failed, "no such instruction")));
  EXPECT_ERROR(kernel.wait(), ErrorCode::compile_failed, "no such instruction");
  EXPECT_NO_THROW(kernel.launch(nullptr, at(kIn), at(kOut))) << "the table goes on serving";
}

TEST_F(LibraryTest, StencilsThatAreNoWeightedSumWaitForTheCompiler) {
  std::promise<void> gate;
  gate.set_value();
  Library library = background_library(gate.get_future().share());
  Kernel kernel = library.lookup({.stencil = load_stencil("corpus/life.toml"), .extents = {2, {64, 64, 1}}});
  kernel.prepare();
  EXPECT_TRUE(kernel.ready());
  EXPECT_EQ(compiled_, 1);
}

TEST_F(LibraryTest, AMissIsTunedOnceAndThenLookedUpAnew) {
  std::vector<TuningJob> jobs;
  LibraryParts parts = make_parts();
  parts.tune = [&](const TuningJob& job) {
    jobs.push_back(job);
    return true;
  };
  Library library = make_library(std::move(parts));
  library.lookup(heat());
  library.lookup(heat());
  ASSERT_EQ(jobs.size(), 1U);
  EXPECT_EQ(asked_, 2) << "before and after";
  ASSERT_EQ(jobs[0].problems.size(), 1U);
  EXPECT_EQ(jobs[0].problems[0].extents, heat().extents);
  EXPECT_TRUE(jobs[0].device.starts_with("GPU-10111213")) << jobs[0].device;
}

class RaceTest : public LibraryTest {
 protected:
  RaceTest() : racing(make_library(make_parts())) {}

  LibraryParts make_parts() {
    LibraryParts parts = LibraryTest::make_parts();
    parts.race = [this](const TuningJob& job, double seconds) {
      jobs.push_back(job);
      EXPECT_EQ(seconds, 2);
      if (fails) throw Error(ErrorCode::launch_failed, "no candidate succeeded");
      winners_ = {heat_winner("direct.bx64.by4", template_signature(parse_code("direct.bx64.by4")))};
      winners_.front().trial.session = "race of 2 s at noon";
    };
    return parts;
  }

  static Request asked(double race_s = 2) {
    Request request = heat();
    request.race_s = race_s;
    return request;
  }

  std::vector<TuningJob> jobs;
  bool fails = false;
  Library racing;
};

TEST_F(RaceTest, IsForWhatNobodyTunedAndOnceForEachRequest) {
  const Kernel untuned = racing.lookup(heat());
  EXPECT_TRUE(jobs.empty()) << "nobody asked for one";
  const Kernel raced = racing.lookup(asked());
  ASSERT_EQ(jobs.size(), 1U);
  ASSERT_EQ(jobs[0].problems.size(), 1U);
  EXPECT_EQ(jobs[0].problems[0].extents, heat().extents);
  EXPECT_EQ(raced.match(), Match::exact);
  EXPECT_EQ(raced.evidence().code, "direct.bx64.by4");
  EXPECT_NE(raced.evidence().sentence().find("it won a race of 2 s at noon: `stencil-tune --stencil heat3d"),
            std::string::npos)
      << raced.evidence().sentence();
  EXPECT_EQ(racing.lookup(heat()).match(), Match::exact) << "the winner is kept";
  EXPECT_EQ(untuned.match(), Match::default_candidate) << "a handle keeps its kernel";
  racing.reload();
  racing.lookup(asked());
  EXPECT_EQ(jobs.size(), 1U) << "an exact match has nothing to race for";
}

TEST_F(RaceTest, IsOfWholeRuns) {
  Request run = asked();
  run.steps = 100;
  racing.lookup(run);
  ASSERT_EQ(jobs.size(), 1U);
  EXPECT_EQ(jobs[0].problems.at(0).steps, 100);
}

TEST_F(RaceTest, ThatFailsLeavesWhatThereIsAndSaysWhy) {
  fails = true;
  const Kernel kernel = racing.lookup(asked());
  racing.lookup(asked());
  EXPECT_EQ(jobs.size(), 1U);
  EXPECT_EQ(kernel.match(), Match::default_candidate);
  for (const Evidence* evidence : {&kernel.evidence(), &kernel.run_evidence()}) {
    EXPECT_NE(evidence->sentence().find("it did not race: no candidate succeeded"), std::string::npos);
  }
}

TEST_F(RaceTest, WithoutAWinnerIsSaid) {
  LibraryParts parts = make_parts();
  parts.race = [](const TuningJob&, double) {};
  Library library = make_library(std::move(parts));
  const Kernel kernel = library.lookup(asked());
  EXPECT_EQ(kernel.match(), Match::default_candidate);
  EXPECT_NE(kernel.evidence().sentence().find("it raced, but no winner of just this"), std::string::npos)
      << kernel.evidence().sentence();
}

TEST_F(RaceTest, IsForAllRequestsWhereTheLibrarySaysSoButForGpusByName) {
  LibraryParts parts = make_parts();
  parts.race_s = 2;
  Library library = make_library(std::move(parts));
  Request by_name = heat();
  by_name.gpu = "h200";
  library.lookup(by_name);
  EXPECT_TRUE(jobs.empty());
  EXPECT_EQ(library.lookup(heat()).match(), Match::exact);
}

TEST_F(RaceTest, OfNoTimeIsRefused) {
  for (const double race_s : {-1.0, std::numeric_limits<double>::infinity(), std::nan("")}) {
    EXPECT_ERROR(racing.lookup(asked(race_s)), ErrorCode::invalid_argument, "Request::race_s");
  }
}

TEST_F(LibraryTest, AStaleWinnerServesWhileItIsTunedAnew) {
  winners_ = {heat_winner("direct.bx32.by8", "0123456789abcdef")};
  std::promise<void> gate;
  std::promise<void> tuned;
  std::atomic<int> jobs = 0;
  LibraryParts parts = make_parts();
  parts.tune = [&](const TuningJob& job) {
    EXPECT_EQ(job.problems.size(), 1U);
    ++jobs;
    gate.get_future().wait();
    return true;
  };
  parts.reload = [&] {
    winners_ = {heat_winner("direct.bx64.by4", template_signature(parse_code("direct.bx64.by4")))};
    tuned.set_value();
  };
  Library library = make_library(std::move(parts));
  const Kernel stale = library.lookup(heat());
  EXPECT_EQ(stale.match(), Match::stale);
  EXPECT_EQ(stale.evidence().code, "direct.bx32.by8");
  gate.set_value();
  tuned.get_future().wait();
  const Kernel fresh = library.lookup(heat());
  EXPECT_EQ(fresh.match(), Match::exact);
  EXPECT_EQ(stale.match(), Match::stale) << "a handle keeps its kernel";
  EXPECT_EQ(jobs, 1);
}

TEST_F(LibraryTest, AStaleWinnerThatCannotBeTunedAnewServesOnAndSaysWhy) {
  winners_ = {heat_winner("direct.bx32.by8", "0123456789abcdef")};
  std::promise<void> tuned;
  std::atomic<int> jobs = 0;
  LibraryParts parts = make_parts();
  parts.tune = [&](const TuningJob&) -> bool {
    ++jobs;
    throw Error(ErrorCode::file_io, "no such program");
  };
  parts.reload = [&] { tuned.set_value(); };
  Library library = make_library(std::move(parts));
  library.lookup(heat());
  tuned.get_future().wait();
  const Kernel again = library.lookup(heat());
  EXPECT_EQ(again.match(), Match::stale);
  EXPECT_NE(again.evidence().sentence().find("no such program"), std::string::npos) << again.evidence().sentence();
  EXPECT_EQ(jobs, 1) << "once for each request";
}

TEST_F(LibraryTest, WhatSpilledWhenItWasPreparedIsPassedOverFromThenOn) {
  struct Spilling : FakeCompiler {
    using FakeCompiler::FakeCompiler;
    CompiledKernel compile(const KernelSource& source, std::string_view arch) override {
      CompiledKernel kernel = FakeCompiler::compile(source, arch);
      kernel.resources = {.registers = 255, .spill_bytes = 4000};
      return kernel;
    }
  };
  std::vector others{heat_winner("direct.bx64.by4", ""), heat_winner("streaming.bx32.by8.cz8.shared", "")};
  for (WinnerRecord& other : others) other.trial.problem.stencil_key = "another";
  const TemporaryFolder folder;
  LibraryParts parts = make_parts();
  parts.all_winners = [&] { return std::span<const WinnerRecord>(others); };
  parts.compiler = [&] {
    return std::make_shared<CachingCompiler>(
        BinaryCache(folder.path() / "cache"), [this] { return std::make_unique<Spilling>(compiled_); }, "13.0");
  };
  const auto code_of_a_process = [&] {
    Library library = make_library(parts);
    Kernel kernel = library.lookup(heat());
    EXPECT_EQ(kernel.match(), Match::predicted);
    kernel.prepare();
    return kernel.evidence();
  };
  const Evidence first = code_of_a_process(), second = code_of_a_process();
  EXPECT_NE(second.code, first.code);
  EXPECT_NE(second.sentence().find("passed over " + first.code), std::string::npos) << second.sentence();
}

TEST_F(LibraryTest, AStaleWinnersBinaryComesFromTheCache) {
  winners_ = {heat_winner("direct.bx32.by8", "0123456789abcdef")};
  const TemporaryFolder folder;
  LibraryParts parts = make_parts();
  parts.compiler = [&] {
    return std::make_shared<CachingCompiler>(
        BinaryCache(folder.path() / "cache"), [this] { return std::make_unique<FakeCompiler>(compiled_); }, "13.0");
  };
  for (int process = 0; process < 2; ++process) {
    Library library = make_library(parts);
    Kernel kernel = library.lookup(heat());
    EXPECT_EQ(kernel.match(), Match::stale);
    kernel.prepare();
  }
  EXPECT_EQ(compiled_, 1);
}

TEST_F(LibraryTest, RequestsThatDifferAnywhereAreOthers) {
  const RequestDigest digest = request_digest(heat(), 0);
  EXPECT_EQ(request_digest(heat(), 0), digest);
  Request renamed = heat();
  renamed.stencil.name = "another";
  EXPECT_EQ(request_digest(renamed, 0), digest) << "names say nothing";
  std::vector<Request> others(16, heat());
  others[15].race_s = 2;
  others[14].objective = Objective::energy;
  others[12].stencil.boundary[1] = Boundary::zero;
  others[13].stencil.profiles.push_back({0, along_axis(1)});
  others[0].pitch = 72;
  others[1].alignment = 16;
  others[2].stencil.coefficients.front().value += 1;
  others[3].stencil.nodes.back().operands[0] ^= 1;
  others[4].type = ElementType::f64;
  others[5].steps = 2;
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    others[6 + axis].boundaries[axis] = Boundary::zero;
    others[9 + axis].extents.n[axis] += 1;
  }
  for (std::size_t i = 0; i < others.size(); ++i) EXPECT_NE(request_digest(others[i], 0), digest) << i;
  EXPECT_NE(request_digest(heat(), 1), digest);
}

TEST_F(LibraryTest, ManyThreadsPrepareAndLaunchOneKernel) {
  Kernel kernel = library_.lookup(heat());
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      Kernel own = library_.lookup(heat());
      own.prepare();
      for (int j = 0; j < 50; ++j) own.launch(nullptr, at(kIn), at(kOut));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(compiled_, 1);
  EXPECT_EQ(driver_.launches.size(), 400U);
}

}  // namespace
}  // namespace stencil_tune
