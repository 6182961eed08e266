// How many steps are made between two exchanges, on links whose time is made up.
#include "distributed/exchange_time.hpp"
#include "generator/candidates/family.hpp"
#include "generator/candidates/space.hpp"
#include "tests/distributed/fused_winner.hpp"
#include "tests/distributed/handing_on.hpp"
#include "tests/distributed/runs_on_host.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace stencil_tune {
namespace {

thread_local double now_s = 0;  // on the rank's clock, which exchanges alone move on

class ClockedDriver final : public SharedHostDriver {
 public:
  void record_event(CUevent_st* event, CUstream_st*) override {
    const std::scoped_lock lock(mutex_);
    recorded_[event] = now_s;
  }
  float elapsed_ms(CUevent_st* start, CUevent_st* stop) override {
    const std::scoped_lock lock(mutex_);
    return static_cast<float>(1e3 * (recorded_.at(stop) - recorded_.at(start)));
  }

 private:
  std::mutex mutex_;
  std::map<CUevent_st*, double> recorded_;
};

struct Link {
  double latency_s = 0;
  double s_per_byte = 0;
};

/// Takes the link's time.
class LinkedRanks final : public HandingOn {
 public:
  LinkedRanks(std::shared_ptr<Communicator> ranks, Link link) : HandingOn(std::move(ranks)), link_(link) {}

  void exchange(Span<const Transfer> sends, Span<const Transfer> receives, CUstream_st* stream) override {
    HandingOn::exchange(sends, receives, stream);
    std::size_t sent = 0, received = 0;
    for (const Transfer& send : sends) sent += send.bytes;
    for (const Transfer& receive : receives) received += receive.bytes;
    now_s += link_.latency_s + static_cast<double>(std::max(sent, received)) * link_.s_per_byte;
  }

 private:
  Link link_;
};

/// GStencil/s of the kernels that are known, by how many steps they fuse.
using Rates = std::map<int, double>;

std::vector<WinnerRecord> winners_of(const Rates& rates, const Problem& problem, const std::string& architecture) {
  std::vector<WinnerRecord> winners;
  for (const auto& [fused, rate] : rates) {
    if (fused > problem.steps || (fused == 1) != (problem.steps == 1)) continue;
    Problem run = problem;
    run.steps = std::max(problem.steps, 2);
    std::vector<WinnerRecord> one = fused_winner(run, 2, architecture);
    if (one.empty()) continue;
    if (fused > 1) one = fused_winner(problem, fused, architecture);
    TrialRecord& trial = one.at(0).trial;
    trial.problem.steps = problem.steps;
    if (fused == 1) trial.code = code(*default_candidate(family_named("direct"), problem, {}));
    trial.rate = rate;
    winners.push_back(one.front());
  }
  return winners;
}

struct Chosen {
  int fused = 0;
  int per_exchange = 0;
  std::vector<double> cells{};  ///< after nine steps, on the first rank
};

class ExchangeChoiceOnHost : public ::testing::Test {
 protected:
  /// Ranks below each other, with a link each.
  Chosen choose(const Rates& rates, const std::vector<Link>& links, std::int64_t rows,
                DistributedOptions options = {}) {
    const auto ranks = static_cast<int>(links.size());
    const Request request = request_for("heat2d", {149, rows * ranks, 1}, Boundary::hold);
    options.cut = {1, ranks, 1};
    LibraryParts parts;
    parts.driver = []() -> Driver& { return driver(); };
    parts.compiler = [] { return std::make_shared<SourceCompiler>(); };
    parts.winners = [&](const Problem& problem, const std::string& architecture) {
      return winners_of(rates, problem, architecture);
    };
    Library library(std::make_unique<Library::Impl>(std::move(parts)));
    std::vector<Chosen> chosen(links.size());
    const auto errors = ThreadRanks(ranks).run([&](const std::shared_ptr<Communicator>& threads) {
      const auto rank = static_cast<std::size_t>(threads->rank());
      DistributedKernel kernel(library, std::make_shared<LinkedRanks>(threads, links[rank]), request, options);
      kernel.prepare(nullptr);
      DistributedFields fields(kernel);
      const std::vector<double> cells = random_cells(request).front();
      fields.scatter(0, 0, rank == 0 ? as_bytes(cells) : Span<const std::byte>());
      kernel.advance(nullptr, fields, 9);
      std::vector<double> after(rank == 0 ? cells.size() : 0);
      fields.gather(0, 0, as_writable_bytes(after));
      chosen[rank] = {kernel.kernel().fused_steps(), kernel.steps_per_exchange(), after};
    });
    for (const std::string& error : errors) EXPECT_EQ(error, "");
    for (const Chosen& other : chosen) EXPECT_EQ(other.per_exchange, chosen.front().per_exchange);
    return chosen.front();
  }

