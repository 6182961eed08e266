// The executor itself, shown on small kernels written by hand.
#include "tuner/executor/executor.hpp"

#include "stencil_tune/error.hpp"
#include "tuner/executor/guarded_array.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace stencil_tune {
namespace {

constexpr ThreadOrder kOrders[]{ThreadOrder::ascending, ThreadOrder::descending, ThreadOrder::random};

// Every kernel of this file, in one library: each takes Pointers.
constexpr std::string_view kKernels = R"cuh(
#include "stencil_tune/device.cuh"
using namespace stencil_tune;

struct Pointers {
  const float* in;
  float* out;
  int n;
};

// out[block] = sum of 64 cells of in, halved in shared memory.
template <bool kBarrier>
STENCIL_DEVICE void reduce(const Pointers& p) {
  float* cells = reinterpret_cast<float*>(shared_memory());
  const int i = thread_x();
  cells[i] = p.in[block_x() * 64 + i];
  for (int half = 32; half > 0; half /= 2) {
    if (kBarrier) barrier();
    if (i < half) cells[i] += cells[i + half];
  }
  if (i == 0) p.out[block_x()] = cells[0];
}
STENCIL_KERNEL void __launch_bounds__(64) reduce_right(const __grid_constant__ Pointers p) { reduce<true>(p); }
STENCIL_KERNEL void reduce_without_barrier(const Pointers p) { reduce<false>(p); }

STENCIL_KERNEL void reverse_pairs(const Pointers p) {  // cells move two lanes up, within groups of 8
  p.out[thread_x()] = shuffle_up(p.in[thread_x()], 2, 8);
}
STENCIL_KERNEL void shuffle_down_all(const Pointers p) { p.out[thread_x()] = shuffle_down(p.in[thread_x()], 1, 32); }
STENCIL_KERNEL void shuffle_from_the_gone(const Pointers p) {
  if (thread_x() >= p.n) return;
  p.out[thread_x()] = shuffle_down(p.in[thread_x()], 1, 32);
}

STENCIL_KERNEL void read_at_n(const Pointers p) { p.out[0] = p.in[p.n]; }
STENCIL_KERNEL void write_at_n(const Pointers p) { p.out[p.n] = 1; }
STENCIL_KERNEL void load_vector(const Pointers p) {
  using W = Word<16>::Type;
  const W word = load_word<LoadHint::cached>(reinterpret_cast<const W*>(p.in + p.n));
  store_word<StoreHint::write_back>(reinterpret_cast<W*>(p.out), word);
}
STENCIL_KERNEL void store_vector(const Pointers p) {
  store_word<StoreHint::streaming>(reinterpret_cast<Word<8>::Type*>(p.out + p.n), Word<8>::Type{});
}
STENCIL_KERNEL void divide(const Pointers p) { p.out[0] = 7 / p.n; }
STENCIL_KERNEL void twice(const Pointers p) { p.out[0] = static_cast<float>(2 * p.n); }
STENCIL_KERNEL void index_own_array(const Pointers p) {
  float own[4] = {1, 2, 3, 4};
  p.out[0] = own[p.n];
}
STENCIL_KERNEL void read_uninitialised(const Pointers p) {
  float own[4];
  p.out[0] = own[p.n];
}

STENCIL_KERNEL void lane_misses_the_barrier(const Pointers p) {
  if (thread_x() == 3) {
    p.out[0] = shuffle_up(1.0f, 1, 32);
  } else {
    barrier();
  }
}
STENCIL_KERNEL void two_barriers(const Pointers p) {
  if (thread_x() < 32) {
    barrier();
  } else {
    barrier();
  }
}
STENCIL_KERNEL void early_exit_then_barrier(const Pointers p) {
  if (thread_x() >= p.n) return;
  barrier();
  p.out[thread_x()] = 1;
}

STENCIL_KERNEL void read_shared(const Pointers p) { p.out[0] = reinterpret_cast<float*>(shared_memory())[p.n]; }
STENCIL_KERNEL void write_shared(const Pointers p) {
  float* cells = reinterpret_cast<float*>(shared_memory());
  p.out[block_x()] = cells[0];
  cells[p.n] = 1;
}

// Two groups of copies in flight; out = the first, read after a wait that may leave kLeft groups open.
template <int kLeft>
STENCIL_DEVICE void copy_through_shared(const Pointers& p) {
  float* cells = reinterpret_cast<float*>(shared_memory());
  const int i = thread_x();
  async_copy<4>(cells + i, p.in + i);
  async_commit();
  async_copy<4>(cells + 64 + i, p.in + 64 + i);
  async_commit();
  async_wait<kLeft>();
  barrier();
  p.out[i] = cells[63 - i];
}
STENCIL_KERNEL void copy_and_wait(const Pointers p) { copy_through_shared<1>(p); }
STENCIL_KERNEL void copy_and_wait_too_little(const Pointers p) { copy_through_shared<2>(p); }

// A wait does not count a copy that is in no group.
template <bool kCommits>
STENCIL_DEVICE void copy_twice(const Pointers& p) {
  float* cells = reinterpret_cast<float*>(shared_memory());
  const int i = thread_x();
  async_copy<4>(cells + i, p.in + i);
  if (kCommits) async_commit();
  async_wait<0>();
  async_copy<4>(cells + i, p.in + 64 + i);
  async_commit();
  async_wait<0>();
  p.out[i] = cells[i];
}
STENCIL_KERNEL void copy_wait_copy(const Pointers p) { copy_twice<true>(p); }
STENCIL_KERNEL void copy_copy(const Pointers p) { copy_twice<false>(p); }

// A line of 32 cells in, each doubled, and out again. n: cells by which it starts late.
template <bool kFences, bool kWaits>
STENCIL_DEVICE void pass_lines(const Pointers& p) {
  auto* arrived = reinterpret_cast<Mbarrier*>(shared_memory());
  const SharedAddress line = shared_place(16);
  const SharedAddress own = line + 4 * thread_x();
  if (thread_x() == 0) init_mbarrier(arrived, 1);
  warp_barrier();
  warp_load_line(line, p.in + p.n, 128, arrived);
  warp_wait_phase(arrived, 0);
  float cell;
  load_shared(own, cell);
  store_shared(own, 2 * cell);
  if (kFences) fence_async_proxy();
  warp_barrier();
  warp_store_line(p.out, line, 128);
  lines_commit();
  if (kWaits) lines_wait_read<0>();
}
STENCIL_KERNEL void lines(const Pointers p) { pass_lines<true, true>(p); }
STENCIL_KERNEL void lines_without_fence(const Pointers p) { pass_lines<false, true>(p); }
STENCIL_KERNEL void lines_without_wait(const Pointers p) { pass_lines<true, false>(p); }

// Blocks of a cluster pass 64 cells on to the next one, the last one to the first; out = what came.
template <bool kMeet, bool kWait>
STENCIL_DEVICE void pass_on(const Pointers& p) {
  auto* cells = reinterpret_cast<float*>(shared_memory());
  auto* counter = reinterpret_cast<Mbarrier*>(cells + 64);
  const int i = thread_x();
  if (i == 0) {
    init_mbarrier(counter, 1);
    arrive_expect_tx(counter, 64 * 4);
  }
  if (kMeet) cluster_barrier();
  const unsigned next = (cluster_rank() + 1) % static_cast<unsigned>(p.n);
  if (!kWait && cluster_rank() > 0) return;
  unsigned word;
  __builtin_memcpy(&word, p.in + block_x() * 64 + i, 4);
  send_word(peer_address(cells + i, next), word, peer_address(counter, next));
  if (kWait) wait_phase(counter, 0);
  p.out[block_x() * 64 + i] = cells[i];
}
STENCIL_KERNEL void pass_on_and_wait(const Pointers p) { pass_on<true, true>(p); }
STENCIL_KERNEL void pass_on_and_leave(const Pointers p) { pass_on<true, false>(p); }
STENCIL_KERNEL void pass_on_too_early(const Pointers p) { pass_on<false, true>(p); }
STENCIL_KERNEL void send_beyond_shared(const Pointers p) {
  auto* counter = reinterpret_cast<Mbarrier*>(shared_memory());
  send_word(peer_address(shared_memory(), 0) + p.n, 1u, peer_address(counter, 0));
}

// Every f16 number to float and back; float n / 64 to f16 and bf16.
STENCIL_KERNEL void f16_round_trip(const Pointers p) {
  auto* out = reinterpret_cast<unsigned short*>(p.out);
  for (unsigned bits = 0; bits < 65536; ++bits) out[bits] = f16_from_float(float_from_f16(bits));
}
STENCIL_KERNEL void to_f16(const Pointers p) {
  for (int i = 0; i < p.n; ++i) p.out[i] = float_from_f16(f16_from_float(p.in[i]));
}
STENCIL_KERNEL void to_bf16(const Pointers p) {
  for (int i = 0; i < p.n; ++i) p.out[i] = float_from_bf16(bf16_from_float(p.in[i]));
}

STENCIL_KERNEL void where_am_i(const Pointers p) {
  p.out[((block_y() * 2 + block_x()) * 2 + thread_y()) * 3 + thread_x()] += 1;
}
)cuh";

