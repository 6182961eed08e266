#include "tuner/workers/process.hpp"

#include "stencil_tune/error.hpp"

#include <gtest/gtest.h>

#include <csignal>

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace stencil_tune {
namespace {

using namespace std::chrono_literals;
using Clock = ChildProcess::Clock;

WorkerCommand fake(const std::string& role) { return {STENCIL_TUNE_FAKE_WORKER, role}; }

TEST(ChildProcess, AnswersMessagesLargerThanASocketHolds) {
  ChildProcess child(fake("echo"));
  const Message large = Message::binary(std::vector<std::uint8_t>(3'000'000, 42));
  ASSERT_TRUE(child.send({{"bytes", large}}, Clock::now() + 30s));
  const auto answer = child.receive(Clock::now() + 30s);
  ASSERT_EQ(answer.line, ChildProcess::Line::message);
  EXPECT_EQ(answer.message.at("bytes"), large);
}

TEST(ChildProcess, KeepsWhatTheChildPrintsOutOfTheProtocol) {
  ChildProcess child(fake("echo"));
  ASSERT_TRUE(child.send("hello", Clock::now() + 30s));
  EXPECT_EQ(child.receive(Clock::now() + 30s).message, Message("hello"));
}

TEST(ChildProcess, GivesUpWaitingAtTheDeadline) {
  ChildProcess child(fake("hang"));
  EXPECT_EQ(child.receive(Clock::now() + 20ms).line, ChildProcess::Line::timeout);
}

TEST(ChildProcess, GivesUpSendingToOneThatDoesNotRead) {
  ChildProcess child(fake("hang"));
  const Message large = Message::binary(std::vector<std::uint8_t>(8'000'000, 1));
  EXPECT_FALSE(child.send(large, Clock::now() + 50ms));
}

TEST(ChildProcess, SaysHowItEndedAndWhatItWroteLast) {
  ChildProcess child({"/bin/sh", "-c", "echo the device is on fire >&2; kill -SEGV $$"});
  EXPECT_EQ(child.receive(Clock::now() + 30s).line, ChildProcess::Line::closed);
  const std::string how = child.end();
  EXPECT_NE(how.find("signal 11"), std::string::npos) << how;
  EXPECT_NE(how.find("the device is on fire"), std::string::npos) << how;
}

TEST(ChildProcess, SaysItsExitStatus) {
  ChildProcess child({"/bin/sh", "-c", "exit 7"});
  child.receive(Clock::now() + 30s);
  EXPECT_NE(child.end().find("status 7"), std::string::npos);
}

TEST(ChildProcess, SurvivesWritingToOneThatIsGone) {
  ChildProcess child({"/bin/sh", "-c", "exit 0"});
  child.receive(Clock::now() + 30s);
  EXPECT_FALSE(child.send("anyone there?", Clock::now() + 1s));  // and no SIGPIPE ends this test
}

TEST(ChildProcess, RefusesAProgramThatIsNotThere) {
  try {
    ChildProcess child({"/no/such/program"});
    FAIL() << "it was started";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::internal);
    EXPECT_NE(std::string(error.what()).find("/no/such/program"), std::string::npos) << error.what();
  }
}

TEST(ChildProcess, DoesNotOutliveItsParent) {
  int line[2];
  ASSERT_EQ(::pipe(line), 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    // The grandchild says that it lives, then hangs; this process dies without cleaning up.
    ChildProcess child({STENCIL_TUNE_FAKE_WORKER, "cling", std::to_string(line[1])});
    child.receive(Clock::now() + 300s);
    ::_exit(0);
  }
  ::close(line[1]);
  char text[32] = {};
  ASSERT_GT(::read(line[0], text, sizeof text), 0);
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  // Only the grandchild still holds the other end of the pipe: it closes when the grandchild is gone.
  pollfd closed{line[0], POLLIN, 0};
  ASSERT_EQ(::poll(&closed, 1, 60'000), 1);
  EXPECT_EQ(::read(line[0], text, sizeof text), 0);
  ::close(line[0]);
}

TEST(ChildProcess, DoesNotSeeInterruptionsOfItsGroup) {
  ChildProcess child({"/bin/sh", "-c", "kill -INT $$; kill -TERM $$; exit 9"});
  child.receive(Clock::now() + 30s);
  EXPECT_NE(child.end().find("status 9"), std::string::npos);
}

}  // namespace
}  // namespace stencil_tune
