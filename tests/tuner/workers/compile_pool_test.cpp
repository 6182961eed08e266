#include "tuner/workers/compile_pool.hpp"

#include "stencil_tune/error.hpp"
#include "tuner/subject/stencil_subject.hpp"
#include "tuner/workers/wire.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <map>

#include <sched.h>

namespace stencil_tune {
namespace {

using namespace std::chrono_literals;

const WorkerCommand kFakeCompiler{STENCIL_TUNE_FAKE_WORKER, "compile"};

std::string with_block(int block_x) {
  Tuning tuning;
  tuning.block_x = block_x;
  return code(tuning);
}

/// All results of a pool, by block size.
std::map<int, CompileResult> drain(CompilePool& pool) {
  std::map<int, CompileResult> results;
  while (pool.pending() > 0) {
    if (auto result = pool.poll(60s)) results[parse_code(result->code).block_x] = std::move(*result);
  }
  return results;
}

TEST(UsableCores, AreThoseThisProcessMayRunOn) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(usable_cores(), CPU_COUNT(&before));
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(usable_cores(), 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

TEST(CompilePool, ReturnsEveryCandidateOnce) {
  CompilePool pool(Message::object(), 2, 60s, kFakeCompiler);
  for (int block : {1, 2, 4, 8, 16, 32, 64}) pool.submit(with_block(block));
  EXPECT_EQ(pool.pending(), 7);
  const auto results = drain(pool);
  ASSERT_EQ(results.size(), 7u);
  for (const auto& [block, result] : results) {
    EXPECT_EQ(result.outcome, Outcome::ok);
    EXPECT_EQ(result.kernel.resources.registers, block);
    EXPECT_EQ(result.kernel.cubin.size(), 200000u);
  }
}

TEST(CompilePool, RecordsACompilerThatCrashesAndGoesOn) {
  CompilePool pool(Message::object(), 2, 60s, kFakeCompiler);
  for (int block : {1, 11, 2, 17, 4, 19, 8}) pool.submit(with_block(block));
  const auto results = drain(pool);
  ASSERT_EQ(results.size(), 7u);
  for (int block : {11, 17, 19}) EXPECT_EQ(results.at(block).outcome, Outcome::worker_killed) << block;
  EXPECT_NE(results.at(11).message.find("about to crash"), std::string::npos) << results.at(11).message;
  for (int block : {1, 2, 4, 8}) EXPECT_EQ(results.at(block).outcome, Outcome::ok) << block;
}

TEST(CompilePool, KillsACompilerAtTheDeadline) {
  CompilePool pool(Message::object(), 1, 2s, kFakeCompiler);
  for (int block : {13, 4}) pool.submit(with_block(block));
  const auto results = drain(pool);
  EXPECT_EQ(results.at(13).outcome, Outcome::compile_timeout);
  EXPECT_EQ(results.at(4).outcome, Outcome::ok);
}

TEST(CompilePool, ACompilerThatTakesMoreThanItsMemoryFailsAndGoesOn) {
#ifdef STENCIL_TUNE_SANITIZED
  GTEST_SKIP() << "the sanitizer ends a process that gets no memory";
#endif
  WorkerOptions options;
  options.architecture = "sm_90";
  options.compile_memory_bytes = std::uint64_t{512} << 20;
  const Problem problem = make_problem(make_builtin(Shape::star, 2, 1), ElementType::f32, {}, {2, {64, 64, 1}});
  CompilePool pool({{"subject", StencilSubject(problem).message()}, {"options", options}}, 1, 60s,
                   {STENCIL_TUNE_FAKE_WORKER, "compile greedily"});
  for (int block : {32, 64}) pool.submit(with_block(block));
  const auto results = drain(pool);
  EXPECT_EQ(results.at(32).outcome, Outcome::compile_failed);
  EXPECT_EQ(results.at(32).message, "compiling it takes more than 0.5 GiB of memory");
  EXPECT_EQ(results.at(64).outcome, Outcome::ok) << results.at(64).message;
}

TEST(CompilePool, ThrowsWhatStopsEveryWorker) {
  try {
    CompilePool pool({{"missing", true}}, 2, 60s, kFakeCompiler);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::missing_library);
  }
}

TEST(CompilePool, DoesNotWaitForAWorkerAfterAStop) {
  const std::atomic<bool> stop{true};
  const CompilePool pool(Message::object(), 1, 3600s, {STENCIL_TUNE_FAKE_WORKER, "hang"}, &stop);
  EXPECT_EQ(pool.pending(), 0);
}

TEST(CompilePool, SaysWhenAWorkerCannotEvenStart) {
  EXPECT_THROW(CompilePool({}, 1, 60s, {"/no/such/program"}), Error);
}

TEST(CompilePool, PollsWithoutWorkReturnAtOnce) {
  CompilePool pool(Message::object(), 1, 60s, kFakeCompiler);
  EXPECT_FALSE(pool.poll(1h));
}

}  // namespace
}  // namespace stencil_tune
