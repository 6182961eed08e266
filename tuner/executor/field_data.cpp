#include "tuner/executor/field_data.hpp"

#include "tuner/verify/device/storage.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
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

FieldData random_data(const Problem& problem, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const bool positive = has_operation(
      problem.stencil, {Operation::square_root, Operation::divide, Operation::logarithm, Operation::power});
  std::uniform_real_distribution<double> cells(positive ? 0.5 : -1.0, 1.0);
  std::uniform_real_distribution<double> weights(0.25, 1.0);
  FieldData data;
  for (const int field : kernel_inputs(problem)) {
    const std::int64_t room = std::max(problem.allocated_cells(), cells_of_field(problem, field));
    const ElementType type = storage_of(problem, field);
    const check::Input input{positive ? check::Pattern::positive : check::Pattern::signed_unit, 0, 1};
    data.inputs.push_back(draw_values(static_cast<std::size_t>(room), [&] {
      return round_to_storage(check::input_as_stored(cells(random), input, static_cast<int>(type)), type);
    }));
  }
  data.coefficients = draw_values(problem.stencil.coefficients.size(), [&] {
    const double weight = weights(random);
    return positive || random() % 2 == 0 ? weight : -weight;
  });
  data.expected = evaluate_reference(problem, data.inputs, data.coefficients);
  return data;
}

FieldData checked_data(const Problem& problem, const CheckNumbers& numbers, std::uint64_t seed, int sweeps) {
  FieldData data{host_inputs(problem, seed, numbers.input, sweeps), numbers.coefficients, {}, numbers.exact};
  data.expected = evaluate_reference(problem, data.inputs, data.coefficients, numbers.exact, sweeps);
  return data;
}

std::optional<FieldData> exact_data(const Problem& problem, std::uint64_t seed) {
  const std::optional<CheckNumbers> numbers = exact_numbers(problem);
  if (!numbers) return std::nullopt;
  return checked_data(problem, *numbers, seed, 1);
}

FieldData with_special_values(const Problem& problem, FieldData data, int sweeps) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr std::array<double, 3> kSpecial{std::numeric_limits<double>::quiet_NaN(), kInfinity, -kInfinity};
  const auto cells = static_cast<std::size_t>(problem.allocated_cells());
  const std::size_t apart = sweeps > 1 ? cells / kSpecial.size() + 1 : 211;
  const std::vector<int> fields = kernel_inputs(problem, sweeps);
  for (std::size_t field = 0; field < data.inputs.size(); ++field) {
    if (is_whole(storage_of(problem, fields[field]))) continue;
    std::size_t next = field;  // index into kSpecial
    for (std::size_t i = std::min(cells / 2, 17 + 5 * field) % apart; i < cells; i += apart) {
      data.inputs[field][i] = kSpecial[next++ % kSpecial.size()];
    }
  }
  data.expected = evaluate_reference(problem, data.inputs, data.coefficients, data.exact, sweeps);
  return data;
}

void store_cell(ElementType type, double value, std::size_t i, GuardedArray& array) {
  const auto number = static_cast<int>(type);
  check::set_cell_bits(array.data(), static_cast<long long>(i), number, check::bits_of_value(value, number));
}

void store_field(const Problem& problem, int field, const std::vector<double>& values, GuardedArray& array) {
  const ElementType type = storage_of(problem, field);
  array.poison();
  const bool dense = is_profile(problem.stencil, field);
  const std::size_t cells = dense ? static_cast<std::size_t>(cells_of_field(problem, field)) : values.size();
  for (std::size_t i = 0; i < cells; ++i) {
    const bool is_padding = !dense && static_cast<std::int64_t>(i) % problem.pitch >= problem.extents.n[0];
    if (!is_padding) store_cell(type, values[i], i, array);
  }
}

double load_cell(ElementType type, const std::byte* cell) {
  const auto number = static_cast<int>(type);
  return check::value_of_bits(check::cell_bits(cell, 0, number), number);
}

}  // namespace stencil_tune