constexpr std::string_view kEntries[]{"reduce_right",
                                      "reduce_without_barrier",
                                      "reverse_pairs",
                                      "shuffle_down_all",
                                      "shuffle_from_the_gone",
                                      "read_at_n",
                                      "write_at_n",
                                      "load_vector",
                                      "store_vector",
                                      "divide",
                                      "twice",
                                      "index_own_array",
                                      "read_uninitialised",
                                      "lane_misses_the_barrier",
                                      "two_barriers",
                                      "early_exit_then_barrier",
                                      "read_shared",
                                      "write_shared",
                                      "copy_and_wait",
                                      "copy_and_wait_too_little",
                                      "copy_wait_copy",
                                      "copy_copy",
                                      "lines",
                                      "lines_without_fence",
                                      "lines_without_wait",
                                      "pass_on_and_wait",
                                      "pass_on_and_leave",
                                      "pass_on_too_early",
                                      "send_beyond_shared",
                                      "f16_round_trip",
                                      "to_f16",
                                      "to_bf16",
                                      "where_am_i"};

struct Pointers {
  const float* in;
  float* out;
  int n;
};

class ExecutorTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::vector<KernelSource> sources;
    for (const auto entry : kEntries)
      sources.push_back({sources.empty() ? std::string(kKernels) : "", std::string(entry)});
    library_ = new HostLibrary(sources, {});
  }
  static void TearDownTestSuite() { delete std::exchange(library_, nullptr); }

  void SetUp() override {
    in_.resize(128);
    std::iota(in_.begin(), in_.end(), 0.0F);
    out_.assign(128, -1.0F);
  }

  std::optional<HostFault> run(std::string_view entry, const Pointers& pointers, unsigned threads,
                               const HostRunOptions& options = {}, unsigned blocks = 1, std::size_t shared_bytes = 0) {
    const LaunchGeometry geometry{{blocks, 1, 1}, {threads, 1, 1}, shared_bytes};
    return library_->kernel(entry).run(geometry, std::as_bytes(std::span(&pointers, 1)), options);
  }

  std::optional<HostFault> run_clusters(std::string_view entry, const HostRunOptions& options, int blocks) {
    out_.assign(128, -1.0F);
    const Pointers pointers{in_.data(), out_.data(), blocks};
    const LaunchGeometry geometry{{2, 1, 1}, {64, 1, 1}, 64 * 4 + 8, static_cast<unsigned>(blocks)};
    return library_->kernel(entry).run(geometry, std::as_bytes(std::span(&pointers, 1)), options);
  }

  std::vector<float> in_;
  std::vector<float> out_;

  static inline HostLibrary* library_ = nullptr;
};

