#include "runtime/library/launch/box_copies.hpp"

#include "runtime/library/launch/stage_launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace stencil_tune {

std::span<const TemplateFile> box_copy_template();  // templates/box_copies.cuh as text

namespace {

constexpr std::size_t kBoxesALaunch = 32;
constexpr std::int64_t kThreads = 256;
constexpr std::int64_t kMostBlocks = 1024;  // blocks for a box: more cells than these have threads are walked over
constexpr std::int64_t kMostCells = std::int64_t{1} << 30;

/// templates/box_copies.cuh has the same structures, member by member.
struct BoxArgument {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::int64_t from_row = 0;
  std::int64_t from_plane = 0;
  std::int64_t to_row = 0;
  std::int64_t to_plane = 0;
  std::array<std::uint32_t, kMaxRank> extent{};
  std::uint32_t unused = 0;
};
using Argument = std::array<BoxArgument, kBoxesALaunch>;

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

BoxArgument argument_of(const BoxCopy& box) {
  BoxArgument argument{.from = box.from.first,
                       .to = box.to.first,
                       .from_row = box.from.row,
                       .from_plane = box.from.plane,
                       .to_row = box.to.row,
                       .to_plane = box.to.plane};
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    argument.extent[axis] = static_cast<std::uint32_t>(box.extent[axis]);
  }
  return argument;
}

}  // namespace

KernelSource box_copy_source(std::size_t cell_bytes) {
  const std::string_view cell = cell_bytes == 8   ? "unsigned long long"
                                : cell_bytes == 4 ? "unsigned"
                                : cell_bytes == 2 ? "unsigned short"
                                                  : "unsigned char";
  return {.text = fmt::format(R"({}
STENCIL_KERNEL void __launch_bounds__(stencil_tune::kBoxCopyThreads)
stencil_box_copies(const __grid_constant__ stencil_tune::BoxCopies<{}> arguments) {{
  stencil_tune::copy_boxes(arguments);
}}
)",
                              box_copy_template().front().text, cell),
          .entry = "stencil_box_copies"};
}

void BoxCopier::copy(std::uint64_t context, std::span<const BoxCopy> boxes, CUstream_st* stream) const {
  std::vector<BoxCopy> pieces;
  for (const BoxCopy& box : boxes) add_countable(box, cell_bytes_, pieces);
  if (pieces.empty()) return;
  const Module* module = kernel_->find(context);
  if (module == nullptr) refuse_context(context != 0);
  for (std::size_t first = 0; first < pieces.size(); first += kBoxesALaunch) {
    const std::size_t count = std::min(kBoxesALaunch, pieces.size() - first);
    Argument argument{};
    std::int64_t most = 0;
    for (std::size_t i = 0; i < count; ++i) {
      argument[i] = argument_of(pieces[first + i]);
      most = std::max(most, cells_of(pieces[first + i]));
    }
    const std::int64_t blocks = std::min(kMostBlocks, (most + kThreads - 1) / kThreads);
    module->launch({.grid = {static_cast<unsigned>(blocks), static_cast<unsigned>(count), 1},
                    .block = {static_cast<unsigned>(kThreads), 1, 1}},
                   std::as_bytes(std::span(&argument, 1)), stream);
  }
}

}  // namespace stencil_tune