  static ClockedDriver& driver() {
    static ClockedDriver driver;
    return driver;
  }
};

constexpr Link kFree{};
constexpr Link kSlowToAnswer{.latency_s = 1e-3, .s_per_byte = 0};
const Rates kRates{{1, 1}, {2, 2}, {4, 4}};

TEST_F(ExchangeChoiceOnHost, ALaunchAnExchangeWhereLinksCostNothing) {
  const Chosen chosen = choose(kRates, {kFree, kFree}, 24);
  EXPECT_EQ(chosen.fused, 4);
  EXPECT_EQ(chosen.per_exchange, 4);
}

TEST_F(ExchangeChoiceOnHost, SeveralLaunchesAnExchangeWhereLinksAreSlowToAnswer) {
  const Chosen chosen = choose(kRates, {kSlowToAnswer, kSlowToAnswer}, 24);
  EXPECT_EQ(chosen.fused, 4);
  EXPECT_EQ(chosen.per_exchange, 16);
  EXPECT_EQ(chosen.cells, choose(kRates, {kFree, kFree}, 24).cells) << "equal to the bit";
}

TEST_F(ExchangeChoiceOnHost, TheSlowestRankDecidesForAll) {
  EXPECT_EQ(choose(kRates, {kFree, kSlowToAnswer, kFree}, 24).per_exchange, 16);
}

TEST_F(ExchangeChoiceOnHost, NoMoreStepsThanPartsAreThick) {
  EXPECT_EQ(choose(kRates, {kSlowToAnswer, kSlowToAnswer}, 9).per_exchange, 8);
}

TEST_F(ExchangeChoiceOnHost, AKernelThatFusesLessWhereHalosCostMoreThanItsRate) {
  const Rates rates{{1, 1}, {2, 3}, {4, 3.1}};
  const Chosen thin = choose(rates, {kFree, kFree, kFree}, 8);
  EXPECT_EQ(thin.fused, 2);
  EXPECT_EQ(thin.per_exchange, 2);
  EXPECT_EQ(choose(rates, {kFree, kFree, kFree}, 200).per_exchange, 4) << "thick parts have few halo cells";
}

TEST_F(ExchangeChoiceOnHost, NotForATrifle) {
  const Rates rates{{2, 3.6}, {4, 3.7}};
  EXPECT_EQ(choose(rates, {kFree, kFree}, 200).fused, 4);
  EXPECT_EQ(choose({{2, 3.05}, {4, 3}}, {kFree, kFree}, 400).fused, 2) << "the winner of the run itself";
}

TEST_F(ExchangeChoiceOnHost, WhatTheCallerSaysIsDone) {
  const Chosen chosen = choose(kRates, {kSlowToAnswer, kSlowToAnswer}, 24, {.steps_per_exchange = 3});
  EXPECT_EQ(chosen.per_exchange, 3);
  EXPECT_EQ(chosen.fused, 2);
}

TEST_F(ExchangeChoiceOnHost, HalosBesideLaunchesAreNotWeighed) {
  EXPECT_EQ(choose(kRates, {kSlowToAnswer, kSlowToAnswer}, 24, {.overlap = true}).per_exchange, 4);
}

TEST_F(ExchangeChoiceOnHost, WithoutAKnownRateAsManyAsAreFused) {
  EXPECT_EQ(choose({{4, 0}}, {kSlowToAnswer, kSlowToAnswer}, 24).per_exchange, 4);
}

TEST_F(ExchangeChoiceOnHost, AnExchangeIsTimedByItsMessages) {
  const Link link{.latency_s = 20e-6, .s_per_byte = 1 / 400e9};
  const Request request = request_for("heat2d", {100, 60, 1}, Boundary::hold);
  const Problem whole =
      make_problem(request.stencil, request.type, request.boundaries, request.extents, 0, 1, kWholeStep);
  const Decomposition grid(request.extents, request.boundaries, {1, 3, 1}, {{{0, 0}, {4, 4}, {0, 0}}});
  const auto errors = ThreadRanks(3).run([&](const std::shared_ptr<Communicator>& threads) {
    LinkedRanks ranks(threads, link);
    const ExchangePlan plan = plan_exchange(grid, ranks.rank(), halos_before(whole, 4));
    EXPECT_EQ(bytes_of(plan, 8), (ranks.rank() == 1 ? 2 : 1) * 4 * 100 * 8);
    const ExchangeTime time = time_exchange(driver(), ranks, plan, 8);
    EXPECT_NEAR(time.latency_s, 20e-6, 1e-9);
    EXPECT_NEAR(time.of(bytes_of(plan, 8)), 20e-6 + bytes_of(plan, 8) / 400e9, 1e-9);
    EXPECT_NEAR(time.s_per_byte * 400e9, 1, 0.05);
  });
  for (const std::string& error : errors) EXPECT_EQ(error, "");
}

}  // namespace
}  // namespace stencil_tune
