#include "tuner/executor/field_data.hpp"

#include "tuner/device/storage.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

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

FieldData random_data(const Problem& problem, std::uint64_t seed) {
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
  data.expected = evaluate_reference(problem, data.inputs, data.coefficients);
  return data;
}

bool has_exact_data(const Problem& problem) {
  using enum Operation;
  return problem.facts.linear &&
         std::all_of(problem.stencil.nodes.begin(), problem.stencil.nodes.end(), [](const Node& node) {
           const bool rounds = node.op != number && node.op != coefficient && node.op != read && node.op != negate &&
                               node.op != add && node.op != subtract && node.op != multiply;
           return !rounds &&
                  (node.op != number || (std::fabs(node.value) <= 8 && node.value == std::round(node.value)));
         });
}

FieldData exact_data(const Problem& problem, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<int> cells(-8, 8);
  std::uniform_int_distribution<int> eighths(1, 7);
  FieldData data;
  for (std::size_t i = 0; i < problem.facts.inputs.size(); ++i) {
    data.inputs.push_back(
        draw_values(static_cast<std::size_t>(problem.allocated_cells()), [&] { return cells(random); }));
  }
  data.coefficients = draw_values(problem.stencil.coefficients.size(),
                                  [&] { return (random() % 2 == 0 ? 1 : -1) * eighths(random) / 8.0; });
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