TEST_F(ExecutorTest, BarriersMakeABlockReductionRightInEveryOrder) {
  for (const ThreadOrder order : kOrders) {
    out_.assign(128, -1.0F);
    const auto fault = run("reduce_right", {in_.data(), out_.data(), 0}, 64, {order}, 2, 256);
    ASSERT_FALSE(fault) << fault->message;
    EXPECT_EQ(out_[0], 63 * 64 / 2) << name(order);
    EXPECT_EQ(out_[1], 127 * 128 / 2 - 63 * 64 / 2) << name(order);
  }
}

TEST_F(ExecutorTest, AMissingBarrierShows) {
  ASSERT_FALSE(run("reduce_without_barrier", {in_.data(), out_.data(), 0}, 64, {ThreadOrder::ascending}, 1, 256));
  EXPECT_NE(out_[0], 63 * 64 / 2);
}

TEST_F(ExecutorTest, ShufflesStayWithinTheirGroup) {
  for (const ThreadOrder order : kOrders) {
    ASSERT_FALSE(run("reverse_pairs", {in_.data(), out_.data(), 0}, 64, {order}));
    for (int i = 0; i < 64; ++i) EXPECT_EQ(out_[i], i % 8 < 2 ? i : i - 2);
    ASSERT_FALSE(run("shuffle_down_all", {in_.data(), out_.data(), 0}, 64, {order}));
    for (int i = 0; i < 64; ++i) EXPECT_EQ(out_[i], i % 32 == 31 ? i : i + 1);
  }
}

