#include "bench/scaling/measured_links.hpp"

#include "bench/scaling/told_numbers.hpp"
#include "runtime/cuda/module.hpp"

#include <algorithm>
#include <array>
#include <chrono>

namespace bench {
namespace {

using namespace stencil_tune;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kSmall = std::size_t{1} << 20;  // bytes: about what a face of 512 x 512 cells in f32 has

double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

/// One of many in a row, of the slowest rank.
double exchange_us(Communicator& ranks, const DeviceBuffer& sent, const DeviceBuffer& received, std::size_t bytes,
                   int count, CUstream_st* stream) {
  const Transfer send{(ranks.rank() + 1) % ranks.size(), reinterpret_cast<void*>(sent.address()), bytes};
  const Transfer receive{(ranks.rank() + ranks.size() - 1) % ranks.size(), reinterpret_cast<void*>(received.address()),
                         bytes};
  const auto run = [&](int exchanges) {
    tell_all(ranks, 0);
    const auto start = Clock::now();
    for (int i = 0; i < exchanges; ++i) ranks.exchange(std::array{send}, std::array{receive}, stream);
    ranks.wait(stream);
    const std::vector<double> all = tell_all(ranks, microseconds_since(start));
    return *std::max_element(all.begin(), all.end()) / exchanges;
  };
  run(3);  // connects
  return run(count);
}

double copy_gbs(Driver& driver, const DeviceBuffer& from, const DeviceBuffer& to, CUstream_st* stream) {
  constexpr int kCopies = 50;
  const auto run = [&](int copies) {
    const auto start = Clock::now();
    for (int i = 0; i < copies; ++i) driver.copy_on_device(to.address(), from.address(), from.size(), stream);
    driver.synchronize_stream(stream);
    return 2e-3 * static_cast<double>(from.size()) * copies / microseconds_since(start);
  };
  run(10);
  return run(kCopies);
}

}  // namespace

MeasuredLinks measure_links(Ranks& group, Driver& driver, std::size_t large) {
  MeasuredLinks links;
  group.run([&](const std::shared_ptr<Communicator>& ranks) {
    const Stream stream(driver);
    DeviceBuffer sent(driver, large), received(driver, large);
    sent.fill(0x3c, stream.get());
    received.fill(0, stream.get());
    const double large_us = exchange_us(*ranks, sent, received, large, 30, stream.get());
    const std::size_t small = std::min(kSmall, large / 2);
    const double small_us = exchange_us(*ranks, sent, received, small, 1000, stream.get());
    if (ranks->rank() > 0) return;
    const double bytes_a_us = static_cast<double>(large) / large_us;
    links = {.node_gbs = bytes_a_us / 1e3,
             .node_latency_us = std::max(0.0, small_us - static_cast<double>(small) / bytes_a_us),
             .copy_gbs = copy_gbs(driver, sent, received, stream.get())};
  });
  return links;
}

}  // namespace bench
