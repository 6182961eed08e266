#include "tuner/workers/process.hpp"

#include "stencil_tune/error.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include <poll.h>
#include <sys/socket.h>

namespace stencil_tune {
namespace {

constexpr std::size_t kLastWords = 600;  // bytes of standard error worth quoting

/// For a child that closed its line, and is about to end by itself.
constexpr std::chrono::milliseconds kEndPatience{100};

constexpr std::chrono::milliseconds kLongestPoll{20};  // how late a stop is seen

bool wait_for(int descriptor, short events, const Patience& patience) {
  for (;;) {
    const bool last = patience.is_over();
    pollfd item{descriptor, events, 0};
    const int ready = ::poll(&item, 1, last ? 0 : static_cast<int>(kLongestPoll.count()));
    if (ready > 0) return true;
    if (last || (ready < 0 && errno != EINTR)) return false;
  }
}

}  // namespace

WorkerCommand own_command(const std::string& verb) { return {"/proc/self/exe", verb}; }

ChildProcess::ChildProcess(const WorkerCommand& command) try {
  std::array<int, 2> ends{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw std::system_error(errno, std::generic_category(), "socketpair");
  }
  line_ = Descriptor(ends[0]);
  const Descriptor childs_end(ends[1]);
  process_.emplace(command, SubprocessOptions{.input = childs_end.get(),
                                              .output = childs_end.get(),
                                              .errors = errors_.descriptor(),
                                              .blocks_interrupts = true});
} catch (const std::system_error& error) {
  throw Error(ErrorCode::internal, std::string("cannot start a worker process: ") + error.what());
}

bool ChildProcess::send(const Message& message, Clock::time_point deadline) {
  const std::vector<std::uint8_t> bytes = frame(message);
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t put = ::send(line_.get(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (put >= 0) {
      sent += static_cast<std::size_t>(put);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!wait_for(line_.get(), POLLOUT, deadline)) return false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

ChildProcess::Received ChildProcess::receive(const Patience& patience) {
  std::array<std::uint8_t, 65536> chunk;
  for (;;) {
    try {
      if (std::optional<Message> message = decoder_.next()) return {Line::message, std::move(*message)};
    } catch (const Error&) {
      return {Line::closed, {}};
    }
    if (!wait_for(line_.get(), POLLIN, patience)) return {Line::timeout, {}};
    const ssize_t got = ::recv(line_.get(), chunk.data(), chunk.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK)) continue;
    if (got <= 0) return {Line::closed, {}};
    decoder_.feed({chunk.data(), static_cast<std::size_t>(got)});
  }
}

bool ChildProcess::line_is_closed() const {
  pollfd item{line_.get(), 0, 0};
  return ::poll(&item, 1, 0) > 0;
}

std::string ChildProcess::end() {
  if (!process_) return "not running";
  // The status of one that ends by itself says more than our kill.
  std::optional<ExitStatus> status;
  if (line_is_closed()) status = process_->wait(Clock::now() + kEndPatience);
  if (!status) status = process_->stop();
  process_.reset();
  const std::string how = status ? to_string(*status) : "killed, but the driver still holds it";
  const std::string words = errors_.last(kLastWords);
  return words.empty() ? how : how + "; its last words: " + words;
}

}  // namespace stencil_tune