TEST_F(ExecutorTest, AShuffleFromALaneThatIsGoneIsPoison) {
  ASSERT_FALSE(run("shuffle_from_the_gone", {in_.data(), out_.data(), 5}, 32));
  EXPECT_EQ(out_[3], 4);
  EXPECT_TRUE(std::isnan(out_[4]));
}

TEST_F(ExecutorTest, ReadsBeyondEitherEndAreCaught) {
  for (const auto& [placement, n] :
       {std::pair{GuardedArray::Placement::against_end, 10}, std::pair{GuardedArray::Placement::against_start, -1}}) {
    const GuardedArray array(10 * sizeof(float), 4, placement);
    const auto* in = reinterpret_cast<const float*>(array.data());
    EXPECT_FALSE(run("read_at_n", {in, out_.data(), 0}, 1));
    EXPECT_FALSE(run("read_at_n", {in, out_.data(), 9}, 1));
    const auto fault = run("read_at_n", {in, out_.data(), n}, 1);
    ASSERT_TRUE(fault);
    EXPECT_EQ(fault->kind, HostFault::Kind::out_of_bounds);
    EXPECT_EQ(fault->address, array.address() + static_cast<std::uint64_t>(n * 4));
    EXPECT_TRUE(array.encloses(fault->address));
  }
}

TEST_F(ExecutorTest, WritesBeyondEitherEndAreCaught) {
  const GuardedArray high(10 * sizeof(float), 4, GuardedArray::Placement::against_end);
  const GuardedArray low(10 * sizeof(float), 4, GuardedArray::Placement::against_start);
  EXPECT_FALSE(run("write_at_n", {nullptr, reinterpret_cast<float*>(high.data()), 9}, 1));
  EXPECT_TRUE(high.slack_intact());
  EXPECT_TRUE(run("write_at_n", {nullptr, reinterpret_cast<float*>(high.data()), 10}, 1));
  EXPECT_TRUE(run("write_at_n", {nullptr, reinterpret_cast<float*>(low.data()), -1}, 1));
  EXPECT_TRUE(low.slack_intact());
  EXPECT_FALSE(run("write_at_n", {nullptr, reinterpret_cast<float*>(low.data()), 10}, 1));
  EXPECT_FALSE(low.slack_intact());
}

TEST_F(ExecutorTest, AFaultLeavesTheExecutorFitForTheNextLaunch) {
  const GuardedArray array(4, 4, GuardedArray::Placement::against_end);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(run("read_at_n", {reinterpret_cast<const float*>(array.data()), out_.data(), 1}, 64));
    EXPECT_TRUE(run("two_barriers", {in_.data(), out_.data(), 0}, 64));
    EXPECT_FALSE(run("reduce_right", {in_.data(), out_.data(), 0}, 64, {}, 1, 256));
    EXPECT_EQ(out_[0], 63 * 64 / 2);
  }
}

