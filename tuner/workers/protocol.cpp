#include "tuner/workers/protocol.hpp"

#include "stencil_tune/error.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>

#include <sys/prctl.h>
#include <unistd.h>

namespace stencil_tune {
namespace {

constexpr std::size_t kLengthBytes = 8;
constexpr int kDeepest = 32;  // messages nest some six levels

/// Only counts how deep values nest: reading a message takes stack for each level.
class NestingCheck final : public nlohmann::json_sax<Message> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool key(string_t&) override { return true; }
  bool start_object(std::size_t) override { return ++depth_ <= kDeepest; }
  bool start_array(std::size_t) override { return ++depth_ <= kDeepest; }
  bool end_object() override { return --depth_ >= 0; }
  bool end_array() override { return --depth_ >= 0; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) override { return false; }

 private:
  int depth_ = 0;
};

}  // namespace

std::vector<std::uint8_t> frame(const Message& message) {
  const std::vector<std::uint8_t> body = Message::to_cbor(message);
  std::vector<std::uint8_t> bytes;
  bytes.reserve(kLengthBytes + body.size());
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    bytes.push_back(static_cast<std::uint8_t>(std::uint64_t{body.size()} >> (8 * i)));
  }
  bytes.insert(bytes.end(), body.begin(), body.end());
  return bytes;
}

void MessageDecoder::feed(std::span<const std::uint8_t> bytes) {
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
}

std::optional<Message> MessageDecoder::next() {
  if (buffer_.size() < kLengthBytes) return std::nullopt;
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) length |= std::uint64_t{buffer_[i]} << (8 * i);
  if (length > kMaxMessageBytes) {
    throw Error(ErrorCode::internal, "a worker sent a message of " + std::to_string(length) +
                                         " bytes: what it writes is not the protocol; restart it");
  }
  if (buffer_.size() < kLengthBytes + length) return std::nullopt;
  const auto begin = buffer_.begin() + static_cast<std::ptrdiff_t>(kLengthBytes);
  const auto end = begin + static_cast<std::ptrdiff_t>(length);
  NestingCheck nesting;
  if (!Message::sax_parse(begin, end, &nesting, Message::input_format_t::cbor)) {
    throw Error(ErrorCode::internal, "a worker sent a message that is not CBOR or nests too deeply");
  }
  Message message = Message::from_cbor(begin, end);
  buffer_.erase(buffer_.begin(), end);
  return message;
}

ParentLine::ParentLine() : out_(::dup(STDOUT_FILENO)) {
  if (out_ < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    throw Error(ErrorCode::internal, std::string("worker cannot set up its pipes: ") + std::strerror(errno));
  }
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // one that went before this line has closed its end, which receive() sees
}

ParentLine::~ParentLine() { ::close(out_); }

std::optional<Message> ParentLine::receive() {
  std::array<std::uint8_t, 65536> chunk;
  for (;;) {
    if (std::optional<Message> message = decoder_.next()) return message;
    const ssize_t got = ::read(STDIN_FILENO, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    decoder_.feed({chunk.data(), static_cast<std::size_t>(got)});
  }
}

void ParentLine::send(const Message& message) {
  const std::vector<std::uint8_t> bytes = frame(message);
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t put = ::write(out_, bytes.data() + sent, bytes.size() - sent);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) throw Error(ErrorCode::internal, std::string("worker cannot write: ") + std::strerror(errno));
    sent += static_cast<std::size_t>(put);
  }
}

}  // namespace stencil_tune
