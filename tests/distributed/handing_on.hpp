// A communicator around another one, for tests that change what one of its calls does.
#pragma once

#include "stencil_tune/communicator.hpp"

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace stencil_tune {

/// Hands every call on.
class HandingOn : public Communicator {
 public:
  explicit HandingOn(std::shared_ptr<Communicator> ranks) : ranks_(std::move(ranks)) {}

  int rank() const noexcept override { return ranks_->rank(); }
  int size() const noexcept override { return ranks_->size(); }
  void exchange(Span<const Transfer> sends, Span<const Transfer> receives, CUstream_st* stream) override {
    ranks_->exchange(sends, receives, stream);
  }
  std::vector<std::byte> all_gather(Span<const std::byte> mine) override { return ranks_->all_gather(mine); }
  void wait(CUstream_st* stream) override { ranks_->wait(stream); }
  void check() override { ranks_->check(); }
  void abort() noexcept override { ranks_->abort(); }

 private:
  std::shared_ptr<Communicator> ranks_;
};

}  // namespace stencil_tune
