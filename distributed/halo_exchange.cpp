#include "distributed/halo_exchange.hpp"

#include <algorithm>

namespace stencil_tune {
namespace {

DevicePointer address_of(const void* buffer) { return reinterpret_cast<DevicePointer>(buffer); }

std::size_t bytes_to_pack(const ExchangePlan& plan, std::int64_t cells, std::size_t cell_bytes) {
  return plan.contiguous ? cell_bytes : std::max<std::size_t>(static_cast<std::size_t>(cells), 1) * cell_bytes;
}

}  // namespace

HaloExchange::HaloExchange(Driver& driver, Communicator& ranks, const Problem& problem, const LoadedKernel& plain,
                           const ExchangePlan& most)
    : driver_(driver),
      ranks_(ranks),
      cell_bytes_(size_of(problem.type)),
      pitch_(problem.pitch),
      plane_(problem.pitch * problem.extents.n[1]),
      copier_(plain.beside(box_copy_source(cell_bytes_)), cell_bytes_),
      sent_(driver, bytes_to_pack(most, most.cells_sent(), cell_bytes_)),
      received_(driver, bytes_to_pack(most, most.cells_received(), cell_bytes_)) {}

void HaloExchange::run(const ExchangePlan& plan, std::span<void* const> buffers, CUstream_st* stream) {
  if (plan.sends.empty() && plan.receives.empty()) return;
  if (plan.contiguous) {
    ranks_.exchange(in_fields(plan.sends, buffers), in_fields(plan.receives, buffers), stream);
    return;
  }
  copy(packing(plan.sends, sent_, buffers), stream);
  ranks_.exchange(in_dense(plan.sends, sent_), in_dense(plan.receives, received_), stream);
  std::vector<BoxCopy> unpacking = packing(plan.receives, received_, buffers);
  for (BoxCopy& box : unpacking) box = box.back();
  copy(unpacking, stream);
}

void HaloExchange::pack(void* field, const Box& cells, DevicePointer dense, CUstream_st* stream) const {
  copy(std::vector{packing(field, cells, dense)}, stream);
}

void HaloExchange::unpack(void* field, const Box& cells, DevicePointer dense, CUstream_st* stream) const {
  copy(std::vector{packing(field, cells, dense).back()}, stream);
}

void HaloExchange::copy(std::span<const BoxCopy> boxes, CUstream_st* stream) const {
  copier_.copy(driver_.current_context_id(), boxes, stream);
}

BoxCopy HaloExchange::packing(const void* field, const Box& cells, DevicePointer dense) const {
  const auto extent = extent_of(cells);
  return {.from = CellRows{address_of(field), pitch_, plane_}.at(cells.low, cell_bytes_),
          .to = {dense, extent[0], extent[0] * extent[1]},
          .extent = extent};
}

std::vector<BoxCopy> HaloExchange::packing(const std::vector<Message>& messages, const DeviceBuffer& dense,
                                           std::span<void* const> buffers) const {
  std::vector<BoxCopy> boxes;
  for (const Message& message : messages) {
    for (const MessagePart& part : message.parts) {
      boxes.push_back(packing(buffers[static_cast<std::size_t>(part.field)], part.cells,
                              dense.address() + static_cast<std::size_t>(part.start) * cell_bytes_));
    }
  }
  return boxes;
}

std::vector<Transfer> HaloExchange::in_dense(const std::vector<Message>& messages, const DeviceBuffer& dense) const {
  std::vector<Transfer> transfers;
  for (const Message& message : messages) {
    const DevicePointer at = dense.address() + static_cast<std::size_t>(message.parts.front().start) * cell_bytes_;
    transfers.push_back({.peer = message.peer,
                         .data = reinterpret_cast<void*>(at),
                         .bytes = static_cast<std::size_t>(message.cells) * cell_bytes_});
  }
  return transfers;
}

/// From a part's first cell to its last one, the padding of rows between them included.
std::vector<Transfer> HaloExchange::in_fields(const std::vector<Message>& messages,
                                              std::span<void* const> buffers) const {
  std::vector<Transfer> transfers;
  const auto cell_at = [&](std::int64_t x, std::int64_t y, std::int64_t z) { return z * plane_ + y * pitch_ + x; };
  for (const Message& message : messages) {
    for (const MessagePart& part : message.parts) {
      const Box& box = part.cells;
      const std::int64_t first = cell_at(box.low[0], box.low[1], box.low[2]);
      const std::int64_t end = cell_at(box.high[0], box.high[1] - 1, box.high[2] - 1);
      const DevicePointer field = address_of(buffers[static_cast<std::size_t>(part.field)]);
      transfers.push_back({.peer = message.peer,
                           .data = reinterpret_cast<void*>(field + static_cast<std::size_t>(first) * cell_bytes_),
                           .bytes = static_cast<std::size_t>(end - first) * cell_bytes_});
    }
  }
  return transfers;
}

}  // namespace stencil_tune
