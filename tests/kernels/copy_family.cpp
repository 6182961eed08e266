#include "tests/kernels/copy_family.hpp"

#include "runtime/model/family_model.hpp"

namespace stencil_tune {
namespace {

constexpr std::string_view kTemplate = R"(// copy: each cell of the box to the same place of the output.
#pragma once

#include "stencil_tune/window.cuh"

namespace stencil_tune {

template <class S, class T>
STENCIL_DEVICE void copy(const Arguments<S>& a) {
  const TileIndex tile = tile_of_block<T>(a.tiles);
  const long long y = a.origin[1] + static_cast<long long>(tile.y) * T::kBlockY + thread_y();
  const long long z = a.origin[2] + tile.z;
  if (y >= a.high[1] || z >= a.high[2]) return;
  for (int i = 0; i < T::kUnroll; ++i) {
    const long long x = a.origin[0] + (static_cast<long long>(tile.x) * T::kUnroll + i) * T::kBlockX + thread_x();
    if (x < a.low[0] || x >= a.high[0]) continue;
    const long long cell = z * a.stride_z + y * a.stride_y + x;
    a.out[0][cell] = a.in[0][cell];
  }
}

}  // namespace stencil_tune
)";

Verdict copies_alone(const Candidate& candidate, const Limits&) {
  const StageFacts& facts = candidate.problem().facts;
  const bool copy = facts.operations == 0 && facts.taps.size() == 1 && facts.taps[0].offset == Offset{0, 0, 0} &&
                    facts.outputs.size() == 1;
  if (copy) return {};
  return "the update is more than the cell itself";
}

void shape_of(const Problem&, const Tuning& tuning, KernelShape& shape) {
  shape.tile = {std::int64_t{tuning.block_x} * tuning.unroll, tuning.block_y, 1};
  shape.live_registers = shape.unrolled_work = tuning.unroll;
}

}  // namespace

const Family& copy_family() {
  static const Family entry{
      .name = "copy",
      .meaning = "Cells as they are.",
      .serves = [](const Problem& problem) { return problem.extents.rank == 3; },
      .axes =
          [](int) {
            return std::array<int, kMaxRank>{0, 1, 2};
          },
      .parameters = {threads_in_x({32, 64}), threads_in_y(), unrolled_iterations({1, 2, 4})},
      .constraints = {{"copies_alone", "The update is the cell itself.", copies_alone}},
      .kernel_template = [](const Tuning&) { return KernelTemplate{.file = "copy.cuh", .function = "copy"}; },
      .shape = shape_of,
      .constants =
          [](const Candidate&) {
            return std::string(
                "  static constexpr int kCluster = 1, kClusterAxis = -1;\n"
                "  static constexpr auto kOrder = stencil_tune::BlockOrder::natural;\n");
          },
      .defaults = [](const Problem&) { return std::vector<Tuning>{Tuning(copy_family())}; },
      .textbook_loads =
          [](const Candidate&) {
            return TextbookLoads{1, 0};
          },
      .files = {{"stencil_tune/copy.cuh", kTemplate}},
  };
  return entry;
}

void add_copy_family() {
  add_family(copy_family());
  add_family_model({"copy", count_direct_work, time_sweep});
}

Problem copy_problem(const Extents& extents, ElementType type) {
  StencilBuilder builder("copy", 3);
  const int u = builder.field("u");
  builder.update(builder.field("u_next"), builder.read(u, {0, 0, 0}));
  return make_problem(std::move(builder).build(), type, {}, extents, extents.n[0] + 3);
}

}  // namespace stencil_tune