TEST_F(ExecutorTest, MisalignedVectorsAreCaught) {
  alignas(16) float cells[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  alignas(16) float out[8] = {};
  EXPECT_FALSE(run("load_vector", {cells, out, 4}, 1));
  EXPECT_EQ(out[3], 8);
  const auto load = run("load_vector", {cells, out, 2}, 1);
  ASSERT_TRUE(load);
  EXPECT_EQ(load->kind, HostFault::Kind::misaligned);
  EXPECT_FALSE(run("store_vector", {cells, out, 2}, 1));
  const auto store = run("store_vector", {cells, out, 1}, 1);
  ASSERT_TRUE(store);
  EXPECT_EQ(store->kind, HostFault::Kind::misaligned);
  EXPECT_NE(store->message.find("kernels.cpp:"), std::string::npos) << store->message;
}

TEST_F(ExecutorTest, BadArithmeticAndIndicesOfOwnArraysAreCaught) {
  EXPECT_FALSE(run("divide", {nullptr, out_.data(), 2}, 1));
  EXPECT_TRUE(run("divide", {nullptr, out_.data(), 0}, 1));
  EXPECT_FALSE(run("twice", {nullptr, out_.data(), (1 << 30) - 1}, 1));
  EXPECT_TRUE(run("twice", {nullptr, out_.data(), 1 << 30}, 1));
  EXPECT_FALSE(run("index_own_array", {nullptr, out_.data(), 3}, 1));
  EXPECT_TRUE(run("index_own_array", {nullptr, out_.data(), 4}, 1));
}

TEST_F(ExecutorTest, RegistersNeverWrittenHoldNothingPlausible) {
  ASSERT_FALSE(run("read_uninitialised", {nullptr, out_.data(), 2}, 1));
  EXPECT_FALSE(std::fabs(out_[0]) < 1e30F);
}

TEST_F(ExecutorTest, ThreadsThatWaitForDifferentThingsAreReported) {
  for (const ThreadOrder order : kOrders) {
    const auto stuck = run("lane_misses_the_barrier", {in_.data(), out_.data(), 0}, 64, {order});
    ASSERT_TRUE(stuck);
    EXPECT_EQ(stuck->kind, HostFault::Kind::mismatched_wait);
    const auto apart = run("two_barriers", {in_.data(), out_.data(), 0}, 64, {order});
    ASSERT_TRUE(apart);
    EXPECT_EQ(apart->kind, HostFault::Kind::mismatched_wait);
    EXPECT_NE(apart->message.find("different barriers: 32 at barrier"), std::string::npos) << apart->message;
  }
}

TEST_F(ExecutorTest, BarriersDoNotWaitForThreadsThatAreGone) {
  for (const ThreadOrder order : kOrders) {
    EXPECT_FALSE(run("early_exit_then_barrier", {in_.data(), out_.data(), 40}, 64, {order}));
    EXPECT_EQ(out_[39], 1);
    EXPECT_EQ(out_[40], -1);
  }
}

TEST_F(ExecutorTest, SharedMemoryIsPoisonedForEachBlockAndGuarded) {
  ASSERT_FALSE(run("write_shared", {nullptr, out_.data(), 0}, 1, {}, 3, 64));
  for (int block = 0; block < 3; ++block) EXPECT_TRUE(std::isnan(out_[block]));
  EXPECT_FALSE(run("read_shared", {nullptr, out_.data(), 15}, 1, {}, 1, 64));
  const auto beyond = run("read_shared", {nullptr, out_.data(), 16}, 1, {}, 1, 64);
  ASSERT_TRUE(beyond);
  EXPECT_NE(beyond->message.find("64 bytes from the start of 64 bytes of shared memory"), std::string::npos)
      << beyond->message;
  EXPECT_TRUE(run("write_shared", {nullptr, out_.data(), 16}, 1, {}, 1, 64));
  EXPECT_TRUE(run("write_shared", {nullptr, out_.data(), -1}, 1, {}, 1, 64)) << "before the first byte";
  EXPECT_TRUE(run("write_shared", {nullptr, out_.data(), 15}, 1, {}, 1, 60)) << "in what rounding up left over";
}

TEST_F(ExecutorTest, BlocksOfAClusterSendEachOtherWords) {
  for (const ThreadOrder order : kOrders) {
    for (const AsyncCompletion async : {AsyncCompletion::at_issue, AsyncCompletion::at_wait}) {
      const auto fault = run_clusters("pass_on_and_wait", {.order = order, .async = async}, 2);
      ASSERT_FALSE(fault) << fault->message;
      for (int i = 0; i < 128; ++i) EXPECT_EQ(out_[i], (i + 64) % 128);
      ASSERT_FALSE(run_clusters("pass_on_and_wait", {.order = order, .async = async}, 1));
      for (int i = 0; i < 128; ++i) EXPECT_EQ(out_[i], i) << "a block alone is the next one of itself";
    }
  }
}

TEST_F(ExecutorTest, WordsThatFindNobodyAreReported) {
  const auto reports = [&](std::string_view entry, ThreadOrder order, std::string_view what) {
    const auto fault = run_clusters(entry, {.order = order, .async = AsyncCompletion::at_wait}, 2);
    return fault && fault->message.find(what) != std::string::npos;
  };
  EXPECT_TRUE(reports("pass_on_and_leave", ThreadOrder::ascending, "ended while words that were sent to it"));
  EXPECT_TRUE(reports("pass_on_and_leave", ThreadOrder::descending, "word sent to a block that has ended"));
  EXPECT_TRUE(reports("pass_on_too_early", ThreadOrder::descending, "before its barrier was initialised"));
  const Pointers beyond{in_.data(), out_.data(), 64};
  const auto outside =
      library_->kernel("send_beyond_shared").run({{1, 1, 1}, {1, 1, 1}, 64}, std::as_bytes(std::span(&beyond, 1)));
  ASSERT_TRUE(outside);
  EXPECT_EQ(outside->kind, HostFault::Kind::out_of_bounds);
  const Pointers nobody{in_.data(), out_.data(), 3};
  const auto no_block = library_->kernel("pass_on_and_wait")
                            .run({{2, 1, 1}, {64, 1, 1}, 64 * 4 + 8, 2}, std::as_bytes(std::span(&nobody, 1)));
  ASSERT_TRUE(no_block);
  EXPECT_NE(no_block->message.find("not in the cluster"), std::string::npos) << no_block->message;
  EXPECT_THROW(
      library_->kernel("pass_on_and_wait").run({{3, 1, 1}, {64, 1, 1}, 264, 2}, std::as_bytes(std::span(&nobody, 1))),
      Error);
}

TEST_F(ExecutorTest, AsynchronousCopiesArriveAsLateAsTheirWait) {
  for (const AsyncCompletion async : {AsyncCompletion::at_issue, AsyncCompletion::at_wait}) {
    ASSERT_FALSE(run("copy_and_wait", {in_.data(), out_.data(), 0}, 64, {.async = async}, 1, 512));
    for (int i = 0; i < 64; ++i) EXPECT_EQ(out_[i], 63 - i);
  }
  ASSERT_FALSE(run("copy_and_wait_too_little", {in_.data(), out_.data(), 0}, 64, {}, 1, 512));
  EXPECT_EQ(out_[0], 63) << "at issue, the error is hidden";
  ASSERT_FALSE(
      run("copy_and_wait_too_little", {in_.data(), out_.data(), 0}, 64, {.async = AsyncCompletion::at_wait}, 1, 512));
  EXPECT_TRUE(std::isnan(out_[0])) << "at wait, it shows";
}

TEST_F(ExecutorTest, AnAsynchronousCopyToWhereAnotherOneIsOnItsWayIsCaught) {
  const HostRunOptions late{.async = AsyncCompletion::at_wait};
  ASSERT_FALSE(run("copy_wait_copy", {in_.data(), out_.data(), 0}, 64, late, 1, 256));
  EXPECT_EQ(out_[5], in_[64 + 5]);
  const auto fault = run("copy_copy", {in_.data(), out_.data(), 0}, 64, late, 1, 256);
  ASSERT_TRUE(fault);
  EXPECT_NE(fault->message.find("where another one is still on its way"), std::string::npos) << fault->message;
}

TEST_F(ExecutorTest, AsynchronousCopiesBeyondSharedMemoryAreCaught) {
  const auto fault = run("copy_and_wait", {in_.data(), out_.data(), 0}, 64, {}, 1, 508);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, HostFault::Kind::out_of_bounds);
}

