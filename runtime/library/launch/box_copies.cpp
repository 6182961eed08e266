#include "runtime/library/launch/box_copies.hpp"

#include "runtime/library/launch/stage_launch.hpp"
#include "templates/box_copy_arguments.cuh"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <string_view>
#include <vector>

namespace stencil_tune {

namespace {

constexpr std::int64_t kCellsOfBlock = kBoxCopyThreads * kBoxCopyCells;
constexpr std::int64_t kMostBlocks = 1024;  // blocks for a box: more cells than these have threads are walked over
constexpr std::int64_t kMostCells = std::int64_t{1} << 30;

std::int64_t cells_of(const BoxCopy& box) { return box.extent[0] * box.extent[1] * box.extent[2]; }

/// Adds the box in pieces whose cells a kernel can count in 32 bits; an empty one adds none.
void add_countable(const BoxCopy& box, std::size_t cell_bytes, std::vector<BoxCopy>& pieces) {
  if (cells_of(box) == 0) return;
  if (cells_of(box) <= kMostCells) return pieces.push_back(box);
  std::size_t axis = 2;  // the slowest one that can be halved
  while (axis > 0 && box.extent[axis] == 1) --axis;
  BoxCopy low = box, high = box;
  std::array<std::int64_t, kMaxRank> middle{};
  middle[axis] = low.extent[axis] = box.extent[axis] / 2;
  high.extent[axis] -= middle[axis];
  high.from = box.from.at(middle, cell_bytes);
  high.to = box.to.at(middle, cell_bytes);
  add_countable(low, cell_bytes, pieces);
  add_countable(high, cell_bytes, pieces);
}

Divisor divisor_of(std::int64_t number) {
  const auto divisor = static_cast<std::uint64_t>(number);
  const unsigned shift = 31 + static_cast<unsigned>(std::bit_width(divisor - 1));
  return {static_cast<unsigned>(((std::uint64_t{1} << shift) + divisor - 1) / divisor), shift};
}

BoxArgument<std::byte> argument_of(const BoxCopy& box, unsigned end_block) {
  BoxArgument<std::byte> argument{.from = reinterpret_cast<const std::byte*>(box.from.first),
                                  .to = reinterpret_cast<std::byte*>(box.to.first),
                                  .from_row = box.from.row,
                                  .from_plane = box.from.plane,
                                  .to_row = box.to.row,
                                  .to_plane = box.to.plane,
                                  .extent = {},
                                  .end_block = end_block,
                                  .row = divisor_of(box.extent[0]),
                                  .plane = divisor_of(box.extent[1])};
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    argument.extent[axis] = static_cast<unsigned>(box.extent[axis]);
  }
  return argument;
}

}  // namespace

KernelSource box_copy_source(std::size_t cell_bytes) {
  const std::string_view cell = cell_bytes == 8   ? "unsigned long long"
                                : cell_bytes == 4 ? "unsigned"
                                : cell_bytes == 2 ? "unsigned short"
                                                  : "unsigned char";
  return {.text = fmt::format(R"(#include "stencil_tune/box_copies.cuh"

STENCIL_KERNEL void __launch_bounds__(stencil_tune::kBoxCopyThreads)
stencil_box_copies(const __grid_constant__ stencil_tune::BoxArguments<{}> arguments) {{
  stencil_tune::copy_boxes(arguments);
}}
)",
                              cell),
          .entry = "stencil_box_copies"};
}

void BoxCopier::copy(std::uint64_t context, std::span<const BoxCopy> boxes, CUstream_st* stream) const {
  std::vector<BoxCopy> pieces;
  for (const BoxCopy& box : boxes) add_countable(box, cell_bytes_, pieces);
  if (pieces.empty()) return;
  const Module* module = kernel_->find(context);
  if (module == nullptr) refuse_context(context != 0);
  for (std::size_t first = 0; first < pieces.size(); first += kBoxCopies) {
    BoxArguments<std::byte> argument{};
    unsigned blocks = 0;
    for (std::size_t i = 0; i < std::min<std::size_t>(kBoxCopies, pieces.size() - first); ++i) {
      const BoxCopy& box = pieces[first + i];
      blocks += static_cast<unsigned>(std::min(kMostBlocks, (cells_of(box) + kCellsOfBlock - 1) / kCellsOfBlock));
      argument.boxes[i] = argument_of(box, blocks);
    }
    module->launch({.grid = {blocks, 1, 1}, .block = {kBoxCopyThreads, 1, 1}}, std::as_bytes(std::span(&argument, 1)),
                   stream);
  }
}

}  // namespace stencil_tune
