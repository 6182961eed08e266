#include "runtime/library/launch/tap_launch.hpp"

#include "generator/kernel_source/stage_text.hpp"
#include "generator/stencil/indices.hpp"
#include "generator/stencil/rewriting/carry_out.hpp"
#include "runtime/library/launch/tap_template.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace stencil_tune {

namespace {

constexpr int kMostInputs = 8;
constexpr std::array<int, 2> kCapacities{64, 1024};
constexpr std::int64_t kBlockX = 32;
constexpr std::int64_t kBlockY = 8;
constexpr std::int64_t kMostBlocks = (std::int64_t{1} << 31) - 1;  // blocks of a launch along x

/// templates/taps.cuh has the same structure, member by member.
template <class Value, int kCapacity>
struct Arguments {
  std::array<std::uint64_t, kMostInputs> in{};
  std::uint64_t out = 0;
  std::array<std::int64_t, kMaxRank> low{};
  std::array<std::int64_t, kMaxRank> high{};
  std::array<std::int64_t, kMaxRank> n{};
  std::int64_t stride_y = 0;
  std::int64_t stride_z = 0;
  std::array<std::int64_t, kMaxRank> reach_low{};
  std::array<std::int64_t, kMaxRank> reach_high{};
  std::array<std::uint32_t, 2> tiles{};
  std::array<std::int32_t, kMaxRank> boundary{};
  std::int32_t taps = 0;
  std::array<Value, kCapacity> weight{};
  std::array<std::array<std::int8_t, 4>, kCapacity> offset{};
};

/// Blocks of a launch that updates the box; saturates.
std::int64_t blocks_of(const Box& box) {
  return saturating_product({(box.high[0] - box.low[0] + kBlockX - 1) / kBlockX,
                             (box.high[1] - box.low[1] + kBlockY - 1) / kBlockY, box.high[2] - box.low[2]});
}

int capacity_for(std::size_t taps) {
  const auto found = std::find_if(kCapacities.begin(), kCapacities.end(),
                                  [taps](int capacity) { return taps <= static_cast<std::size_t>(capacity); });
  return found == kCapacities.end() ? 0 : *found;
}

/// A node without reads; its operands' values are known. Not a number of a field: no weight is made of it.
double value_of(const Node& node, std::span<const double> values, std::span<const double> coefficients) {
  if (node.op == Operation::number) return node.value;
  if (node.op == Operation::coefficient) return coefficients[at(node.index)];
  std::array<double, 3> operands{};
  for (std::size_t i = 0; i < at(operand_count(node.op)); ++i) operands[i] = values[at(node.operands[i])];
  return carry_out(node.op, operands[0], operands[1], operands[2]);
}

}  // namespace

bool has_tap_table(const Problem& problem) {
  const StageFacts& facts = problem.facts;
  if (blocks_of(updated_box(problem)) > kMostBlocks || has_storage_types(problem)) return false;
  return facts.linear && facts.outputs.size() == 1 && !facts.linear_taps.empty() &&
         facts.inputs.size() <= static_cast<std::size_t>(kMostInputs) && capacity_for(facts.linear_taps.size()) > 0;
}

KernelSource tap_kernel_source(const Problem& problem) {
  const std::string type =
      fmt::format("{}, {}, {}", storage_type(problem.type), problem.type == ElementType::f64 ? "double" : "float",
                  capacity_for(problem.facts.linear_taps.size()));
  return {.text = fmt::format(R"({}
STENCIL_KERNEL void __launch_bounds__({})
stencil_taps(const __grid_constant__ stencil_tune::TapArguments<{}> arguments) {{
  stencil_tune::sum_taps(arguments);
}}
)",
                              tap_template().front().text, kBlockX * kBlockY, type),
          .entry = "stencil_taps"};
}

TapLaunch::TapLaunch(const Problem& problem)
    : stencil_(problem.stencil),
      facts_(problem.facts),
      type_(problem.type),
      boundaries_(problem.boundaries),
      extents_(problem.extents),
      pitch_(problem.pitch) {}