TEST_F(ExecutorTest, LinesComeAndGoWhole) {
  for (const AsyncCompletion async : {AsyncCompletion::at_issue, AsyncCompletion::at_wait}) {
    for (const ThreadOrder order : kOrders) {
      std::fill_n(out_.data(), 32, 0.0f);
      ASSERT_FALSE(run("lines", {in_.data(), out_.data(), 4}, 32, {.order = order, .async = async}, 1, 144));
      for (int i = 0; i < 32; ++i) EXPECT_EQ(out_[i], 2 * (i + 4));
    }
  }
}

TEST_F(ExecutorTest, LinesThatBreakARuleAreCaught) {
  const auto fault = [&](const char* kernel, int late, unsigned shared) {
    const auto found = run(kernel, {in_.data(), out_.data(), late}, 32, {.async = AsyncCompletion::at_wait}, 1, shared);
    return found ? found->message : std::string();
  };
  EXPECT_NE(fault("lines", 1, 144).find("no multiples of 16"), std::string::npos);
  EXPECT_NE(fault("lines", 0, 128).find("line to outside shared memory"), std::string::npos);
  EXPECT_NE(fault("lines_without_fence", 0, 144).find("did not fence"), std::string::npos);
  EXPECT_NE(fault("lines_without_wait", 0, 144).find("a thread ended while lines"), std::string::npos);
}

