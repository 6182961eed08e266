#include "tuner/executor/field_data.hpp"

#include "tuner/verify/device/storage.h"
#include "tuner/verify/reference_program.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <utility>

namespace stencil_tune {
namespace {

bool has_operation(const Stencil& stencil, std::initializer_list<Operation> operations) {
  return std::any_of(stencil.nodes.begin(), stencil.nodes.end(), [&](const Node& node) {
    return std::find(operations.begin(), operations.end(), node.op) != operations.end();
  });
}

template <class Draw>
std::vector<double> draw_values(std::size_t count, const Draw& draw) {
  std::vector<double> values(count);
  std::generate(values.begin(), values.end(), draw);
  return values;
}

}  // namespace

FieldData random_data(const Problem& problem, std::uint64_t seed, int sweeps) {
  std::mt19937_64 random(seed);
  const bool positive = has_operation(problem.stencil, {Operation::square_root, Operation::divide});
  std::uniform_real_distribution<double> cells(positive ? 0.5 : -1.0, 1.0);
  std::uniform_real_distribution<double> weights(0.25, 1.0);
  FieldData data;
  for (std::size_t i = 0; i < problem.facts.inputs.size(); ++i) {
    data.inputs.push_back(draw_values(static_cast<std::size_t>(problem.allocated_cells()),
                                      [&] { return round_to_storage(cells(random), problem.type); }));
  }
  data.coefficients = draw_values(problem.stencil.coefficients.size(), [&] {
    const double weight = weights(random);
    return positive || random() % 2 == 0 ? weight : -weight;
  });
  if (sweeps > 1) {
    for (double& weight : data.coefficients) weight /= static_cast<double>(data.coefficients.size());
  }
  data.expected = evaluate_reference(problem, data.inputs, data.coefficients, /*exact=*/false, sweeps);
  return data;
}

std::optional<FieldData> exact_data(const Problem& problem, std::uint64_t seed) {
  std::optional<std::vector<double>> coefficients = exact_coefficients(problem);
  if (!coefficients) return std::nullopt;
  FieldData data;
  data.coefficients = std::move(*coefficients);
  const check::Input kind = exact_input(problem);
  for (std::size_t i = 0; i < problem.facts.inputs.size(); ++i) {
    unsigned long long place = 0;
    data.inputs.push_back(draw_values(static_cast<std::size_t>(problem.allocated_cells()),
                                      [&] { return check::input_value(seed + i, place++, kind); }));
  }
  data.expected = evaluate_reference(problem, data.inputs, data.coefficients, /*exact=*/true);
  return data;
}

void store_field(const Problem& problem, const std::vector<double>& values, GuardedArray& array) {
  const std::size_t cell_bytes = size_of(problem.type);
  array.poison();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (static_cast<std::int64_t>(i) % problem.pitch >= problem.extents.n[0]) continue;
    std::byte* cell = array.data() + i * cell_bytes;
    const auto narrow = static_cast<float>(values[i]);
    unsigned short half = 0;
    switch (problem.type) {
      case ElementType::f64:
        std::memcpy(cell, &values[i], cell_bytes);
        break;
      case ElementType::f32:
        std::memcpy(cell, &narrow, cell_bytes);
        break;
      case ElementType::f16:
        half = check::to_f16(narrow);
        std::memcpy(cell, &half, cell_bytes);
        break;
      case ElementType::bf16:
        half = check::to_bf16(narrow);
        std::memcpy(cell, &half, cell_bytes);
        break;
    }
  }
}

double load_cell(ElementType type, const std::byte* cell) {
  double wide = 0;
  float narrow = 0;
  unsigned short half = 0;
  switch (type) {
    case ElementType::f64:
      std::memcpy(&wide, cell, sizeof wide);
      return wide;
    case ElementType::f32:
      std::memcpy(&narrow, cell, sizeof narrow);
      return narrow;
    case ElementType::f16:
      std::memcpy(&half, cell, sizeof half);
      return check::from_f16(half);
    case ElementType::bf16:
      std::memcpy(&half, cell, sizeof half);
      return check::from_bf16(half);
  }
  return wide;
}

}  // namespace stencil_tune
