// Kernels in the corners of grids of about 2^30 and 2^31 cells, where an index that is computed in too few bits goes
// wrong. The executor traps where signed integers overflow. Fields take address space alone: pages come when touched.
#include "generator/candidates/constraints.hpp"
#include "generator/candidates/family.hpp"
#include "generator/kernel_source/launch.hpp"
#include "tuner/executor/executor.hpp"
#include "tuner/verify/device/bounded.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <memory>
#include <ostream>

namespace stencil_tune {
namespace {

using Cell = std::array<std::int64_t, kMaxRank>;

class SparseField {
 public:
  explicit SparseField(std::int64_t cells) : bytes_(static_cast<std::size_t>(cells) * sizeof(float)) {
    constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    memory_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, kFlags, -1, 0);
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
  }
  ~SparseField() { ::munmap(memory_, bytes_); }
  SparseField(const SparseField&) = delete;
  SparseField& operator=(const SparseField&) = delete;

  float& operator[](std::int64_t place) { return static_cast<float*>(memory_)[place]; }
  std::uint64_t address() const { return reinterpret_cast<std::uintptr_t>(memory_); }

 private:
  std::size_t bytes_;
  void* memory_;
};

std::int64_t place(const Problem& problem, const Cell& cell) {
  return (cell[2] * problem.extents.n[1] + cell[1]) * problem.pitch + cell[0];
}

bool holds(const Box& box, const Cell& cell) {
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    if (cell[axis] < box.low[axis] || cell[axis] >= box.high[axis]) return false;
  }
  return true;
}

/// The problem's numbers, in whole ones that f32 holds: input, coefficients and the reference. What the reference reads
/// is written to the fields on the way.
class WholeNumbers {
 public:
  WholeNumbers(const Problem& problem, std::vector<std::unique_ptr<SparseField>>& inputs)
      : problem_(problem), inputs_(inputs) {}

  std::vector<double> coefficients() const {
    std::vector<double> values;
    for (std::size_t i = 0; i < problem_.stencil.coefficients.size(); ++i)
      values.push_back(static_cast<double>(i % 5) - 2);
    return values;
  }

  /// The value of the stage's only output after so many sweeps.
  double updated(const Cell& cell, int sweeps) {
    return value_of(problem_.stencil.stages[0].updates[0].expression, cell, sweeps);
  }

 private:
  double value_of(NodeId id, const Cell& cell, int sweeps) {
    const Node& node = problem_.stencil.nodes[static_cast<std::size_t>(id)];
    const auto operand = [&](std::size_t i) { return value_of(node.operands[i], cell, sweeps); };
    switch (node.op) {
      case Operation::coefficient:
        return coefficients()[static_cast<std::size_t>(node.index)];
      case Operation::read:
        return read(node, cell, sweeps);
      case Operation::add:
        return operand(0) + operand(1);
      case Operation::multiply:
        return operand(0) * operand(1);
      default:
        ADD_FAILURE() << "unexpected " << name(node.op);
        return 0;
    }
  }

  double read(const Node& node, Cell cell, int sweeps) {
    for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
      cell[axis] = check::mapped_index(cell[axis] + node.offset[axis], problem_.extents.n[axis],
                                       static_cast<int>(problem_.boundaries[axis]));
      if (cell[axis] < 0) return 0;
    }
    const auto& fields = problem_.facts.inputs;
    const auto input = static_cast<std::size_t>(std::find(fields.begin(), fields.end(), node.index) - fields.begin());
    if (sweeps > 1 && input == advanced_input(problem_) && holds(updated_box(problem_), cell)) {
      return updated(cell, sweeps - 1);
    }
    const std::int64_t at = place(problem_, cell);
    const auto value = static_cast<float>((at * 7 + static_cast<std::int64_t>(input) * 5) % 17 - 8);
    (*inputs_[input])[at] = value;
    return static_cast<double>(value);
  }

  const Problem& problem_;
  std::vector<std::unique_ptr<SparseField>>& inputs_;
};

