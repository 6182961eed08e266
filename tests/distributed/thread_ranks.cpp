#include "tests/distributed/thread_ranks.hpp"

#include "stencil_tune/error.hpp"
#include "tests/distributed/graph_recorder.hpp"

#include <cstring>
#include <exception>
#include <thread>

namespace stencil_tune {

class ThreadCommunicator final : public Communicator {
 public:
  ThreadCommunicator(ThreadRanks& ranks, int rank) : ranks_(ranks), rank_(rank) {}

  int rank() const noexcept override { return rank_; }
  int size() const noexcept override { return ranks_.size_; }

  void exchange(Span<const Transfer> sends, Span<const Transfer> receives, CUstream_st* stream) override {
    GraphRecorder::of_thread().run(
        [this, stream, sent = std::vector<Transfer>(sends.begin(), sends.end()),
         received = std::vector<Transfer>(receives.begin(), receives.end())] { exchange_now(sent, received, stream); });
  }

  std::vector<std::byte> all_gather(Span<const std::byte> mine) override {
    GraphRecorder::of_thread().refuse("ranks agree");
    return ranks_.all_gather(rank_, {mine.begin(), mine.end()});
  }
  void wait(CUstream_st*) override {
    GraphRecorder::of_thread().refuse("ranks wait");
    check();
  }
  void check() override {
    const std::scoped_lock lock(ranks_.mutex_);
    ranks_.require_whole();
  }
  void abort() noexcept override { ranks_.abort(rank_); }

 private:
  void exchange_now(const std::vector<Transfer>& sends, const std::vector<Transfer>& receives, CUstream_st* stream) {
    for (const Transfer& send : sends) {
      const auto* bytes = static_cast<const std::byte*>(send.data);
      ranks_.send(rank_, send.peer, {bytes, bytes + send.bytes});
    }
    if (ranks_.late_ && LateArrival::of_thread().takes(stream)) {
      LateArrival::of_thread().postpone([this, receives] { receive(receives); });
    } else {
      receive(receives);
    }
  }

  void receive(const std::vector<Transfer>& receives) {
    for (const Transfer& receive : receives) {
      const std::vector<std::byte> message = ranks_.receive(receive.peer, rank_);
      if (message.size() != receive.bytes) {
        throw Error(ErrorCode::internal, "a message has another length than expected");
      }
      std::memcpy(receive.data, message.data(), message.size());
    }
  }

  ThreadRanks& ranks_;
  int rank_;
};

std::vector<std::string> ThreadRanks::run(const std::function<void(const std::shared_ptr<Communicator>&)>& body) {
  std::vector<std::string> errors(static_cast<std::size_t>(size_));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size_; ++rank) {
    threads.emplace_back([this, rank, &body, &errors] {
      const auto communicator = std::make_shared<ThreadCommunicator>(*this, rank);
      try {
        body(communicator);
      } catch (const std::exception& error) {
        errors[static_cast<std::size_t>(rank)] = error.what();
        communicator->abort();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return errors;
}

void ThreadRanks::send(int from, int to, Bytes message) {
  const std::scoped_lock lock(mutex_);
  require_whole();
  messages_[{from, to}].push_back(std::move(message));
  changed_.notify_all();
}

ThreadRanks::Bytes ThreadRanks::receive(int from, int to) {
  std::unique_lock lock(mutex_);
  std::deque<Bytes>& waiting = messages_[{from, to}];
  wait(lock, [&] { return !waiting.empty(); });
  Bytes message = std::move(waiting.front());
  waiting.pop_front();
  return message;
}

/// What ranks said stays: there is little of it.
std::vector<std::byte> ThreadRanks::all_gather(int rank, const Bytes& mine) {
  std::unique_lock lock(mutex_);
  const std::size_t round = heard_[static_cast<std::size_t>(rank)]++;
  said_[static_cast<std::size_t>(rank)].push_back(mine);
  changed_.notify_all();
  std::vector<std::byte> all;
  for (const std::deque<Bytes>& said : said_) {
    wait(lock, [&] { return said.size() > round; });
    if (said[round].size() != mine.size()) throw Error(ErrorCode::internal, "ranks gather different numbers of bytes");
    all.insert(all.end(), said[round].begin(), said[round].end());
  }
  return all;
}

void ThreadRanks::abort(int rank) {
  const std::scoped_lock lock(mutex_);
  if (lost_ < 0) lost_ = rank;
  changed_.notify_all();
}

void ThreadRanks::require_whole() const {
  if (lost_ >= 0) throw Error(ErrorCode::launch_failed, "rank " + std::to_string(lost_) + " is lost");
}

template <class Ready>
void ThreadRanks::wait(std::unique_lock<std::mutex>& lock, Ready ready) {
  const bool in_time = changed_.wait_for(lock, timeout_, [&] { return ready() || lost_ >= 0; });
  if (ready()) return;
  require_whole();
  if (!in_time) throw Error(ErrorCode::timeout, "another rank does not answer");
}

}  // namespace stencil_tune
