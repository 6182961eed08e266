#include "distributed/agreement.hpp"
#include "distributed/distributed_state.hpp"
#include "distributed/local_points.hpp"
#include "generator/points/point_checks.hpp"
#include "runtime/library/points/point_run.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <optional>
#include <span>

namespace stencil_tune {
namespace {

/// Adds what another rank recorded.
template <class Value>
void add_to(Span<std::byte> sums, const std::vector<std::byte>& more) {
  for (std::size_t at = 0; at < more.size(); at += sizeof(Value)) {
    Value sum, value;
    std::memcpy(&sum, sums.data() + at, sizeof(Value));
    std::memcpy(&value, more.data() + at, sizeof(Value));
    sum += value;
    std::memcpy(sums.data() + at, &sum, sizeof(Value));
  }
}

}  // namespace

Points DistributedKernel::place_points(const PointList& points) {
  std::optional<Points> placed;
  agree(*impl_->ranks, [&] {
    check_points(*impl_->whole, points);
    placed = impl_->kernel->place_points(points_of_part(points, *impl_->grid, rank(), impl_->problem()));
  });
  return *placed;
}

void DistributedKernel::advance_with_points(const Points& points, const PointData& data, CUstream_st* stream,
                                            DistributedFields& fields, std::int64_t steps,
                                            Span<const double> coefficients, const Place& place) {
  impl_->check(*fields.impl_, steps, coefficients, place);
  PointRun run(impl_->state(), points.state(), data, steps, stream);
  impl_->advance(stream, *fields.impl_, steps, coefficients, place, &run);
}

void DistributedKernel::gather_records(const Points& points, const void* records, std::int64_t steps, int root,
                                       Span<std::byte> sums, CUstream_st* stream) const {
  const bool doubles = impl_->problem().type == ElementType::f64;
  const std::size_t bytes =
      static_cast<std::size_t>(points.records(steps) * points.receivers()) * (doubles ? sizeof(double) : sizeof(float));
  const bool wants_sums = rank() == root;
  const Kernel::State& state = impl_->state();
  agree(*impl_->ranks, [&] {
    if (bytes > 0 && !state.driver->reaches(state.device, reinterpret_cast<DevicePointer>(records))) {
      throw Error(ErrorCode::invalid_argument, fmt::format("records is no memory that GPU {} reaches", state.device));
    }
    if (sums.size() == (wants_sums ? bytes : 0)) return;
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the records have {} bytes on rank {} and none elsewhere, {} were given", bytes, root,
                            sums.size()));
  });
  if (bytes == 0) return;
  Communicator& ranks = *impl_->ranks;
  if (!wants_sums) {
    ranks.exchange(std::array{Transfer{root, const_cast<void*>(records), bytes}}, {}, stream);  // sent, not written
    return ranks.wait(stream);
  }
  Driver& driver = *state.driver;
  ranks.wait(stream);
  driver.copy_to_host(sums.data(), reinterpret_cast<DevicePointer>(records), bytes, stream);
  driver.synchronize_stream(stream);
  DeviceBuffer received(driver, bytes);
  std::vector<std::byte> share(bytes);
  for (int from = 0; from < ranks.size(); ++from) {
    if (from == root) continue;
    ranks.exchange({}, std::array{Transfer{from, reinterpret_cast<void*>(received.address()), bytes}}, stream);
    ranks.wait(stream);
    received.read(share, stream);
    driver.synchronize_stream(stream);
    if (doubles) {
      add_to<double>(sums, share);
    } else {
      add_to<float>(sums, share);
    }
  }
}

}  // namespace stencil_tune