/// A star whose centre a field that no step changes is multiplied with.
Stencil star_with_constant() {
  StencilBuilder b("varying", 3);
  const int u = b.field("u"), c = b.field("c");
  NodeId sum = b.apply(Operation::multiply, b.read(c, {0, 0, 0}), b.read(u, {0, 0, 0}));
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    for (const int distance : {-1, 1}) {
      Offset offset{0, 0, 0};
      offset[axis] = distance;
      sum = b.apply(Operation::add, sum, b.read(u, offset));
    }
  }
  const int next = b.field("u_next");
  b.update(next, sum);
  b.rotate(next, u);
  return std::move(b).build();
}

struct HugeCase {
  Stencil stencil;
  std::string_view code;
  Extents extents;
  bool wide;  ///< the kernel's indices take 64 bits
  std::int64_t pitch = 0;
};

void PrintTo(const HugeCase& huge, std::ostream* out) { *out << huge.code << " on " << to_string(huge.extents); }

/// The first or last few cells of the box.
Box corner(const Box& box, bool last) {
  Box part = box;
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    const std::int64_t length = std::min<std::int64_t>(box.high[axis] - box.low[axis], axis == 0 ? 5 : 2);
    if (last) {
      part.low[axis] = box.high[axis] - length;
    } else {
      part.high[axis] = box.low[axis] + length;
    }
  }
  return part;
}

void expect_right_in(const Candidate& candidate, const Box& box, const HostKernel& kernel) {
  const Problem& problem = candidate.problem();
  std::vector<std::unique_ptr<SparseField>> inputs;
  for (std::size_t i = 0; i < problem.facts.inputs.size(); ++i) {
    inputs.push_back(std::make_unique<SparseField>(problem.allocated_cells()));
  }
  SparseField output(problem.allocated_cells());
  WholeNumbers numbers(problem, inputs);
  std::vector<std::pair<Cell, double>> expected;
  for (std::int64_t z = box.low[2]; z < box.high[2]; ++z) {
    for (std::int64_t y = box.low[1]; y < box.high[1]; ++y) {
      for (std::int64_t x = box.low[0]; x < box.high[0]; ++x) {
        expected.emplace_back(Cell{x, y, z}, numbers.updated({x, y, z}, sweeps_per_launch(candidate.tuning())));
      }
    }
  }
  const KernelArguments arguments(candidate, box);
  const auto encode = [&](const TensorMapRequest& map, std::span<std::byte> to) {
    encode_tensor_map(map, sizeof(float), to);
  };
  std::vector<std::uint64_t> addresses;
  for (const auto& input : inputs) addresses.push_back(input->address());
  const auto packed = arguments.pack(addresses, std::vector{output.address()}, numbers.coefficients(), encode);
  const auto fault = kernel.run(launch_geometry(candidate, box), packed);
  ASSERT_FALSE(fault) << fault->message;
  for (const auto& [cell, value] : expected) {
    ASSERT_EQ(output[place(problem, cell)], value) << cell[0] << " " << cell[1] << " " << cell[2];
  }
}

const Stencil kStar1 = make_builtin(Shape::star, 1, 2), kStar2 = make_builtin(Shape::star, 2, 2),
              kStar3 = make_builtin(Shape::star, 3, 2), kFused = make_builtin(Shape::star, 3, 1);

constexpr Extents line(std::int64_t n) { return {1, {n, 1, 1}}; }
constexpr Extents plane(std::int64_t nx, std::int64_t ny) { return {2, {nx, ny, 1}}; }
constexpr Extents column(std::int64_t nz) { return {3, {64, 64, nz}}; }

