#include "runtime/process/subprocess.hpp"

#include "stencil_tune/error.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace stencil_tune {
namespace {

constexpr std::chrono::seconds kReapPatience{20};
constexpr std::chrono::microseconds kLongestPause{20'000};

/// What posix_spawn(3) does to descriptors and signals between fork and exec. Unlike fork(2) it copies no page tables
/// of an application, and runs none of its handlers.
class SpawnPlan {
 public:
  explicit SpawnPlan(const SubprocessOptions& options) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawnattr_init(&attributes_);
    if (options.input < 0) {
      ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    }
    replace(STDIN_FILENO, options.input);
    replace(STDOUT_FILENO, options.output);
    replace(STDERR_FILENO, options.errors);
    set_signals(options.blocks_interrupts);
  }
  ~SpawnPlan() {
    ::posix_spawnattr_destroy(&attributes_);
    ::posix_spawn_file_actions_destroy(&actions_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  const posix_spawn_file_actions_t* actions() const noexcept { return &actions_; }
  const posix_spawnattr_t* attributes() const noexcept { return &attributes_; }

 private:
  void replace(int standard, int descriptor) {
    if (descriptor >= 0) ::posix_spawn_file_actions_adddup2(&actions_, descriptor, standard);
  }

  void set_signals(bool block_interrupts) {
    sigset_t defaults, blocked;
    ::sigemptyset(&defaults);
    ::sigaddset(&defaults, SIGPIPE);  // an ignored signal would be inherited
    ::posix_spawnattr_setsigdefault(&attributes_, &defaults);
    ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    if (block_interrupts) {
      ::sigaddset(&blocked, SIGINT);
      ::sigaddset(&blocked, SIGTERM);
      ::sigaddset(&blocked, SIGHUP);
    }
    ::posix_spawnattr_setsigmask(&attributes_, &blocked);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  }

  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

constexpr int kCannotStart = 127;  // as shells say it
constexpr int kBySignal = 128;

/// The process between this one and a program with children: the leader of their group. It ends with the program's
/// status, and kills the whole group when the thread that made it ends. PR_SET_PDEATHSIG alone would reach the program
/// and not its children. Only what is safe after a fork of several threads is called here; all signals are blocked.
[[noreturn]] void guard(pid_t parent, char* const* arguments, const SpawnPlan& plan) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(kCannotStart);
  std::signal(SIGCHLD, SIG_DFL);
  pid_t program = -1;
  if (::posix_spawnp(&program, arguments[0], plan.actions(), plan.attributes(), arguments, environ) != 0) {
    ::_exit(kCannotStart);
  }
  ::close_range(0, ~0U, 0);  // locks and lines of the parent
  sigset_t awaited;
  ::sigemptyset(&awaited);
  ::sigaddset(&awaited, SIGCHLD);
  ::sigaddset(&awaited, SIGTERM);
  for (;;) {
    int signal = 0;
    int status = 0;
    if (::sigwait(&awaited, &signal) == 0 && signal == SIGTERM) ::kill(0, SIGKILL);
    if (::waitpid(program, &status, WNOHANG) != program) continue;
    ::_exit(WIFSIGNALED(status) ? kBySignal + WTERMSIG(status) : WEXITSTATUS(status));
  }
}

/// As fork(2), without the application's own handlers, and with no SIGCHLD when it ends: the application may ignore
/// that signal, or reap all children that it hears of, and still the status is there to be waited for.
pid_t fork_unheard() { return static_cast<pid_t>(::syscall(SYS_clone, 0, nullptr, nullptr, nullptr, nullptr)); }

pid_t start_guarded(char* const* arguments, const SpawnPlan& plan) {
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t parent = ::getpid();
  const pid_t pid = fork_unheard();
  if (pid == 0) guard(parent, arguments, plan);
  const int error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) throw std::system_error(error, std::generic_category(), arguments[0]);
  ::setpgid(pid, pid);  // whoever comes first: a kill of the group must find it
  return pid;
}

}  // namespace

std::string to_string(const ExitStatus& status) {
  if (status.signal == 0) return "ended with status " + std::to_string(status.code);
  return "killed by signal " + std::to_string(status.signal) + " (" + ::strsignal(status.signal) + ")";
}

Subprocess::Subprocess(const std::vector<std::string>& command, const SubprocessOptions& options) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const SpawnPlan plan(options);
  leads_group_ = options.has_children;
  if (options.has_children) {
    pid_ = start_guarded(arguments.data(), plan);
    return;
  }
  const int error = ::posix_spawnp(&pid_, arguments[0], plan.actions(), plan.attributes(), arguments.data(), environ);
  if (error != 0) throw std::system_error(error, std::generic_category(), command[0]);
}

Subprocess::~Subprocess() {
  try {
    stop();
  } catch (const Error&) {
    // It was reaped elsewhere.
  }
}

Subprocess::Subprocess(Subprocess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), leads_group_(other.leads_group_) {}

Subprocess& Subprocess::operator=(Subprocess&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(leads_group_, other.leads_group_);
  return *this;
}

ExitStatus Subprocess::wait() { return reap(0).value(); }

std::optional<ExitStatus> Subprocess::wait(const Patience& patience) {
  for (std::chrono::microseconds pause{100};; pause = std::min(pause * 2, kLongestPause)) {
    if (const auto status = reap(WNOHANG)) return status;
    if (patience.is_over()) return std::nullopt;
    std::this_thread::sleep_for(pause);
  }
}

std::optional<ExitStatus> Subprocess::stop() {
  if (pid_ < 0) return std::nullopt;
  ::kill(leads_group_ ? -pid_ : pid_, SIGKILL);
  const auto status = wait(Clock::now() + kReapPatience);
  pid_ = -1;
  return status;
}

std::optional<ExitStatus> Subprocess::reap(int options) {
  int status = 0;
  pid_t ended = -1;
  errno = ECHILD;  // for one that was reaped before
  while (pid_ > 0 && (ended = ::waitpid(pid_, &status, options | __WALL)) < 0 && errno == EINTR) {
  }
  if (ended == 0) return std::nullopt;
  pid_ = -1;
  if (ended < 0) {
    throw Error(ErrorCode::internal, std::string("cannot wait for a process: ") + std::strerror(errno) +
                                         "; the application must not ignore SIGCHLD, nor reap children that it does "
                                         "not know");
  }
  return WIFSIGNALED(status) ? ExitStatus{.signal = WTERMSIG(status)} : ExitStatus{.code = WEXITSTATUS(status)};
}

}  // namespace stencil_tune
