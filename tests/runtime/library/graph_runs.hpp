// Runs whose launches may be graphs, and all that they leave: on the host executor and on GPUs.
#pragma once

#include "runtime/cuda/module.hpp"
#include "tests/runtime/library/tuned_zones.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>
#include <vector>

namespace stencil_tune {

/// Each step adds what its number alone says.
inline constexpr const char* kNumbered = R"toml(
name = "numbered"
rank = 2
fields = ["u", "w(t)", "m(y in layer)", "u_next", "m_next(y in layer)"]
[update]
u_next = "0.5*u + 0.1*(u[x+1] + u[x-1] + u[y+1]) - 0.1*x_in_layer*u + 0.1*m[y-1] + 0.2*w + 0.1*random(7)"
m_next = "0.5*m + 0.25*u[x-1]"
[rotate]
u_next = "u"
m_next = "m"
)toml";

/// With layers of four cells at all ends nine zones.
inline constexpr Extents kGraphGrid{2, {61, 43, 1}};

struct RunResult {
  std::vector<std::vector<double>> arrays{};  ///< fields, then series and records
  std::vector<std::size_t> places{};          ///< the array that each field is in

  bool operator==(const RunResult&) const = default;
};

enum class Launched { at_once, from_graph };  // a graph that the caller captured

/// What a run from random cells leaves, with points where there are such. The kernel was prepared for the stream.
inline RunResult result_of(Driver& driver, CUstream_st* stream, const Problem& problem, Kernel& kernel, int steps,
                           const PointList& list = {}, Launched launched = Launched::at_once) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(0, 0.1);
  std::vector<DeviceBuffer> buffers;
  const auto buffer_of = [&](std::size_t count) {
    std::vector<double> numbers(count);
    std::generate(numbers.begin(), numbers.end(), [&] { return uniform(random); });
    buffers.emplace_back(driver, std::max<std::size_t>(1, count) * sizeof(double))
        .write(std::as_bytes(std::span(numbers)), stream);
    driver.synchronize_stream(stream);
    return reinterpret_cast<void*>(buffers.back().address());
  };
  const auto numbers_of = [&](const DeviceBuffer& buffer) {
    std::vector<double> numbers(buffer.size() / sizeof(double));
    buffer.read(std::as_writable_bytes(std::span(numbers)), stream);
    driver.synchronize_stream(stream);
    EXPECT_TRUE(std::all_of(numbers.begin(), numbers.end(), [](double number) { return std::isfinite(number); }));
    return numbers;
  };
  std::vector<void*> fields;
  for (std::size_t field = 0; field < problem.stencil.fields.size(); ++field) {
    fields.push_back(buffer_of(static_cast<std::size_t>(problem.allocated_cells())));
  }
  const std::vector<void*> before = fields;
  std::optional<Points> points;
  PointData data;
  if (list.sources > 0) {
    points.emplace(kernel.place_points(list));
    data.series = buffer_of(static_cast<std::size_t>(steps * list.sources));
    data.records = buffer_of(static_cast<std::size_t>(points->records(steps) * list.receivers));
  }
  if (launched == Launched::from_graph) driver.begin_capture(stream);
  if (points) {
    kernel.advance_with_points(*points, data, stream, fields, steps);
  } else {
    kernel.advance_at({{}, 3}, stream, fields, steps);
  }
  if (launched == Launched::from_graph) {
    CUgraphExec_st* const graph = driver.end_capture(stream, nullptr);
    driver.launch_graph(graph, stream);
    driver.destroy_graph(graph);
  }
  RunResult result;
  for (const DeviceBuffer& buffer : buffers) result.arrays.push_back(numbers_of(buffer));
  for (void* field : fields) {
    result.places.push_back(static_cast<std::size_t>(std::find(before.begin(), before.end(), field) - before.begin()));
  }
  return result;
}

/// Sources and receivers of a problem of kAbsorbed, in zones and at their seams.
inline PointList some_points(const Problem& problem, int every) {
  PointList points;
  points.every = every;
  const auto field = [&](const char* name) {
    const auto& names = problem.stencil.fields;
    return static_cast<int>(std::find(names.begin(), names.end(), name) - names.begin());
  };
  for (const std::int64_t x : {2, 7, 30, 51, 58}) {
    for (const std::int64_t y : {2, 7, 20, 40}) {
      points.source_cells.push_back({points.sources++, field("p_next"), {x, y, 0}, 0.5});
      points.receiver_cells.push_back({points.receivers++, field("p"), {x, y + 1, 0}, 1});
    }
  }
  return points;
}

}  // namespace stencil_tune
