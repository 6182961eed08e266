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

class ThreadRanks {
 public:
  explicit ThreadRanks(int size, std::chrono::milliseconds timeout = std::chrono::seconds(120))
      : size_(size), timeout_(timeout) {}

  /// Runs the body on one thread a rank. Returns what each threw; empty where it threw nothing. A rank that throws
  /// gives the group up.
  std::vector<std::string> run(const std::function<void(const std::shared_ptr<Communicator>&)>& body);

  std::size_t bytes_sent() const { return bytes_sent_; }

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
  std::size_t bytes_sent_ = 0;
};

}  // namespace stencil_tune
