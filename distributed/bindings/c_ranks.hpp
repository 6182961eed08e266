// Ranks that a C program brings: its own functions behind a Communicator.
#pragma once

#include "runtime/cuda/driver.hpp"
#include "stencil_tune/communicator.hpp"
#include "stencil_tune/stencil_tune_distributed.h"

#include <string>
#include <vector>

namespace stencil_tune {

/// Calls the functions of `ranks`. Where they take host memory, cells are copied to it and back.
class CallbackCommunicator final : public Communicator {
 public:
  /// Throws Error(invalid_argument) for functions that are missing and ranks that cannot be.
  CallbackCommunicator(const stencil_tune_ranks& ranks, Driver& driver);

  int rank() const noexcept override { return ranks_.rank; }
  int size() const noexcept override { return ranks_.size; }

  void exchange(Span<const Transfer> sends, Span<const Transfer> receives, CUstream_st* stream) override;
  std::vector<std::byte> all_gather(Span<const std::byte> mine) override;
  void wait(CUstream_st* stream) override;
  void check() override;
  void abort() noexcept override;

 private:
  /// Gives the group up where the function failed.
  void require(std::int32_t result, const char* what);

  stencil_tune_ranks ranks_;
  Driver& driver_;
  bool aborted_ = false;
  std::vector<std::byte> sent_, received_;  // in host memory
};

}  // namespace stencil_tune
