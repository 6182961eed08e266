// Messages between the tuning session and its worker processes: CBOR values (binaries travel as binary), each preceded
// by its length in eight bytes, least significant first.
#pragma once

#include "tuner/subject/message.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace stencil_tune {

/// A message longer than this is taken for garbage on the wire.
inline constexpr std::uint64_t kMaxMessageBytes = std::uint64_t{1} << 30;

/// The bytes to send for a message.
std::vector<std::uint8_t> frame(const Message& message);

/// Takes bytes as they arrive and gives whole messages.
class MessageDecoder {
 public:
  void feed(std::span<const std::uint8_t> bytes);

  /// The next whole message; nothing while it is incomplete. Throws Error(internal) for garbage.
  std::optional<Message> next();

 private:
  std::vector<std::uint8_t> buffer_;
};

/// The child's end of the line: blocking, on standard input and on what was standard output when it was made.
/// Whatever the child's libraries print to standard output goes to standard error from then on, and the child dies with
/// the thread that started it.
class ParentLine {
 public:
  ParentLine();
  ~ParentLine();
  ParentLine(const ParentLine&) = delete;
  ParentLine& operator=(const ParentLine&) = delete;

  /// Nothing when the parent closed the line.
  std::optional<Message> receive();
  void send(const Message& message);

 private:
  int out_ = -1;
  MessageDecoder decoder_;
};

}  // namespace stencil_tune
