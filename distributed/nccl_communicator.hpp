// Communicator over NCCL, with its parts for tests.
#pragma once

#include "distributed/nccl_api.hpp"
#include "runtime/cuda/module.hpp"
#include "stencil_tune/communicator.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace stencil_tune {

class NcclCommunicator final : public Communicator {
 public:
  /// What it is given outlives it. Throws Error(invalid_argument) where the communicator's GPU is not that of the
  /// current context.
  NcclCommunicator(const NcclApi& api, Driver& driver, ncclComm* communicator, double timeout_s);
  ~NcclCommunicator() override;

  int rank() const noexcept override { return rank_; }
  int size() const noexcept override { return size_; }
  void exchange(Span<const Transfer> sends, Span<const Transfer> receives, CUstream_st* stream) override;
  std::vector<std::byte> all_gather(Span<const std::byte> mine) override;
  void wait(CUstream_st* stream) override;
  void check() override;
  void abort() noexcept override;

 private:
  /// What gathers go through: memory for so many bytes of a rank. It is kept: to free memory waits for all GPUs that
  /// are joined to this one in the process, on which other ranks may wait for this rank by then.
  struct Room {
    std::uint64_t context = 0;  ///< id
    std::size_t bytes = 0;
    DevicePointer sent = 0, received = 0;
  };

  const Room& room_for(std::size_t bytes);
  void drop_room() noexcept;
  void require(int result, std::string_view what);
  [[noreturn]] void fail(int result, std::string_view what);
  void wait_until(const std::function<bool()>& done, std::string_view what);
  int state();

  const NcclApi& api_;
  Driver& driver_;
  ncclComm* communicator_;
  double timeout_s_;
  Room room_;
  bool aborted_ = false;
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace stencil_tune
