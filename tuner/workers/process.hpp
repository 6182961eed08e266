// A child process that speaks the protocol, and that can be killed at any time.
#pragma once

#include "tuner/workers/protocol.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace stencil_tune {

/// How to start a worker: a program and its arguments.
using WorkerCommand = std::vector<std::string>;

/// This very program with an internal verb.
WorkerCommand own_command(const std::string& verb);

/// Owns the process: it is killed and reaped when this goes. The child also dies with the thread that started it, does
/// not see the terminal's Ctrl-C (its parent decides), and its standard error is kept for messages about its end.
/// Not thread-safe.
class ChildProcess {
 public:
  using Clock = std::chrono::steady_clock;

  enum class Line {
    message,
    timeout,  ///< nothing whole arrived in time
    closed,   ///< the child ended, closed its side, or wrote garbage
  };
  struct Received {
    Line line = Line::timeout;
    Message message;
  };

  /// Throws Error(internal) when the system refuses another process.
  explicit ChildProcess(const WorkerCommand& command);
  ~ChildProcess();
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;

  /// False when the child has gone or does not take the message before the deadline.
  bool send(const Message& message, Clock::time_point deadline);

  Received receive(Clock::time_point deadline);

  /// To poll(2) for input on several children at once.
  int descriptor() const noexcept { return line_; }

  /// Kills it if need be, reaps it, and says how it ended: "killed by signal 11 (Segmentation fault)", with the last
  /// lines it wrote to standard error.
  std::string end();

 private:
  void close_all() noexcept;
  std::string last_words() const;

  pid_t pid_ = -1;
  int line_ = -1;    ///< one socket, both ways
  int errors_ = -1;  ///< memory file that is the child's standard error
  MessageDecoder decoder_;
};

}  // namespace stencil_tune
