// A child process that speaks the protocol, and that can be killed at any time.
#pragma once

#include "runtime/process/captured_output.hpp"
#include "runtime/process/subprocess.hpp"
#include "tuner/workers/protocol.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace stencil_tune {

/// How to start a worker: a program and its arguments.
using WorkerCommand = std::vector<std::string>;

/// This very program with an internal verb.
WorkerCommand own_command(const std::string& verb);

/// Owns the process: it is killed and reaped when this goes. It does not see the terminal's Ctrl-C (its parent
/// decides), and its standard error is kept for messages about its end. Not thread-safe.
class ChildProcess {
 public:
  using Clock = Subprocess::Clock;

  enum class Line {
    message,
    timeout,  ///< nothing whole arrived before patience was over
    closed,   ///< the child ended, closed its side, or wrote garbage
  };
  struct Received {
    Line line = Line::timeout;
    Message message;
  };

  /// Throws Error(internal) when it cannot be started.
  explicit ChildProcess(const WorkerCommand& command);

  /// False when the child has gone or does not take the message before the deadline.
  bool send(const Message& message, Clock::time_point deadline);

  Received receive(const Patience& patience);

  /// To poll(2) for input on several children at once.
  int descriptor() const noexcept { return line_.get(); }

  /// Kills it if need be, reaps it, and says how it ended: "killed by signal 11 (Segmentation fault)", with the last
  /// lines it wrote to standard error.
  std::string end();

 private:
  bool line_is_closed() const;

  Descriptor line_;  ///< one socket, both ways
  CapturedOutput errors_;
  std::optional<Subprocess> process_;
  MessageDecoder decoder_;
};

}  // namespace stencil_tune
