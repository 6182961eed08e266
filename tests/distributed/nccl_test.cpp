// NCCL behind the Communicator: what is asked of it, and what becomes of its errors. No GPU: functions of the test's
// own.
#include "distributed/nccl_communicator.hpp"

#include "tests/runtime/expect_error.hpp"
#include "tests/runtime/fake_driver.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#if __has_include(<nccl.h>) && __has_include(<cuda_runtime.h>)
#include <nccl.h>
static_assert(ncclSuccess == stencil_tune::kNcclSuccess && ncclInProgress == stencil_tune::kNcclInProgress &&
              ncclInt8 == stencil_tune::kNcclBytes);
static_assert(sizeof(ncclResult_t) == sizeof(int) && sizeof(ncclDataType_t) == sizeof(int));
#endif

namespace stencil_tune {
namespace {

/// What the functions below were asked, and what they answer.
struct Asked {
  std::vector<std::string> calls;
  int result = kNcclSuccess;  ///< result of exchanges
  int state = kNcclSuccess;   ///< state of work that was begun
  int until_done = 0;         ///< looks at the state before work in progress is done
};
Asked asked;

int note(std::string call) {
  asked.calls.push_back(std::move(call));
  return kNcclSuccess;
}

/// A stream that is done only when a test says so.
class StreamDriver : public FakeDriver {
 public:
  bool stream_done(CUstream_st*) override { return done; }
  bool done = true;
};

class NcclCommunicatorTest : public ::testing::Test {
 protected:
  NcclCommunicatorTest() {
    asked = {};
    api_.error_string = [](int) { return "remote process exited"; };
    api_.user_rank = [](ncclComm*, int* rank) { return (*rank = 1, kNcclSuccess); };
    api_.count = [](ncclComm*, int* count) { return (*count = 4, kNcclSuccess); };
    api_.device = [](ncclComm*, int* device) { return (*device = 0, kNcclSuccess); };
    api_.abort = [](ncclComm*) { return note("abort"); };
    api_.group_start = [] { return note("start"); };
    api_.group_end = [] { return (note("end"), asked.result); };
    api_.send = [](const void*, std::size_t bytes, int type, int peer, ncclComm*, CUstream_st*) {
      EXPECT_EQ(type, kNcclBytes);
      return note("send " + std::to_string(bytes) + " to " + std::to_string(peer));
    };
    api_.receive = [](void*, std::size_t bytes, int, int peer, ncclComm*, CUstream_st*) {
      return note("receive " + std::to_string(bytes) + " from " + std::to_string(peer));
    };
    api_.async_error = [](ncclComm*, int* state) {
      *state = asked.until_done > 0 ? kNcclInProgress : asked.state;
      if (asked.until_done > 0) --asked.until_done;
      return kNcclSuccess;
    };
  }

  NcclCommunicator communicator(double timeout_s = 60) {
    return NcclCommunicator(api_, driver_, reinterpret_cast<ncclComm*>(0x10), timeout_s);
  }
  static void exchange(NcclCommunicator& ranks) {
    const std::vector<Transfer> sends{{0, nullptr, 16}, {2, nullptr, 24}}, receives{{2, nullptr, 24}};
    ranks.exchange(sends, receives, nullptr);
  }

