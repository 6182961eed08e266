#include "distributed/bindings/c_ranks.hpp"

#include "distributed/bindings/c_grid.hpp"
#include "runtime/bindings/c_call.hpp"
#include "runtime/bindings/c_handles.hpp"

#include <fmt/format.h>

#include <memory>

namespace stencil_tune {
namespace {

DevicePointer address_of(const Transfer& transfer) { return reinterpret_cast<DevicePointer>(transfer.data); }

std::size_t bytes_of(Span<const Transfer> transfers) {
  std::size_t bytes = 0;
  for (const Transfer& transfer : transfers) bytes += transfer.bytes;
  return bytes;
}

/// The same transfers, one after another from `host` on; where they are, without it.
std::vector<stencil_tune_transfer> to_c(Span<const Transfer> transfers, std::byte* host) {
  std::vector<stencil_tune_transfer> all;
  for (const Transfer& transfer : transfers) {
    all.push_back({host != nullptr ? host : transfer.data, transfer.bytes, transfer.peer, 0});
    if (host != nullptr) host += transfer.bytes;
  }
  return all;
}

}  // namespace

CallbackCommunicator::CallbackCommunicator(const stencil_tune_ranks& ranks, Driver& driver)
    : ranks_(ranks), driver_(driver) {
  stencil_tune::require(ranks.exchange, "exchange");
  stencil_tune::require(ranks.all_gather, "all_gather");
  if (ranks.rank >= 0 && ranks.rank < ranks.size) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("rank {} of {}: ranks are numbered from 0", ranks.rank, ranks.size));
}

void CallbackCommunicator::exchange(Span<const Transfer> sends, Span<const Transfer> receives, CUstream_st* stream) {
  check();
  const bool on_host = ranks_.device_memory == 0;
  if (on_host) {
    sent_.resize(bytes_of(sends) + 1);
    received_.resize(bytes_of(receives) + 1);
  }
  const auto outgoing = to_c(sends, on_host ? sent_.data() : nullptr);
  const auto incoming = to_c(receives, on_host ? received_.data() : nullptr);
  for (std::size_t i = 0; on_host && i < sends.size(); ++i) {
    driver_.copy_to_host(outgoing[i].data, address_of(sends[i]), sends[i].bytes, stream);
  }
  driver_.synchronize_stream(stream);
  require(ranks_.exchange(ranks_.context, outgoing.data(), static_cast<std::int32_t>(outgoing.size()), incoming.data(),
                          static_cast<std::int32_t>(incoming.size())),
          "exchange");
  if (!on_host) return;
  for (std::size_t i = 0; i < receives.size(); ++i) {
    driver_.copy_to_device(address_of(receives[i]), incoming[i].data, receives[i].bytes, stream);
  }
  driver_.synchronize_stream(stream);  // the next exchange uses the same host memory
}

std::vector<std::byte> CallbackCommunicator::all_gather(Span<const std::byte> mine) {
  check();
  std::vector<std::byte> all(mine.size() * static_cast<std::size_t>(ranks_.size));
  require(ranks_.all_gather(ranks_.context, mine.data(), mine.size(), all.data()), "gather what all ranks say");
  return all;
}

void CallbackCommunicator::wait(CUstream_st* stream) {
  check();
  driver_.synchronize_stream(stream);
}

void CallbackCommunicator::check() {
  if (!aborted_) return;
  throw Error(ErrorCode::launch_failed,
              fmt::format("rank {} of {} gave its group up after an error; make a new one", ranks_.rank, ranks_.size));
}

void CallbackCommunicator::abort() noexcept {
  if (!aborted_ && ranks_.abort != nullptr) ranks_.abort(ranks_.context);
  aborted_ = true;
}

void CallbackCommunicator::require(std::int32_t result, const char* what) {
  if (result == 0) return;
  abort();
  throw Error(ErrorCode::launch_failed, fmt::format("rank {} of {} cannot {}: the program's function returned {}",
                                                    ranks_.rank, ranks_.size, what, result));
}

}  // namespace stencil_tune

using namespace stencil_tune;

extern "C" stencil_tune_status stencil_tune_distribute_over(stencil_tune_library* library,
                                                            const stencil_tune_ranks* ranks,
                                                            const stencil_tune_request* request,
                                                            const stencil_tune_cut* cut, CUstream_st* stream,
                                                            stencil_tune_grid** grid) {
  return guarded([&] {
    require(grid, "grid");
    *grid = nullptr;
    require(library, "library");
    require(ranks, "ranks");
    require(request, "request");
    const stencil_tune_ranks defaults = STENCIL_TUNE_RANKS_INIT;
    const stencil_tune_ranks given =
        whole(*ranks, sizeof(defaults), defaults, "stencil_tune_ranks", "STENCIL_TUNE_RANKS_INIT");
    *grid = make_c_grid(library->library, std::make_shared<CallbackCommunicator>(given, cuda_driver()), *request,
                        whole_cut(cut), stream);
  });
}
