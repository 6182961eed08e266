#include "tuner/workers/process.hpp"

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

TEST(ChildProcess, answers_messages_larger_than_a_socket_holds) {
  ChildProcess child(fake("echo"));
  const Message large = Message::binary(std::vector<std::uint8_t>(3'000'000, 42));
  ASSERT_TRUE(child.send({{"bytes", large}}, Clock::now() + 30s));
  const auto answer = child.receive(Clock::now() + 30s);
  ASSERT_EQ(answer.line, ChildProcess::Line::message);
  EXPECT_EQ(answer.message.at("bytes"), large);
}

TEST(ChildProcess, keeps_what_the_child_prints_out_of_the_protocol) {
  ChildProcess child(fake("echo"));
  ASSERT_TRUE(child.send("hello", Clock::now() + 30s));
  EXPECT_EQ(child.receive(Clock::now() + 30s).message, Message("hello"));
}

TEST(ChildProcess, gives_up_waiting_at_the_deadline) {
  ChildProcess child(fake("hang"));
  EXPECT_EQ(child.receive(Clock::now() + 20ms).line, ChildProcess::Line::timeout);
}

TEST(ChildProcess, gives_up_sending_to_one_that_does_not_read) {
  ChildProcess child(fake("hang"));
  const Message large = Message::binary(std::vector<std::uint8_t>(8'000'000, 1));
  EXPECT_FALSE(child.send(large, Clock::now() + 50ms));
}

TEST(ChildProcess, says_how_it_ended_and_what_it_wrote_last) {
  ChildProcess child({"/bin/sh", "-c", "echo the device is on fire >&2; kill -SEGV $$"});
  EXPECT_EQ(child.receive(Clock::now() + 30s).line, ChildProcess::Line::closed);
  const std::string how = child.end();
  EXPECT_NE(how.find("signal 11"), std::string::npos) << how;
  EXPECT_NE(how.find("the device is on fire"), std::string::npos) << how;
}

TEST(ChildProcess, says_its_exit_status) {
  ChildProcess child({"/bin/sh", "-c", "exit 7"});
  child.receive(Clock::now() + 30s);
  EXPECT_NE(child.end().find("status 7"), std::string::npos);
}

TEST(ChildProcess, survives_writing_to_one_that_is_gone) {
  ChildProcess child({"/bin/sh", "-c", "exit 0"});
  child.receive(Clock::now() + 30s);
  EXPECT_FALSE(child.send("anyone there?", Clock::now() + 1s));  // and no SIGPIPE ends this test
}

TEST(ChildProcess, a_program_that_is_not_there_closes_the_line) {
  ChildProcess child({"/no/such/program"});
  EXPECT_EQ(child.receive(Clock::now() + 30s).line, ChildProcess::Line::closed);
  EXPECT_NE(child.end().find("127"), std::string::npos);
}

TEST(ChildProcess, does_not_outlive_its_parent) {
  int line[2];
  ASSERT_EQ(::pipe(line), 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    // The grandchild says that it lives, then hangs; this process dies without cleaning up.
    ChildProcess child({"/bin/sh", "-c", "echo alive >&" + std::to_string(line[1]) + "; exec sleep 1000"});
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
  EXPECT_EQ(::poll(&closed, 1, 60'000), 1);
  EXPECT_EQ(::read(line[0], text, sizeof text), 0);
  ::close(line[0]);
}

TEST(ChildProcess, does_not_see_interruptions_of_its_group) {
  ChildProcess child({"/bin/sh", "-c", "kill -INT $$; kill -TERM $$; exit 9"});
  child.receive(Clock::now() + 30s);
  EXPECT_NE(child.end().find("status 9"), std::string::npos);
}

}  // namespace
}  // namespace stencil_tune
