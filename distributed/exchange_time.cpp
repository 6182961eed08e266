#include "distributed/exchange_time.hpp"

#include "distributed/agreement.hpp"
#include "runtime/cuda/module.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace stencil_tune {
namespace {

constexpr std::size_t kMostBytes = std::size_t{16} << 20;  // largest message; links are as fast as they get far below
constexpr std::size_t kLeastBytes = 8;
constexpr int kWarmUps = 2;  // the first exchange of two ranks connects them
constexpr int kRepeats = 10;

/// Messages of an exchange, but of `most` bytes at most, one after another in memory that means nothing.
class Messages {
 public:
  Messages(Driver& driver, const std::vector<Message>& messages, std::size_t cell_bytes)
      : messages_(messages), cell_bytes_(cell_bytes), memory_(driver, std::max<std::size_t>(bytes(kMostBytes), 1)) {}

  std::size_t bytes(std::size_t most) const {
    std::size_t bytes = 0;
    for (const Message& message : messages_) bytes += size(message, most);
    return bytes;
  }

  std::vector<Transfer> transfers(std::size_t most) const {
    std::vector<Transfer> transfers;
    DevicePointer at = memory_.address();
    for (const Message& message : messages_) {
      transfers.push_back({message.peer, reinterpret_cast<void*>(at), size(message, most)});
      at += transfers.back().bytes;
    }
    return transfers;
  }

 private:
  std::size_t size(const Message& message, std::size_t most) const {
    return std::min(static_cast<std::size_t>(message.cells) * cell_bytes_, most);
  }

  const std::vector<Message>& messages_;
  std::size_t cell_bytes_;
  DeviceBuffer memory_;
};

double seconds_of(Driver& driver, Communicator& ranks, const Messages& sends, const Messages& receives,
                  std::size_t most) {
  const Stream stream(driver);
  const Event start(driver), stop(driver);
  const std::vector<Transfer> sent = sends.transfers(most), received = receives.transfers(most);
  for (int i = 0; i < kWarmUps; ++i) ranks.exchange(sent, received, stream.get());
  start.record(stream.get());
  for (int i = 0; i < kRepeats; ++i) ranks.exchange(sent, received, stream.get());
  stop.record(stream.get());
  ranks.wait(stream.get());
  return stop.elapsed_since(start) / 1e3 / kRepeats;
}

}  // namespace

double bytes_of(const ExchangePlan& plan, std::size_t cell_bytes) {
  return static_cast<double>(std::max(plan.cells_sent(), plan.cells_received())) * static_cast<double>(cell_bytes);
}

ExchangeTime time_exchange(Driver& driver, Communicator& ranks, const ExchangePlan& plan, std::size_t cell_bytes) {
  std::optional<Messages> sends, receives;
  agree(ranks, [&] {
    sends.emplace(driver, plan.sends, cell_bytes);
    receives.emplace(driver, plan.receives, cell_bytes);
  });
  if (plan.sends.empty() && plan.receives.empty()) return {};
  const auto bytes = [&](std::size_t most) {
    return static_cast<double>(std::max(sends->bytes(most), receives->bytes(most)));
  };
  const double more_bytes = bytes(kMostBytes) - bytes(kLeastBytes);
  try {
    const double least = seconds_of(driver, ranks, *sends, *receives, kLeastBytes);
    const double most = seconds_of(driver, ranks, *sends, *receives, kMostBytes);
    return {.latency_s = least, .s_per_byte = more_bytes > 0 ? std::max(0.0, most - least) / more_bytes : 0};
  } catch (...) {
    ranks.abort();  // the others wait for messages that do not come
    throw;
  }
}

}  // namespace stencil_tune
