// The table of operations, and what they make of numbers.
#include "generator/stencil/rewriting/carry_out.hpp"
#include "stencil_tune/stencil.hpp"

#include <array>
#include <cmath>
#include <cstddef>

namespace stencil_tune {
namespace {

struct OperationFacts {
  Operation operation;
  std::string_view name;
  int operands;
  bool commutes = false;
};

constexpr std::array kOperations{
    OperationFacts{Operation::number, "number", 0},
    OperationFacts{Operation::coefficient, "coefficient", 0},
    OperationFacts{Operation::read, "read", 0},
    OperationFacts{Operation::negate, "negate", 1},
    OperationFacts{Operation::absolute, "abs", 1},
    OperationFacts{Operation::square_root, "sqrt", 1},
    OperationFacts{Operation::exponential, "exp", 1},
    OperationFacts{Operation::add, "add", 2, true},
    OperationFacts{Operation::subtract, "subtract", 2},
    OperationFacts{Operation::multiply, "multiply", 2, true},
    OperationFacts{Operation::divide, "divide", 2},
    OperationFacts{Operation::minimum, "min", 2, true},
    OperationFacts{Operation::maximum, "max", 2, true},
    OperationFacts{Operation::less, "less", 2},
    OperationFacts{Operation::less_equal, "less_equal", 2},
    OperationFacts{Operation::equal, "equal", 2, true},
    OperationFacts{Operation::select, "select", 3},
    OperationFacts{Operation::sine, "sin", 1},
    OperationFacts{Operation::cosine, "cos", 1},
    OperationFacts{Operation::tangent, "tan", 1},
    OperationFacts{Operation::hyperbolic_tangent, "tanh", 1},
    OperationFacts{Operation::logarithm, "log", 1},
    OperationFacts{Operation::power, "pow", 2},
    OperationFacts{Operation::coordinate, "coordinate", 0},
    OperationFacts{Operation::step, "step", 0},
    OperationFacts{Operation::before, "before", 0},
    OperationFacts{Operation::after, "after", 0},
    OperationFacts{Operation::outside, "outside", 0},
    OperationFacts{Operation::profile, "profile", 0},
    OperationFacts{Operation::in_layer, "in_layer", 0},
    OperationFacts{Operation::floor, "floor", 1},
    OperationFacts{Operation::modulo, "mod", 2},
    OperationFacts{Operation::random, "random", 0},
    OperationFacts{Operation::round, "round", 1},
};

constexpr bool in_order_of_the_enumerators() {
  for (std::size_t i = 0; i < kOperations.size(); ++i) {
    if (kOperations[i].operation != static_cast<Operation>(i)) return false;
  }
  return kOperations.back().operation == Operation::round;
}
static_assert(in_order_of_the_enumerators(), "each operation has its row, at its place");

const OperationFacts& facts_of(Operation op) noexcept { return kOperations[static_cast<std::size_t>(op)]; }

}  // namespace

int operand_count(Operation op) noexcept { return facts_of(op).operands; }

std::string_view name(Operation op) noexcept { return facts_of(op).name; }

bool commutes(Operation op) { return facts_of(op).commutes; }

double carry_out(Operation op, double a, double b, double c) {
  switch (op) {
    case Operation::negate:
      return -a;
    case Operation::absolute:
      return std::fabs(a);
    case Operation::square_root:
      return std::sqrt(a);
    case Operation::exponential:
      return std::exp(a);
    case Operation::add:
      return a + b;
    case Operation::subtract:
      return a - b;
    case Operation::multiply:
      return a * b;
    case Operation::divide:
      return a / b;
    case Operation::minimum:
      return std::fmin(a, b);
    case Operation::maximum:
      return std::fmax(a, b);
    case Operation::less:
      return a < b ? 1 : 0;
    case Operation::less_equal:
      return a <= b ? 1 : 0;
    case Operation::equal:
      return a == b ? 1 : 0;
    case Operation::select:
      return a != 0 ? b : c;
    case Operation::sine:
      return std::sin(a);
    case Operation::cosine:
      return std::cos(a);
    case Operation::tangent:
      return std::tan(a);
    case Operation::hyperbolic_tangent:
      return std::tanh(a);
    case Operation::logarithm:
      return std::log(a);
    case Operation::power:
      return std::pow(a, b);
    case Operation::floor:
      return std::floor(a);
    case Operation::round:
      return std::nearbyint(a);
    case Operation::modulo: {
      const double rest = std::fmod(a, b);
      return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
    }
    case Operation::number:
    case Operation::coefficient:
    case Operation::read:
    case Operation::coordinate:
    case Operation::step:
    case Operation::before:
    case Operation::after:
    case Operation::outside:
    case Operation::profile:
    case Operation::in_layer:
    case Operation::random:
      break;
  }
  return std::nan("");
}

}  // namespace stencil_tune