TEST_F(ExecutorTest, SixteenBitConversionsRoundToNearestEven) {
  std::vector<unsigned short> halves(65536);
  ASSERT_FALSE(run("f16_round_trip", {nullptr, reinterpret_cast<float*>(halves.data()), 0}, 1));
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const bool is_nan = (bits & 0x7c00) == 0x7c00 && (bits & 0x3ff) != 0;
    if (!is_nan) {
      ASSERT_EQ(halves[bits], bits);
    }
  }
  in_ = {2049, 2051, 65519, 65520, -0x1p-25F, -0x1.8p-25F, 0x1.ff8p-15F, 0x1.ffcp-15F, 0.1F};
  ASSERT_FALSE(run("to_f16", {in_.data(), out_.data(), 9}, 1));
  const std::vector<float> f16{2048, 2052, 65504, INFINITY, -0.0F, -0x1p-24F, 0x1.ff8p-15F, 0x1p-14F, 0.0999755859375F};
  EXPECT_EQ(std::vector<float>(out_.begin(), out_.begin() + 9), f16);
  in_ = {257, 259, 0x1.01p-130F, 3.4e38F, -1};
  ASSERT_FALSE(run("to_bf16", {in_.data(), out_.data(), 5}, 1));
  EXPECT_EQ(out_[0], 256);
  EXPECT_EQ(out_[1], 260);
  EXPECT_EQ(out_[2], 0x1p-130F);
  EXPECT_EQ(out_[3], 0x1.fep127F + 0x1p120F - 0x1p120F);
  EXPECT_EQ(out_[4], -1);
}

TEST_F(ExecutorTest, EveryThreadOfEveryBlockRunsOnce) {
  for (const ThreadOrder order : kOrders) {
    std::vector<float> visits(24, 0.0F);
    const Pointers pointers{nullptr, visits.data(), 0};
    const LaunchGeometry geometry{{2, 2, 1}, {3, 2, 1}, 0};
    ASSERT_FALSE(library_->kernel("where_am_i").run(geometry, std::as_bytes(std::span(&pointers, 1)), {order}));
    EXPECT_EQ(visits, std::vector<float>(24, 1.0F));
  }
}

TEST_F(ExecutorTest, ArgumentsOfTheWrongSizeAreRefused) {
  const std::byte bytes[8]{};
  EXPECT_THROW(library_->kernel("read_at_n").run({}, bytes), Error);
  EXPECT_THROW(library_->kernel("no_such_kernel"), Error);
}

TEST(HostCompiler, SaysWhatIsWrongWithTheSource) {
  const KernelSource source{"STENCIL_KERNEL void broken(const int n) { undeclared(); }", "broken"};
  try {
    const HostLibrary library(std::span(&source, 1), {});
    FAIL() << "compiled";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::compile_failed);
    EXPECT_NE(std::string(error.what()).find("undeclared"), std::string::npos) << error.what();
  }
}

TEST(HostCompiler, IsSaidToBeMissingWhereThereIsNone) {
  const std::string path = std::getenv("PATH");
  const char* compiler = std::getenv("CXX");
  const std::string cxx = compiler ? compiler : "";
  ::setenv("PATH", "/nonexistent", 1);
  ::unsetenv("CXX");
  EXPECT_FALSE(find_host_compiler());
  const KernelSource source{"", "none"};
  try {
    const HostLibrary library(std::span(&source, 1), {});
    ADD_FAILURE() << "compiled";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::missing_library);
  }
  ::setenv("PATH", path.c_str(), 1);
  if (compiler) ::setenv("CXX", cxx.c_str(), 1);
}

}  // namespace
}  // namespace stencil_tune