// Below and above what 32 bits hold: the first extents of a kind are the largest of narrow kernels, but for a little.
const HugeCase kCases[]{
    {kStar1, "direct.bx32.by1", line(1LL << 30), false},
    {kStar1, "direct.bx32.by1.rx4.v4", line(1'200'000'000), true},
    {kStar1, "direct.bx32.by1", line((1LL << 31) - 17), true},
    {kStar1, "direct.bx32.by1.rx2", line((1LL << 31) + 77), true},
    {kStar1, "tiled.bx64.by1", line(1LL << 30), false},
    {kStar1, "tiled.bx64.by1", line((1LL << 31) - 1), true},
    {kStar2, "direct.bx32.by4.rx2.v2.zfirst", plane(1000, 2'146'000), false},
    {kStar2, "direct.bx32.by4", plane((1LL << 30) + 8, 1), true},
    {kStar2, "streaming.bx32.by1.cz4.regs.zfirst", plane(1000, 2'146'000), false},
    {kStar2, "streaming.bx32.by1.cz4.regs.zfirst", plane(1000, 2'147'600), true},
    {kStar2, "streaming.bx64.by1.cz4.ring.sums.pf1", plane(1 << 30, 1), true},
    {kStar3, "direct.bx32.by4.rx4.v4.zfirst", column(523'900), false},
    {kStar3, "direct.bx32.by4.cl2.zfirst", column(524'300), true},
    {kStar3, "direct.bx32.by16", {3, {200'000'000, 3, 1}}, true},  // for rows of the block beyond the grid alone
    {kStar3, "tiled.bx16.by4.zfirst", column(523'900), false},
    {kStar3, "streaming.bx32.by4.cz4.regs.pf2.zfirst", column(523'900), false},
    {kStar3, "streaming.bx32.by4.cz4.regs.sums.zfirst", column(523'900), false},
    {kStar3, "streaming.bx32.by4.cz4.regs.sums.zfirst", {3, {1 << 28, 3, 2}}, true},
    {kStar3, "streaming.bx16.by4.cz4.shared.zfirst", column(523'900), false},
    {kStar3, "streaming.bx16.by4.cz4.mixed.zfirst", column(523'900), false},
    {kStar3, "streaming.bx32.by4.cz4.ring.pf1.zfirst", column(523'900), false},
    {kStar3, "streaming.bx32.by4.cz4.ring.sums.pf1.zfirst", column(523'900), false},
    {kStar3, "streaming.bx32.by4.cz4.ring.sums.pf1.zfirst", column(524'300), true},
    {kStar3, "streaming.bx32.by4.cz4.ring.sums.cpasync.pf1.zfirst", column(523'900), false},
    {kFused, "temporal.bx32.by4.rx2.ry4.v2.pf2.t2.ch2", column(523'900), false},
    {kFused, "temporal.bx32.by4.rx2.ry4.v2.pf2.t2.ch2", column(524'300), true},
    {kFused, "temporal.bx32.by4.rx2.ry4.v2.tmarows.pf2.t2.ch2", column(523'900), false},
    {kFused, "temporal.bx32.by4.rx2.ry4.sums.v2.pf2.t2.ch2", column(523'900), false},
    {star_with_constant(), "temporal.bx32.by4.rx2.ry4.pf1.t6.ch1.tg6", {3, {200, 32, 4}}, true, 1 << 23},
};

class HugeGrids : public testing::TestWithParam<HugeCase> {};

TEST_P(HugeGrids, AreUpdatedRightInBothCornersUnderEveryBoundary) {
  const HugeCase& huge = GetParam();
  std::vector<Problem> problems;
  std::vector<KernelSource> sources;
  for (const Boundary each : {Boundary::hold, Boundary::zero, Boundary::clamp, Boundary::periodic, Boundary::reflect}) {
    problems.push_back(make_problem(huge.stencil, ElementType::f32, {each, each, each}, huge.extents, huge.pitch, 8));
    const Candidate candidate(problems.back(), parse_code(huge.code));
    if (!is_legal(candidate, Limits{}) || updated_box(problems.back()).cells() == 0) {
      problems.pop_back();
      continue;
    }
    EXPECT_EQ(candidate.shape().wide_index, huge.wide);
    sources.push_back(generate(candidate, "kernel_" + std::string(name(each))));
  }
  ASSERT_FALSE(problems.empty());
  const HostLibrary library(sources);
  for (std::size_t i = 0; i < problems.size(); ++i) {
    SCOPED_TRACE(sources[i].entry);
    const Candidate candidate(problems[i], parse_code(huge.code));
    for (const bool last : {false, true}) {
      expect_right_in(candidate, corner(updated_box(problems[i]), last), library.kernel(sources[i].entry));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, HugeGrids, testing::ValuesIn(kCases));

}  // namespace
}  // namespace stencil_tune
