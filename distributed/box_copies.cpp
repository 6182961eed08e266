#include "distributed/box_copies.hpp"

#include "runtime/library/launch/stage_launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace stencil_tune {

std::span<const TemplateFile> box_copy_template();  // templates/box_copies.cuh as text

namespace {

constexpr std::size_t kBoxesALaunch = 64;
constexpr std::int64_t kThreads = 256;
constexpr std::int64_t kMostBlocks = 1024;  // of a box: more cells than these have threads are walked over
constexpr std::int64_t kMostCells = std::int64_t{1} << 30;

/// templates/box_copies.cuh has the same structures, member by member.
struct BoxArgument {
  std::uint64_t field = 0;
  std::uint64_t dense = 0;
  std::int64_t row = 0;
  std::int64_t plane = 0;
  std::array<std::uint32_t, kMaxRank> extent{};
  std::uint32_t unused = 0;
};
using Argument = std::array<BoxArgument, kBoxesALaunch>;

/// The box as pieces whose cells a kernel can count in 32 bits, and which lie one after another in the dense array.
std::vector<PackedBox> countable(const PackedBox& box, std::size_t cell_bytes) {
  if (box.cells.cells() <= kMostCells) return {box};
  std::size_t axis = 2;  // the slowest one that can be halved
  while (axis > 0 && box.cells.high[axis] - box.cells.low[axis] == 1) --axis;
  PackedBox first = box, second = box;
  const std::int64_t middle = (box.cells.low[axis] + box.cells.high[axis]) / 2;
  first.cells.high[axis] = second.cells.low[axis] = middle;
  second.dense += static_cast<std::size_t>(first.cells.cells()) * cell_bytes;
  std::vector<PackedBox> pieces = countable(first, cell_bytes);
  const std::vector<PackedBox> more = countable(second, cell_bytes);
  pieces.insert(pieces.end(), more.begin(), more.end());
  return pieces;
}

}  // namespace

KernelSource box_copy_source(bool pack, std::size_t cell_bytes) {
  const std::string_view cell = cell_bytes == 8   ? "unsigned long long"
                                : cell_bytes == 4 ? "unsigned"
                                                  : "unsigned short";
  return {.text = fmt::format(R"({}
STENCIL_KERNEL void __launch_bounds__(stencil_tune::kBoxCopyThreads)
stencil_box_copies(const __grid_constant__ stencil_tune::BoxCopies<{}> arguments) {{
  stencil_tune::copy_boxes<{}>(arguments);
}}
)",
                              box_copy_template().front().text, cell, pack),
          .entry = "stencil_box_copies"};
}

BoxCopier::BoxCopier(const LoadedKernel& plain, std::size_t cell_bytes, std::int64_t pitch, std::int64_t plane)
    : cell_bytes_(cell_bytes),
      pitch_(pitch),
      plane_(plane),
      pack_(plain.beside(box_copy_source(true, cell_bytes))),
      unpack_(plain.beside(box_copy_source(false, cell_bytes))) {}

void BoxCopier::prepare() {
  pack_->prepare(0);
  unpack_->prepare(0);
}

void BoxCopier::pack(Driver& driver, std::span<const PackedBox> boxes, CUstream_st* stream) const {
  launch(driver, *pack_, boxes, stream);
}

void BoxCopier::unpack(Driver& driver, std::span<const PackedBox> boxes, CUstream_st* stream) const {
  launch(driver, *unpack_, boxes, stream);
}

void BoxCopier::launch(Driver& driver, const LoadedKernel& kernel, std::span<const PackedBox> boxes,
                       CUstream_st* stream) const {
  const std::uint64_t context = driver.current_context_id();
  const Module* module = kernel.find(context);
  if (module == nullptr) refuse_context(context != 0);
  std::vector<PackedBox> pieces;
  for (const PackedBox& box : boxes) {
    if (box.cells.cells() == 0) continue;
    const std::vector<PackedBox> more = countable(box, cell_bytes_);
    pieces.insert(pieces.end(), more.begin(), more.end());
  }
  for (std::size_t first = 0; first < pieces.size(); first += kBoxesALaunch) {
    const std::size_t count = std::min(kBoxesALaunch, pieces.size() - first);
    Argument argument{};
    std::int64_t most = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const PackedBox& piece = pieces[first + i];
      const Box& box = piece.cells;
      const std::int64_t start = box.low[2] * plane_ + box.low[1] * pitch_ + box.low[0];
      argument[i] = {.field = piece.field + static_cast<std::size_t>(start) * cell_bytes_,
                     .dense = piece.dense,
                     .row = pitch_,
                     .plane = plane_};
      for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
        argument[i].extent[axis] = static_cast<std::uint32_t>(box.high[axis] - box.low[axis]);
      }
      most = std::max(most, box.cells());
    }
    const std::int64_t blocks = std::min(kMostBlocks, (most + kThreads - 1) / kThreads);
    module->launch({.grid = {static_cast<unsigned>(blocks), static_cast<unsigned>(count), 1},
                    .block = {static_cast<unsigned>(kThreads), 1, 1}},
                   std::as_bytes(std::span(&argument, 1)), stream);
  }
}

}  // namespace stencil_tune
