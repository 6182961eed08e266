// The cases that GPUs run through NCCL (tests/gpu/nccl_runs_test.cpp), here on ranks that are threads; and that they
// notice what is wrong.
#include "tests/distributed/cut_cases.hpp"

#include "bench/scaling/starting_cells.hpp"
#include "tests/distributed/handing_on.hpp"
#include "tests/distributed/runs_on_host.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <stdexcept>

namespace stencil_tune {
namespace {

/// On rank 1 nothing arrives from the n-th exchange.
class Forgetful final : public HandingOn {
 public:
  Forgetful(std::shared_ptr<Communicator> ranks, int forgotten) : HandingOn(std::move(ranks)), forgotten_(forgotten) {}

  void exchange(Span<const Transfer> sends, Span<const Transfer> receives, CUstream_st* stream) override {
    std::vector<std::vector<std::byte>> before;
    for (const Transfer& receive : receives) {
      const auto* bytes = static_cast<const std::byte*>(receive.data);
      before.emplace_back(bytes, bytes + receive.bytes);
    }
    HandingOn::exchange(sends, receives, stream);
    if (rank() != 1 || exchanges_++ != forgotten_) return;
    for (std::size_t i = 0; i < receives.size(); ++i) std::memcpy(receives[i].data, before[i].data(), before[i].size());
  }

 private:
  int forgotten_;
  int exchanges_ = 0;
};

class HostRanks final : public bench::Ranks {
 public:
  HostRanks(int count, int forgotten) : count_(count), forgotten_(forgotten) {}

  int size() const override { return count_; }
  void run(const bench::RankBody& body) override {
    const auto errors = ThreadRanks(count_).run([&](const std::shared_ptr<Communicator>& ranks) {
      body(forgotten_ < 0 ? ranks : std::make_shared<Forgetful>(ranks, forgotten_));
    });
    for (const std::string& error : errors) {
      if (!error.empty()) throw std::runtime_error(error);
    }
  }

 private:
  int count_, forgotten_;
};

class HostMachine final : public Machine {
 public:
  /// forgotten: which exchange; -1: none.
  HostMachine(SharedHostDriver& driver, int forgotten) : driver_(driver), forgotten_(forgotten) {}

  bench::Ranks& ranks(int count) override {
    return ranks_.try_emplace(count, count, count > 1 ? forgotten_ : -1).first->second;
  }
  Driver& driver() override { return driver_; }
  std::shared_ptr<Compiler> compiler() override { return std::make_shared<SourceCompiler>(); }
  void replay(CUstream_st*, int launches, const std::function<void()>& work) override {
    GraphRecorder::of_thread().begin();
    work();
    const RecordedGraph graph = GraphRecorder::of_thread().end();
    for (int i = 0; i < launches; ++i) launch(graph);
  }

 private:
  SharedHostDriver& driver_;
  int forgotten_;
  std::map<int, HostRanks> ranks_;
};

class CutCasesOnHost : public RunsOnHost {
 protected:
  static void expect_one_domain(const CutCases& cases, const std::vector<Cut>& cuts) {
    HostMachine machine(driver(), -1);
    for (const CutCase& run : cases.make(cuts, kExtents)) {
      const Compared compared = compare_with_one_rank(machine, run);
      EXPECT_EQ(compared.difference, "") << run.describe();
      const auto& edges = run.request.boundaries;
      const bool periodic = std::find(edges.begin(), edges.end(), Boundary::periodic) != edges.end();
      EXPECT_TRUE(compared.to_the_bit || periodic || run.cut[2] == 1) << run.describe();
    }
  }

  static constexpr std::array<std::int64_t, kMaxRank> kExtents{70, 40, 22};
};

class EachCutCase : public CutCasesOnHost, public ::testing::WithParamInterface<CutCases> {};

TEST_P(EachCutCase, IsOneDomain) { expect_one_domain(GetParam(), {{1, 1, 2}}); }

INSTANTIATE_TEST_SUITE_P(AlongTheSlowestAxis, EachCutCase,
                         ::testing::ValuesIn(all_cut_cases().begin(), all_cut_cases().end()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_F(CutCasesOnHost, WhereFacesArePacked) { expect_one_domain(all_cut_cases().front(), {{2, 1, 1}}); }

TEST_F(CutCasesOnHost, AMessageThatDoesNotArriveIsNoticed) {
  for (const CutCases& cases : all_cut_cases()) {
    for (const CutCase& run : cases.make({{1, 1, 2}}, kExtents)) {
      if (run.fused > 1 || run.per_exchange > 0) continue;  // one of each, those that compile fastest
      HostMachine machine(driver(), 0);
      EXPECT_NE(compare_with_one_rank(machine, run).difference, "") << run.describe();
      break;
    }
  }
}

TEST(StartingCells, AreRandomAndWithinTheirRangeInEveryType) {
  for (const ElementType type : {ElementType::f64, ElementType::f32, ElementType::f16, ElementType::bf16}) {
    for (const auto& [start, least, most] :
         {std::tuple(bench::Start::state, -1.0, 1.0), std::tuple(bench::Start::known, 0.25, 0.375)}) {
      const auto cells = bench::starting_cells(10000, type, start, 1);
      EXPECT_NE(cells, bench::starting_cells(10000, type, start, 2));
      std::vector<double> values = bench::values_of(cells, type);
      ASSERT_EQ(values.size(), 10000U);
      const auto [low, high] = std::minmax_element(values.begin(), values.end());
      EXPECT_GE(*low, least);
      EXPECT_LT(*low, least + 0.01);
      EXPECT_LE(*high, most);
      EXPECT_GT(*high, most - 0.01);
      double sum = 0;
      for (const double value : values) sum += value;
      EXPECT_NEAR(sum / 10000, (least + most) / 2, 0.03) << name(type);
    }
  }
}

TEST(StartingCells, HoldNumbersOfTheirType) {
  const std::array<std::uint16_t, 6> halves{0x3c00, 0xc000, 0x0001, 0x7c00, 0xfbff, 0x3555};
  const auto values = bench::values_of(as_bytes(halves), ElementType::f16);
  EXPECT_EQ(values[0], 1);
  EXPECT_EQ(values[1], -2);
  EXPECT_EQ(values[2], 0x1p-24);
  EXPECT_TRUE(std::isinf(values[3]));
  EXPECT_EQ(values[4], -65504);
  EXPECT_NEAR(values[5], 1.0 / 3, 1e-3);
  const std::array<std::uint16_t, 2> brains{0x3f80, 0xc040};
  EXPECT_EQ(bench::values_of(as_bytes(brains), ElementType::bf16), (std::vector<double>{1, -3}));
}

}  // namespace
}  // namespace stencil_tune
