// Ranks as threads of one process, whose device memory is the host's: messages are copied.
#pragma once

#include "stencil_tune/communicator.hpp"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace stencil_tune {

/// Receives of this thread's rank on the stream that it made wait for another: they come when the other waits in turn.
class LateArrival {
 public:
  static LateArrival& of_thread() {
    thread_local LateArrival late;
    return late;
  }

  bool takes(CUstream_st* stream) const { return stream == side_ && stream != nullptr; }
  void postpone(std::function<void()> deliver) { deliver_ = std::move(deliver); }
  void wait(CUstream_st* stream) {
    if (deliver_) {
      std::exchange(deliver_, nullptr)();
    } else {
      side_ = stream;
    }
  }

 private:
  CUstream_st* side_ = nullptr;
  std::function<void()> deliver_;
};

class ThreadRanks {
 public:
  explicit ThreadRanks(int size, std::chrono::milliseconds timeout = std::chrono::seconds(120))
      : size_(size), timeout_(timeout) {}

  int size() const { return size_; }

  /// Runs the body on one thread a rank. Returns what each threw; empty where it threw nothing. A rank that throws
  /// gives the group up.
  std::vector<std::string> run(const std::function<void(const std::shared_ptr<Communicator>&)>& body);

  /// From now on what travels beside a launch arrives late: of exchanges that nothing is unpacked from.
  void arrive_late() { late_ = true; }

 private:
  friend class ThreadCommunicator;

  using Bytes = std::vector<std::byte>;

  void send(int from, int to, Bytes message);
  Bytes receive(int from, int to);
  std::vector<std::byte> all_gather(int rank, const Bytes& mine);
  void abort(int rank);
  void require_whole() const;
  template <class Ready>
  void wait(std::unique_lock<std::mutex>& lock, Ready ready);

  const int size_;
  const std::chrono::milliseconds timeout_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::pair<int, int>, std::deque<Bytes>> messages_;  ///< by sender and receiver
  std::vector<std::deque<Bytes>> said_ = std::vector<std::deque<Bytes>>(static_cast<std::size_t>(size_));
  std::vector<std::size_t> heard_ = std::vector<std::size_t>(static_cast<std::size_t>(size_), 0);
  int lost_ = -1;
  bool late_ = false;
};

}  // namespace stencil_tune
