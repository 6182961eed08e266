#include "distributed/nccl_communicator.hpp"

#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <chrono>
#include <thread>

namespace stencil_tune {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kPause = std::chrono::microseconds(20);  // between two looks at what ranks wait for

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
  const Stream stream(driver_);
  DeviceBuffer sent(driver_, mine.size()), received(driver_, all.size());
  sent.write(mine, stream.get());
  require(api_.all_gather(reinterpret_cast<const void*>(sent.address()), reinterpret_cast<void*>(received.address()),
                          mine.size(), kNcclBytes, communicator_, stream.get()),
          "gather what all ranks say");
  wait(stream.get());
  received.read(all, stream.get());
  stream.synchronize();
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
