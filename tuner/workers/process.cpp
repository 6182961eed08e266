#include "tuner/workers/process.hpp"

#include "stencil_tune/error.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace stencil_tune {
namespace {

constexpr std::size_t kLastWords = 600;  // bytes of standard error worth quoting

/// How long a killed process may take to go: the driver first tears down its context.
constexpr std::chrono::seconds kReapPatience{20};

[[noreturn]] void fail(const char* what) {
  throw Error(ErrorCode::internal, std::string("cannot start a worker process: ") + what + ": " + std::strerror(errno));
}

/// Between fork and exec: only calls that are safe there.
[[noreturn]] void become_worker(char* const* arguments, int line, int errors, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);  // the parent went before the line above
  std::signal(SIGINT, SIG_IGN);             // the terminal and `timeout` signal the whole group: the parent decides
  std::signal(SIGTERM, SIG_IGN);
  std::signal(SIGPIPE, SIG_DFL);
  if (::dup2(line, STDIN_FILENO) < 0 || ::dup2(line, STDOUT_FILENO) < 0 || ::dup2(errors, STDERR_FILENO) < 0) {
    ::_exit(127);
  }
  ::execv(arguments[0], arguments);
  ::_exit(127);
}

/// Milliseconds for poll(2), rounded up; 0 when the deadline has passed.
int milliseconds_until(ChildProcess::Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - ChildProcess::Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000'000));
}

bool wait_for(int descriptor, short events, ChildProcess::Clock::time_point deadline) {
  for (;;) {
    pollfd item{descriptor, events, 0};
    const int ready = ::poll(&item, 1, milliseconds_until(deadline));
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

std::string describe(int status) {
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    return "killed by signal " + std::to_string(signal) + " (" + ::strsignal(signal) + ")";
  }
  return "ended with status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

WorkerCommand own_command(const std::string& verb) { return {"/proc/self/exe", verb}; }

ChildProcess::ChildProcess(const WorkerCommand& command) {
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);

  std::array<int, 2> ends{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) fail("socketpair");
  line_ = ends[0];
  errors_ = ::memfd_create("worker-errors", MFD_CLOEXEC);
  const pid_t parent = ::getpid();
  pid_ = errors_ < 0 ? -1 : ::fork();
  if (pid_ == 0) become_worker(arguments.data(), ends[1], errors_, parent);
  const int error = errno;
  ::close(ends[1]);
  if (pid_ < 0) {
    close_all();
    errno = error;
    fail("fork");
  }
}

ChildProcess::~ChildProcess() {
  if (pid_ > 0) end();
  close_all();
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      line_(std::exchange(other.line_, -1)),
      errors_(std::exchange(other.errors_, -1)),
      decoder_(std::move(other.decoder_)) {}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(line_, other.line_);
  std::swap(errors_, other.errors_);
  std::swap(decoder_, other.decoder_);
  return *this;
}

void ChildProcess::close_all() noexcept {
  if (line_ >= 0) ::close(std::exchange(line_, -1));
  if (errors_ >= 0) ::close(std::exchange(errors_, -1));
}

bool ChildProcess::send(const Message& message, Clock::time_point deadline) {
  const std::vector<std::uint8_t> bytes = frame(message);
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t put = ::send(line_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (put >= 0) {
      sent += static_cast<std::size_t>(put);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!wait_for(line_, POLLOUT, deadline)) return false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

ChildProcess::Received ChildProcess::receive(Clock::time_point deadline) {
  std::array<std::uint8_t, 65536> chunk;
  for (;;) {
    try {
      if (std::optional<Message> message = decoder_.next()) return {Line::message, std::move(*message)};
    } catch (const Error&) {
      return {Line::closed, {}};
    }
    if (!wait_for(line_, POLLIN, deadline)) return {Line::timeout, {}};
    const ssize_t got = ::recv(line_, chunk.data(), chunk.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK)) continue;
    if (got <= 0) return {Line::closed, {}};
    decoder_.feed({chunk.data(), static_cast<std::size_t>(got)});
  }
}

std::string ChildProcess::end() {
  if (pid_ <= 0) return "not running";
  // A child that closed its line is about to end by itself: its own status says more than our kill.
  int status = 0;
  bool reaped = false;
  for (int i = 0; i < 20 && !reaped; ++i) {
    pollfd item{line_, 0, 0};
    if (::poll(&item, 1, 0) == 0) break;  // the line is open: it lives
    reaped = ::waitpid(pid_, &status, WNOHANG) == pid_;
    if (!reaped) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  if (!reaped) ::kill(pid_, SIGKILL);
  const auto deadline = Clock::now() + kReapPatience;
  for (auto pause = std::chrono::microseconds(100); !reaped && Clock::now() < deadline;) {
    reaped = ::waitpid(pid_, &status, WNOHANG) == pid_;
    if (reaped) break;
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::microseconds(20'000));
  }
  pid_ = -1;
  return (reaped ? describe(status) : std::string("killed, but the driver still holds it")) + last_words();
}

std::string ChildProcess::last_words() const {
  const off_t size = ::lseek(errors_, 0, SEEK_END);
  if (size <= 0) return {};
  std::string text(std::min<std::size_t>(static_cast<std::size_t>(size), kLastWords), '\0');
  const ssize_t got = ::pread(errors_, text.data(), text.size(), size - static_cast<off_t>(text.size()));
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.empty() ? text : "; its last words: " + text;
}

}  // namespace stencil_tune
