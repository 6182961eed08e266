#include "distributed/nccl_communicator.hpp"

#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>
#include <utility>

namespace stencil_tune {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kPause = std::chrono::microseconds(20);  // between two looks at what ranks wait for

constexpr std::size_t kRoomBytes = 4096;  // bytes for each rank, at least: all that ranks tell each other in set-up

}  // namespace

NcclCommunicator::NcclCommunicator(const NcclApi& api, Driver& driver, ncclComm* communicator, double timeout_s)
    : api_(api), driver_(driver), communicator_(communicator), timeout_s_(timeout_s) {
  if (communicator == nullptr) throw Error(ErrorCode::invalid_argument, "the NCCL communicator is a null pointer");
  int device = 0;
  require(api_.user_rank(communicator_, &rank_), "ask for the rank");
  require(api_.count(communicator_, &size_), "ask for the number of ranks");
  require(api_.device(communicator_, &device), "ask for the GPU");
  const int current = driver_.current_device();
  if (device == current) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("rank {} of the NCCL communicator is on GPU {}, the current CUDA context on GPU {}", rank_,
                          device, current));
}

NcclCommunicator::~NcclCommunicator() { drop_room(); }

/// Memory of a context that is not current is freed with it.
void NcclCommunicator::drop_room() noexcept {
  std::uint64_t current = 0;
  try {
    current = driver_.current_context_id();
  } catch (const Error&) {
    // A lost device: nothing can be freed any more.
  }
  const Room room = std::exchange(room_, {});
  if (current != room.context) return;
  if (room.sent != 0) driver_.free(room.sent);
  if (room.received != 0) driver_.free(room.received);
}

const NcclCommunicator::Room& NcclCommunicator::room_for(std::size_t bytes) {
  const std::uint64_t context = driver_.current_context_id();
  if (room_.context == context && room_.bytes >= bytes) return room_;
  drop_room();
  room_.context = context;
  const std::size_t most = std::max(bytes, kRoomBytes);
  room_.sent = driver_.allocate(most);
  room_.received = driver_.allocate(most * static_cast<std::size_t>(size_));
  room_.bytes = most;
  return room_;
}

void NcclCommunicator::exchange(Span<const Transfer> sends, Span<const Transfer> receives, CUstream_st* stream) {
  require(api_.group_start(), "begin an exchange");
  for (const Transfer& send : sends) {
    require(api_.send(send.data, send.bytes, kNcclBytes, send.peer, communicator_, stream), "send");
  }
  for (const Transfer& receive : receives) {
    require(api_.receive(receive.data, receive.bytes, kNcclBytes, receive.peer, communicator_, stream), "receive");
  }
  require(api_.group_end(), "exchange");
}

std::vector<std::byte> NcclCommunicator::all_gather(Span<const std::byte> mine) {
  std::vector<std::byte> all(mine.size() * static_cast<std::size_t>(size_));
  const Room& room = room_for(mine.size());
  const Stream own(driver_);
  CUstream_st* const stream = own.get();
  driver_.copy_to_device(room.sent, mine.data(), mine.size(), stream);
  require(api_.all_gather(reinterpret_cast<const void*>(room.sent), reinterpret_cast<void*>(room.received), mine.size(),
                          kNcclBytes, communicator_, stream),
          "gather what all ranks say");
  wait(stream);
  driver_.copy_to_host(all.data(), room.received, all.size(), stream);
  own.synchronize();
  return all;
}

void NcclCommunicator::wait(CUstream_st* stream) {
  wait_until([&] { return driver_.stream_done(stream); }, "finish the work on the stream");
}

void NcclCommunicator::check() {
  if (const int result = state(); result != kNcclSuccess && result != kNcclInProgress) fail(result, "exchange");
}

void NcclCommunicator::abort() noexcept {
  if (!aborted_) api_.abort(communicator_);
  aborted_ = true;
}

/// What the communicator says of work that was begun. Throws after an abort: there is nothing to ask any more.
int NcclCommunicator::state() {
  if (aborted_) {
    throw Error(
        ErrorCode::launch_failed,
        fmt::format("rank {} of {}: its NCCL communicator was aborted after an error; make a new one", rank_, size_));
  }
  int result = kNcclSuccess;
  const int asked = api_.async_error(communicator_, &result);
  return asked == kNcclSuccess ? result : asked;
}

/// Communicators that do not block go on working after the call.
void NcclCommunicator::require(int result, std::string_view what) {
  if (result == kNcclInProgress) {
    wait_until([&] { return state() == kNcclSuccess; }, what);
  } else if (result != kNcclSuccess) {
    fail(result, what);
  }
}

void NcclCommunicator::fail(int result, std::string_view what) {
  const std::string reason = api_.error_string(result);
  abort();
  throw Error(ErrorCode::launch_failed,
              fmt::format("rank {} of {} cannot {}: NCCL says '{}'; another rank may be lost. The communicator was "
                          "aborted",
                          rank_, size_, what, reason));
}

void NcclCommunicator::wait_until(const std::function<bool()>& done, std::string_view what) {
  const auto end = Clock::now() + std::chrono::duration<double>(timeout_s_);
  while (true) {
    check();
    if (done()) return;
    if (Clock::now() > end) break;
    std::this_thread::sleep_for(kPause);
  }
  abort();
  throw Error(
      ErrorCode::timeout,
      fmt::format("rank {} of {} waited {:.0f} s to {}: another rank does not answer. The NCCL communicator was "
                  "aborted",
                  rank_, size_, timeout_s_, what));
}

std::unique_ptr<Communicator> nccl_communicator(ncclComm* communicator, double timeout_s) {
  return std::make_unique<NcclCommunicator>(nccl_api(), cuda_driver(), communicator, timeout_s);
}

}  // namespace stencil_tune
