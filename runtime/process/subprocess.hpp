// A program that runs as a process of its own.
#pragma once

#include "runtime/process/patience.hpp"

#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace stencil_tune {

/// How a process ended.
struct ExitStatus {
  int code = 0;    ///< what it returned; 0 when a signal ended it
  int signal = 0;  ///< 0 when it ended by itself

  bool succeeded() const noexcept { return code == 0 && signal == 0; }
};

/// "ended with status 3", "killed by signal 11 (Segmentation fault)".
std::string to_string(const ExitStatus& status);

/// What a program is given.
struct SubprocessOptions {
  int input = -1;                  ///< descriptor that becomes its standard input; without one it reads nothing
  int output = -1;                 ///< standard output; without one that of this process
  int errors = -1;                 ///< standard error; without one that of this process
  bool blocks_interrupts = false;  ///< SIGINT, SIGTERM and SIGHUP, which terminals and `timeout` send to whole groups
  bool has_children = false;       ///< it starts programs of its own: all are in one group, and end with this process
};

/// Owns the process: it is killed and reaped when this goes. One that has children is killed with all of them, also
/// when the thread that started it ends, however that ends; and it is waited for even in an application that ignores
/// SIGCHLD or reaps all children. Not thread-safe.
class Subprocess {
 public:
  using Clock = Patience::Clock;

  /// Starts a program, looked for on the PATH unless it has a slash, with its arguments. It inherits descriptors that
  /// are not close-on-exec. Throws std::system_error when it cannot be run; one that has children then ends with status
  /// 127.
  explicit Subprocess(const std::vector<std::string>& command, const SubprocessOptions& options = {});
  ~Subprocess();
  Subprocess(Subprocess&& other) noexcept;
  Subprocess& operator=(Subprocess&& other) noexcept;

  /// How it ended, once: each of these throws Error(internal) for what was reaped already, here or elsewhere. The
  /// status of one that has children is 128 + n where signal n ended it.
  ExitStatus wait();

  /// Nothing when it still runs when patience is over.
  std::optional<ExitStatus> wait(const Patience& patience);

  /// Kills it. Nothing when the system holds on to it for 20 s: a driver may first tear down its context.
  std::optional<ExitStatus> stop();

 private:
  std::optional<ExitStatus> reap(int options);

  pid_t pid_ = -1;  ///< -1: reaped or given up
  bool leads_group_ = false;
};

}  // namespace stencil_tune
