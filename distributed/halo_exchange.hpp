// Exchanges of halos on one rank: packs, sends, receives, unpacks.
#pragma once

#include "distributed/exchange_plan.hpp"
#include "generator/stencil/problem.hpp"
#include "runtime/library/launch/box_copies.hpp"
#include "stencil_tune/communicator.hpp"

#include <span>

namespace stencil_tune {

class HaloExchange {
 public:
  /// problem: of the rank's arrays. most: the exchange that has most cells. Allocates in the current context what its
  /// messages are packed in. plain: any kernel for the GPU.
  HaloExchange(Driver& driver, Communicator& ranks, const Problem& problem, const LoadedKernel& plain,
               const ExchangePlan& most);

  /// Compiles and loads into the current context.
  void prepare() { copier_.prepare(); }

  /// buffers: of each field. Asynchronous on the stream; exchanges follow each other on one stream.
  void run(const ExchangePlan& plan, std::span<void* const> buffers, CUstream_st* stream);

  /// A box of a field to a dense array of its cells, or back. Asynchronous.
  void pack(void* field, const Box& cells, DevicePointer dense, CUstream_st* stream) const;
  void unpack(void* field, const Box& cells, DevicePointer dense, CUstream_st* stream) const;

 private:
  /// From fields to where their boxes are packed.
  BoxCopy packing(const void* field, const Box& cells, DevicePointer dense) const;
  std::vector<BoxCopy> packing(const std::vector<Message>& messages, const DeviceBuffer& dense,
                               std::span<void* const> buffers) const;
  void copy(std::span<const BoxCopy> boxes, CUstream_st* stream) const;
  std::vector<Transfer> in_dense(const std::vector<Message>& messages, const DeviceBuffer& dense) const;
  std::vector<Transfer> in_fields(const std::vector<Message>& messages, std::span<void* const> buffers) const;

  Driver& driver_;
  Communicator& ranks_;
  std::size_t cell_bytes_;
  std::int64_t pitch_, plane_;
  BoxCopier copier_;
  DeviceBuffer sent_, received_;
};

}  // namespace stencil_tune