LaunchGeometry TapLaunch::geometry(const Box& box) {
  if (box.cells() == 0) return {.grid = {0, 0, 0}};
  return {.grid = {static_cast<unsigned>(blocks_of(box)), 1, 1},
          .block = {static_cast<unsigned>(kBlockX), static_cast<unsigned>(kBlockY), 1}};
}

std::vector<double> TapLaunch::weights(std::span<const double> coefficients) const {
  std::vector<double> own;
  if (coefficients.empty()) {
    for (const Coefficient& coefficient : stencil_.coefficients) own.push_back(coefficient.value);
    coefficients = own;
  }
  std::vector<double> values;
  values.reserve(stencil_.nodes.size());
  for (const Node& node : stencil_.nodes) values.push_back(value_of(node, values, coefficients));
  std::vector<double> result;
  for (const LinearTap& tap : facts_.linear_taps) {
    const double weight = tap.weight < 0 ? 1 : values[at(tap.weight)];
    result.push_back(tap.negative ? -weight : weight);
  }
  return result;
}

template <class Value, int kCapacity>
std::vector<std::byte> TapLaunch::pack(const Box& box, std::span<const std::uint64_t> inputs, std::uint64_t output,
                                       std::span<const double> coefficients) const {
  Arguments<Value, kCapacity> arguments;
  std::copy(inputs.begin(), inputs.end(), arguments.in.begin());
  arguments.out = output;
  arguments.low = box.low;
  arguments.high = box.high;
  arguments.n = extents_.n;
  arguments.stride_y = pitch_;
  arguments.stride_z = pitch_ * extents_.n[1];
  for (const auto& reach : facts_.reach) {
    for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
      arguments.reach_low[axis] = std::min<std::int64_t>(arguments.reach_low[axis], reach[axis].low);
      arguments.reach_high[axis] = std::max<std::int64_t>(arguments.reach_high[axis], reach[axis].high);
    }
  }
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    arguments.boundary[axis] = static_cast<std::int32_t>(boundaries_[axis]);
  }
  arguments.tiles = {static_cast<std::uint32_t>((box.high[0] - box.low[0] + kBlockX - 1) / kBlockX),
                     static_cast<std::uint32_t>((box.high[1] - box.low[1] + kBlockY - 1) / kBlockY)};
  arguments.taps = static_cast<std::int32_t>(facts_.linear_taps.size());
  const std::vector<double> all_weights = weights(coefficients);
  for (std::size_t i = 0; i < all_weights.size(); ++i) {
    const Tap& tap = facts_.linear_taps[i].tap;
    const auto input = std::find(facts_.inputs.begin(), facts_.inputs.end(), tap.field) - facts_.inputs.begin();
    arguments.weight[i] = static_cast<Value>(all_weights[i]);
    arguments.offset[i] = {static_cast<std::int8_t>(tap.offset[0]), static_cast<std::int8_t>(tap.offset[1]),
                           static_cast<std::int8_t>(tap.offset[2]), static_cast<std::int8_t>(input)};
  }
  std::vector<std::byte> bytes(sizeof(arguments));
  std::memcpy(bytes.data(), &arguments, sizeof(arguments));
  return bytes;
}

std::vector<std::byte> TapLaunch::argument(const Box& box, std::span<const std::uint64_t> inputs,
                                           std::span<const std::uint64_t> outputs,
                                           std::span<const double> coefficients) const {
  const bool few = capacity_for(facts_.linear_taps.size()) == kCapacities[0];
  if (type_ == ElementType::f64) {
    return few ? pack<double, kCapacities[0]>(box, inputs, outputs.front(), coefficients)
               : pack<double, kCapacities[1]>(box, inputs, outputs.front(), coefficients);
  }
  return few ? pack<float, kCapacities[0]>(box, inputs, outputs.front(), coefficients)
             : pack<float, kCapacities[1]>(box, inputs, outputs.front(), coefficients);
}

}  // namespace stencil_tune