  NcclApi api_{.library = SharedLibrary::open("libc.so.6").value()};
  StreamDriver driver_;
};

TEST_F(NcclCommunicatorTest, AnExchangeIsOneGroup) {
  NcclCommunicator ranks = communicator();
  EXPECT_EQ(ranks.rank(), 1);
  EXPECT_EQ(ranks.size(), 4);
  exchange(ranks);
  EXPECT_EQ(asked.calls,
            (std::vector<std::string>{"start", "send 16 to 0", "send 24 to 2", "receive 24 from 2", "end"}));
}

TEST_F(NcclCommunicatorTest, WhatIsStillInProgressIsWaitedFor) {
  NcclCommunicator ranks = communicator();
  asked.result = kNcclInProgress;
  asked.until_done = 5;
  exchange(ranks);
  EXPECT_EQ(asked.until_done, 0);
  EXPECT_EQ(asked.calls.back(), "end");
}

TEST_F(NcclCommunicatorTest, AnErrorAbortsOnceAndSaysWhatNcclSays) {
  NcclCommunicator ranks = communicator();
  asked.state = 6;
  EXPECT_ERROR(ranks.check(), ErrorCode::launch_failed,
               "rank 1 of 4 cannot exchange: NCCL says 'remote process exited'");
  EXPECT_ERROR(ranks.check(), ErrorCode::launch_failed, "was aborted after an error; make a new one");
  EXPECT_EQ(asked.calls, (std::vector<std::string>{"abort"}));
}

TEST_F(NcclCommunicatorTest, ARankThatIsLostWhileOthersWaitEndsTheirWaiting) {
  NcclCommunicator ranks = communicator();
  driver_.done = false;
  asked.until_done = 3;
  asked.state = 6;
  EXPECT_ERROR(ranks.wait(nullptr), ErrorCode::launch_failed, "another rank may be lost");
}

TEST_F(NcclCommunicatorTest, WaitingEndsAfterTheTimeout) {
  NcclCommunicator ranks = communicator(0.02);
  driver_.done = false;
  EXPECT_ERROR(ranks.wait(nullptr), ErrorCode::timeout, "another rank does not answer");
  EXPECT_EQ(asked.calls.back(), "abort");
}

TEST_F(NcclCommunicatorTest, RanksThatGatherAgainNeitherAllocateNorFree) {
  api_.all_gather = [](const void*, void*, std::size_t bytes, int, ncclComm*, CUstream_st*) {
    return note("gather " + std::to_string(bytes));
  };
  const std::vector<std::byte> few(8), many(5000);
  {
    NcclCommunicator ranks = communicator();
    for (int i = 0; i < 3; ++i) EXPECT_EQ(ranks.all_gather(few).size(), 4 * few.size());
    EXPECT_EQ(driver_.count("allocate"), 2);
    EXPECT_EQ(driver_.count("free"), 0);
    EXPECT_EQ(ranks.all_gather(many).size(), 4 * many.size()) << "more room is made";
    EXPECT_EQ(driver_.count("allocate"), 4);
  }
  EXPECT_EQ(driver_.count("free"), 4);
  EXPECT_EQ(asked.calls, (std::vector<std::string>{"gather 8", "gather 8", "gather 8", "gather 5000"}));
}

TEST_F(NcclCommunicatorTest, WhatStandsInAContextThatIsGoneIsNotFreed) {
  api_.all_gather = [](const void*, void*, std::size_t, int, ncclComm*, CUstream_st*) { return kNcclSuccess; };
  {
    NcclCommunicator ranks = communicator();
    ranks.all_gather(std::vector<std::byte>(8));
    driver_.current = -1;
  }
  EXPECT_EQ(driver_.count("free"), 0);
}

TEST_F(NcclCommunicatorTest, ACommunicatorOfAnotherGpuIsRefused) {
  api_.device = [](ncclComm*, int* device) { return (*device = 3, kNcclSuccess); };
  EXPECT_ERROR(communicator(), ErrorCode::invalid_argument, "is on GPU 3, the current CUDA context on GPU 0");
  EXPECT_ERROR(NcclCommunicator(api_, driver_, nullptr, 1), ErrorCode::invalid_argument, "null pointer");
}

/// Where a libnccl may be; the tests need none.
std::optional<NcclApi> real_nccl() {
  std::vector<std::string> places{"libnccl.so.2", "/usr/local/cuda/lib64"};
  if (const char* home = std::getenv("CUDA_HOME")) places.push_back(std::string(home) + "/lib64");
  for (const std::string& place : places) {
    try {
      return NcclApi::open(place);
    } catch (const Error&) {
    }
  }
  return std::nullopt;
}

TEST(NcclApi, TheLibraryItselfHasWhatWeCall) {
  const auto api = real_nccl();
  if (!api) GTEST_SKIP() << "no libnccl here";
  int version = 0;
  EXPECT_EQ(api->version(&version), kNcclSuccess);
  EXPECT_GE(version, 21400) << "communicators that do not block";
  EXPECT_STREQ(api->error_string(kNcclSuccess), "no error");
  int count = 0;
  EXPECT_NE(api->count(nullptr, &count), kNcclSuccess) << "there is no such communicator";
  EXPECT_NE(api->send(nullptr, 1, kNcclBytes, 0, nullptr, nullptr), kNcclSuccess);
}

TEST(NcclApi, WhereItIsMissingIsSaid) {
  EXPECT_ERROR(NcclApi::open("/nowhere/libnccl.so.2"), ErrorCode::missing_library, "STENCIL_TUNE_NCCL");
  EXPECT_ERROR(NcclApi::open("libc.so.6"), ErrorCode::missing_library, "ncclGetVersion");
}

}  // namespace
}  // namespace stencil_tune
