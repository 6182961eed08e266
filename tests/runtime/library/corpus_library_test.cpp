// Every stencil of the corpus through the library: looked up, prepared, launched and advanced on a driver that notes it
// all down. What the kernels compute is held by tests/kernels/corpus_kernels_test.cpp.
#include "generator/candidates/space.hpp"
#include "generator/kernel_source/signature.hpp"
#include "runtime/library/library_parts.hpp"
#include "stencil_tune/error.hpp"
#include "stencil_tune/library.hpp"
#include "tests/runtime/compile/fake_compiler.hpp"
#include "tests/runtime/fake_driver.hpp"
#include "tests/runtime/library/corpus_cases.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

namespace stencil_tune {
namespace {

constexpr std::uintptr_t kFirstField = 0x7f0000000000;
constexpr std::uintptr_t kFieldDistance = 0x100000000;
constexpr double kTunedRate = 123;
constexpr int kSteps = 5;  // two or three buffers are not back where they were

class CorpusLibrary : public testing::TestWithParam<std::string> {
 protected:
  CorpusLibrary() : stencil_(corpus(GetParam())), library_(make_library()) {
    for (std::size_t i = 0; i < stencil_.fields.size(); ++i) {
      fields_.push_back(reinterpret_cast<void*>(kFirstField + i * kFieldDistance));
    }
  }

  Request request() const {
    return {.stencil = stencil_,
            .type = stencil_.element.value_or(ElementType::f32),
            .extents = corpus_extents(stencil_.rank)};
  }

  Kernel prepared() {
    Kernel kernel = library_.lookup(request());
    kernel.prepare();
    return kernel;
  }

  /// The addresses at the head of a launch's argument: inputs, then outputs.
  std::vector<void*> addresses(const RecordedLaunch& launch, std::size_t count) const {
    std::vector<void*> found(count);
    std::memcpy(found.data(), launch.argument.data(), count * sizeof(void*));
    return found;
  }

  void* field(int index) const { return fields_[static_cast<std::size_t>(index)]; }

  Stencil stencil_;
  FakeDriver driver_;
  std::atomic<int> compiled_{0};
  bool tuned_ = false;  ///< whether the database knows a winner for every stage
  Library library_;
  std::vector<void*> fields_;

 private:
  Library make_library() {
    LibraryParts parts;
    parts.driver = [this]() -> Driver& { return driver_; };
    parts.compiler = [this] { return std::make_shared<FakeCompiler>(compiled_); };
    parts.winners = [this](const Problem& problem, const std::string&) { return winners_of(problem); };
    return Library(std::make_unique<Library::Impl>(std::move(parts)));
  }

  std::vector<WinnerRecord> winners_of(const Problem& problem) const {
    if (!tuned_ || problem.stage == kWholeStep) return {};  // each stage alone was tuned
    WinnerRecord winner;
    TrialRecord& trial = winner.trial;
    trial.problem = {.stencil_key = stencil_key(problem.stencil),
                     .stencil_name = problem.stencil.name,
                     .stage = problem.stage,
                     .type = problem.type,
                     .boundaries = problem.boundaries,
                     .extents = problem.extents,
                     .pitch = problem.pitch};
    const Tuning tuning = *default_candidate(family_named("direct"), problem, limits_of_architecture("sm_90"));
    trial.platform = {.gpu = driver_.gpus[0].name,
                      .architecture = "sm_90",
                      .driver = "13.0",
                      .nvrtc = "13.0",
                      .template_signature = template_signature(tuning)};
    trial.code = code(tuning);
    trial.rate = kTunedRate;
    return {winner};
  }
};

TEST_P(CorpusLibrary, LaunchesEachStageOnItsOwnFields) {
  const Kernel kernel = prepared();
  EXPECT_EQ(kernel.stages(), static_cast<int>(stencil_.stages.size()));
  kernel.launch(nullptr, fields_);
  ASSERT_EQ(driver_.launches.size(), stencil_.stages.size());
  for (int stage = 0; stage < kernel.stages(); ++stage) {
    const Tuning tuning = parse_code(kernel.evidence(stage).code);
    if (tuning.planes == Planes::ring) continue;  // tensor maps come before the addresses
    const StageFacts facts = analyse(stencil_, stage);
    std::vector<void*> expected;
    for (const int input : facts.inputs) expected.push_back(field(input));
    for (const int output : facts.outputs) expected.push_back(field(output));
    EXPECT_EQ(addresses(driver_.launches[static_cast<std::size_t>(stage)], expected.size()), expected) << stage;
  }
}

TEST_P(CorpusLibrary, FindsTheWinnerOfEachStage) {
  tuned_ = true;
  const Kernel kernel = prepared();
  EXPECT_EQ(kernel.match(), Match::exact);
  for (int stage = 0; stage < kernel.stages(); ++stage) EXPECT_EQ(kernel.evidence(stage).gstencils, kTunedRate);
}

TEST_P(CorpusLibrary, AdvancesThroughItsRotations) {
  const Kernel kernel = prepared();
  if (stencil_.rotations.empty()) {
    EXPECT_THROW(kernel.advance(nullptr, fields_, kSteps), Error);
    return;
  }
  std::vector<void*> fields = fields_;
  kernel.advance(nullptr, fields, kSteps);
  EXPECT_EQ(driver_.launches.size(), kSteps * stencil_.stages.size());
  EXPECT_EQ(std::set<void*>(fields.begin(), fields.end()), std::set<void*>(fields_.begin(), fields_.end()))
      << "the same buffers, in other places";
  EXPECT_NE(fields, fields_);
}

INSTANTIATE_TEST_SUITE_P(Corpus, CorpusLibrary, testing::ValuesIn(corpus_names()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace stencil_tune
