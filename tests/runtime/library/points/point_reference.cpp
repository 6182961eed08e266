#include "tests/runtime/library/points/point_reference.hpp"

#include "generator/points/point_checks.hpp"
#include "generator/stencil/indices.hpp"
#include "runtime/library/launch/rotation.hpp"
#include "tuner/verify/reference/reference.hpp"

#include <algorithm>
#include <random>

namespace stencil_tune {

namespace {

std::size_t place(const Problem& problem, const PointCell& cell) {
  return at((cell.cell[2] * problem.extents.n[1] + cell.cell[1]) * problem.pitch + cell.cell[0]);
}

Problem stage_of(const Problem& problem, int stage) {
  return make_problem(problem.stencil, problem.type, problem.boundaries, problem.extents, problem.pitch, 1, stage);
}

/// Outputs have the held layers of the fields that the step gives them.
void update(const Problem& stage, Fields& fields) {
  Fields inputs;
  for (const int field : stage.facts.inputs) inputs.push_back(fields[at(field)]);
  std::vector<double> coefficients;
  for (const Coefficient& coefficient : stage.stencil.coefficients) coefficients.push_back(coefficient.value);
  const Fields before = fields;
  for (const ReferenceField& output : evaluate_reference(stage, inputs, coefficients)) {
    std::vector<double> next = before[at(stage.step.layers_at[at(output.field)])];
    for (std::size_t i = 0; i < output.value.size(); ++i) {
      if (output.tolerance[i] >= 0) next[i] = output.value[i];
    }
    fields[at(output.field)] = std::move(next);
  }
}

}  // namespace

PointResult run_with_points(const Problem& problem, Fields fields, const PointList& points,
                            const std::vector<double>& series, int steps) {
  PointResult result;
  const std::vector<int> next = buffer_rotation(problem.stencil);
  for (int step = 0; step < steps; ++step) {
    for (int number = 0; number < static_cast<int>(problem.stencil.stages.size()); ++number) {
      const Problem stage = stage_of(problem, number);
      update(stage, fields);
      for (const PointCell& cell : points.source_cells) {
        const auto& outputs = stage.facts.outputs;
        if (std::count(outputs.begin(), outputs.end(), cell.field) == 0) continue;
        fields[at(cell.field)][place(problem, cell)] += cell.weight * series[at(step * points.sources + cell.point)];
      }
    }
    const Fields before = fields;
    for (std::size_t field = 0; field < next.size(); ++field) fields[field] = before[at(next[field])];
    if ((step + 1) % points.every != 0) continue;
    const std::size_t record = result.records.size();
    result.records.resize(record + at(points.receivers), 0.0);
    for (const PointCell& cell : points.receiver_cells) {
      result.records[record + at(cell.point)] += cell.weight * fields[at(cell.field)][place(problem, cell)];
    }
  }
  result.fields = std::move(fields);
  return result;
}

Fields random_fields(const Problem& problem, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  Fields fields(problem.stencil.fields.size(), std::vector<double>(at(problem.allocated_cells())));
  for (auto& field : fields) std::generate(field.begin(), field.end(), [&] { return uniform(random); });
  return fields;
}

PointList random_points(const Problem& problem, std::uint64_t seed, int every) {
  constexpr int kRandom = 40;
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> weight(0.5, 1.5);
  PointList points;
  points.every = every;
  const auto cells_of = [&](int field, int stage, std::vector<PointCell>& cells, int& count) {
    const Box box = updated_box(stage_of(problem, stage));
    const auto add = [&](const std::array<std::int64_t, kMaxRank>& cell) {
      // Two cells a point, and two points at a cell.
      cells.push_back({count++, field, cell, weight(random)});
      cells.push_back({std::max(0, count - 3), field, cell, weight(random)});
    };
    for (unsigned corner = 0; corner < 8; ++corner) {
      std::array<std::int64_t, kMaxRank> cell{};
      for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
        cell[axis] = (corner >> axis & 1) != 0 ? box.high[axis] - 1 : box.low[axis];
      }
      add(cell);
    }
    for (int i = 0; i < kRandom; ++i) {
      std::array<std::int64_t, kMaxRank> cell{};
      for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
        cell[axis] = std::uniform_int_distribution(box.low[axis], box.high[axis] - 1)(random);
      }
      add(cell);
    }
  };
  for (int field = 0; field < static_cast<int>(problem.stencil.fields.size()); ++field) {
    if (const auto stage = writing_stage(problem.step, field)) {
      cells_of(field, *stage, points.source_cells, points.sources);
    }
    if (const auto output = recorded_output(problem.step, field)) {
      cells_of(field, *writing_stage(problem.step, *output), points.receiver_cells, points.receivers);
    }
  }
  return points;
}

std::vector<double> random_series(const PointList& points, int steps, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(0.01, 0.1);
  std::vector<double> series(at(points.sources) * at(steps));
  std::generate(series.begin(), series.end(), [&] { return uniform(random); });
  return series;
}

}  // namespace stencil_tune
