#include "runtime/process/subprocess.hpp"
#include "runtime/process/captured_output.hpp"
#include "tests/runtime/expect_error.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <stdexcept>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

namespace stencil_tune {
namespace {

using namespace std::chrono_literals;

std::vector<std::string> shell(const std::string& text) { return {"/bin/sh", "-c", text}; }

TEST(Subprocess, SaysItsStatus) {
  EXPECT_TRUE(Subprocess({"true"}).wait().succeeded());
  const ExitStatus status = Subprocess(shell("exit 3")).wait();
  EXPECT_FALSE(status.succeeded());
  EXPECT_EQ(to_string(status), "ended with status 3");
}

TEST(Subprocess, SaysTheSignalThatEndedIt) {
  const ExitStatus status = Subprocess(shell("kill -SEGV $$")).wait();
  EXPECT_FALSE(status.succeeded());
  EXPECT_EQ(to_string(status), "killed by signal 11 (Segmentation fault)");
}

TEST(Subprocess, RefusesAProgramThatIsNotThere) {
  try {
    Subprocess({"no-such-program"});
    FAIL() << "it was started";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), std::errc::no_such_file_or_directory);
    EXPECT_NE(std::string(error.what()).find("no-such-program"), std::string::npos);
  }
}

TEST(Subprocess, HandsEveryArgumentOnAsItIs) {
  const CapturedOutput output;
  Subprocess({"printf", "<%s>", "a b", "", "$HOME"}, {.output = output.descriptor()}).wait();
  EXPECT_EQ(output.text(), "<a b><><$HOME>");
}

TEST(Subprocess, KeepsBothOutputsInTheOrderOfWriting) {
  const CapturedOutput output;
  Subprocess(shell("echo one; echo two >&2; echo three"),
             {.output = output.descriptor(), .errors = output.descriptor()})
      .wait();
  EXPECT_EQ(output.text(), "one\ntwo\nthree\n");
  EXPECT_EQ(output.last(8), "o\nthree");
}

TEST(Subprocess, DoesNotReadWhatThisProcessIsToRead) {
  const CapturedOutput ours;
  ASSERT_EQ(::pwrite(ours.descriptor(), "ours", 4, 0), 4);
  const Descriptor before(::dup(STDIN_FILENO));
  ::dup2(ours.descriptor(), STDIN_FILENO);
  const CapturedOutput output;
  const ExitStatus status = Subprocess({"cat"}, {.output = output.descriptor()}).wait();
  ::dup2(before.get(), STDIN_FILENO);
  EXPECT_TRUE(status.succeeded());
  EXPECT_EQ(output.text(), "");
}

TEST(Subprocess, GivesUpWaitingAtTheDeadlineAndGoesOnAfterwards) {
  std::array<int, 2> line{};
  ASSERT_EQ(::pipe2(line.data(), O_CLOEXEC), 0);
  const Descriptor theirs(line[0]);
  Descriptor ours(line[1]);
  Subprocess reader({"cat"}, {.input = theirs.get()});
  EXPECT_FALSE(reader.wait(Subprocess::Clock::now() + 20ms));
  ours = Descriptor();
  EXPECT_TRUE(reader.wait().succeeded());
}

TEST(Subprocess, IsKilledAndReapedWhenItsOwnerGoes) {
  std::array<int, 2> line{};
  ASSERT_EQ(::pipe2(line.data(), O_CLOEXEC), 0);
  const Descriptor reading(line[0]);
  {
    const Descriptor writing(line[1]);
    const Subprocess child(shell("echo alive; exec sleep 1000"), {.output = writing.get()});
    std::array<char, 32> text{};
    ASSERT_GT(::read(reading.get(), text.data(), text.size()), 0);
  }
  char more = 0;
  EXPECT_EQ(::read(reading.get(), &more, 1), 0);  // nobody holds the other end any more
}

TEST(Subprocess, CanBeStoppedOnce) {
  Subprocess child({"sleep", "1000"});
  const auto status = child.stop();
  ASSERT_TRUE(status);
  EXPECT_EQ(status->signal, SIGKILL);
  EXPECT_FALSE(child.stop());
  EXPECT_ERROR(child.wait(), ErrorCode::internal, "cannot wait for a process");
}

TEST(Subprocess, BlocksInterruptionsWhereAsked) {
  const SubprocessOptions blocking{.blocks_interrupts = true};
  EXPECT_EQ(Subprocess(shell("kill -INT $$; kill -TERM $$; kill -HUP $$; exit 9"), blocking).wait().code, 9);
  EXPECT_EQ(Subprocess(shell("kill -TERM $$; exit 9")).wait().signal, SIGTERM);
}

/// A line that reads to its end when all who write to it are gone.
class Line {
 public:
  Line() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    reading_ = Descriptor(ends[0]);
    writing_ = Descriptor(ends[1]);
  }
  int writing() const { return writing_.get(); }
  void close_writing() { writing_ = Descriptor(); }
  std::string read() const {
    std::array<char, 32> text{};
    const ssize_t got = ::read(reading_.get(), text.data(), text.size());
    return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
  }

 private:
  Descriptor reading_, writing_;
};

const std::vector<std::string> kFamily = shell("sleep 1000 & echo alive; sleep 1000; true");

TEST(Subprocess, OneWithChildrenSaysItsStatusToo) {
  const SubprocessOptions family{.has_children = true};
  EXPECT_TRUE(Subprocess({"true"}, family).wait().succeeded());
  EXPECT_EQ(Subprocess(shell("sleep 0; exit 3"), family).wait().code, 3);
  EXPECT_EQ(Subprocess(shell("kill -SEGV $$"), family).wait().code, 128 + SIGSEGV);
  EXPECT_EQ(Subprocess({"no-such-program"}, family).wait().code, 127);
}

TEST(Subprocess, IsStoppedWithItsChildren) {
  Line line;
  Subprocess family(kFamily, {.output = line.writing(), .has_children = true});
  line.close_writing();
  EXPECT_EQ(line.read(), "alive\n");
  family.stop();
  EXPECT_EQ(line.read(), "");
}

TEST(Subprocess, ItsChildrenDoNotOutliveThisProcess) {
  Line line;
  const pid_t parent = ::fork();
  if (parent == 0) {
    Subprocess(kFamily, {.output = line.writing(), .has_children = true}).wait();
    ::_exit(0);
  }
  line.close_writing();
  EXPECT_EQ(line.read(), "alive\n");
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  EXPECT_EQ(line.read(), "");
}

TEST(Subprocess, OneWithChildrenNeedsNoSigchld) {
  const auto before = ::signal(SIGCHLD, SIG_IGN);
  const int status = Subprocess(shell("true; exit 3"), {.has_children = true}).wait().code;
  ::signal(SIGCHLD, before);
  EXPECT_EQ(status, 3);
}

TEST(Subprocess, IsWaitedForNoLongerThanUntilAStop) {
  std::atomic<bool> stop{false};
  Subprocess sleeper({"sleep", "1000"});
  std::thread asking([&] { stop = true; });
  EXPECT_FALSE(sleeper.wait({Subprocess::Clock::time_point::max(), &stop}));
  asking.join();
}

TEST(Subprocess, DoesNotInheritThatThisProcessIgnoresBrokenPipes) {
  const auto before = ::signal(SIGPIPE, SIG_IGN);
  const ExitStatus status = Subprocess(shell("kill -PIPE $$; exit 9")).wait();
  ::signal(SIGPIPE, before);
  EXPECT_EQ(status.signal, SIGPIPE);
}

}  // namespace
}  // namespace stencil_tune
