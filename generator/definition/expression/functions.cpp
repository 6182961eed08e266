#include "generator/definition/expression/functions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace stencil_tune {
namespace {

constexpr std::size_t kMostArguments = 64;
constexpr std::size_t kMostTableEntries = 256;

std::vector<Function> make_functions() {
  // The unreserved came later: definitions that call a coefficient cos stay what they are.
  std::vector<Function> functions{{"min", Call::fold, 2, kMostArguments, Operation::minimum},
                                  {"max", Call::fold, 2, kMostArguments, Operation::maximum},
                                  {"abs", Call::operation, 1, 1, Operation::absolute},
                                  {"sqrt", Call::operation, 1, 1, Operation::square_root},
                                  {"exp", Call::operation, 1, 1, Operation::exponential},
                                  {"select", Call::operation, 3, 3, Operation::select},
                                  {"laplacian", Call::laplacian, 1, 1},
                                  {"sin", Call::operation, 1, 1, Operation::sine, false},
                                  {"cos", Call::operation, 1, 1, Operation::cosine, false},
                                  {"tan", Call::operation, 1, 1, Operation::tangent, false},
                                  {"tanh", Call::operation, 1, 1, Operation::hyperbolic_tangent, false},
                                  {"log", Call::operation, 1, 1, Operation::logarithm, false},
                                  {"pow", Call::operation, 2, 2, Operation::power, false},
                                  {"floor", Call::operation, 1, 1, Operation::floor, false},
                                  {"mod", Call::operation, 2, 2, Operation::modulo, false},
                                  {"round", Call::operation, 1, 1, Operation::round, false},
                                  {"table", Call::table, 2, kMostTableEntries + 1, Operation::select, false},
                                  {"sum", Call::sum, 1, kMostArguments, Operation::number, false},
                                  {"random", Call::random, 1, 2, Operation::random, false}};
  for (std::size_t axis = 0; axis < kAxes.size(); ++axis) {
    const auto add = [&](std::string name, Difference::Kind kind) {
      functions.push_back({.name = std::move(name),
                           .call = Call::difference,
                           .least_arguments = 1,
                           .most_arguments = 1,
                           .difference = {kind, axis, 2}});
    };
    const char x = kAxes[axis];
    add(fmt::format("d_{}", x), Difference::Kind::first);
    add(fmt::format("d_{}{}", x, x), Difference::Kind::second);
    add(fmt::format("d_{}_forward", x), Difference::Kind::forward);
    add(fmt::format("d_{}_backward", x), Difference::Kind::backward);
  }
  return functions;
}

const std::vector<Function>& functions() {
  static const std::vector<Function> all = make_functions();
  return all;
}

}  // namespace

const Function* find_function(std::string_view name) {
  const auto is_called = [&](const Function& function) { return function.name == name; };
  const auto found = std::find_if(functions().begin(), functions().end(), is_called);
  return found == functions().end() ? nullptr : &*found;
}

std::string_view advice_on(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 18> kAdvice{{
      {"ln", "the natural logarithm is log(x)"},
      {"log2", "write log(x) / log(2)"},
      {"log10", "write log(x) / log(10)"},
      {"exp2", "write pow(2, x)"},
      {"sinh", "write (exp(x) - exp(-x)) / 2"},
      {"cosh", "write (exp(x) + exp(-x)) / 2"},
      {"cbrt", "write pow(x, 1/3) where x is not negative"},
      {"fabs", "write abs(x)"},
      {"fmin", "write min(x, y)"},
      {"fmax", "write max(x, y)"},
      {"fmod", "mod(x, y) is the rest of a floored division, which has the sign of y"},
      {"ceil", "write -floor(-x)"},
      {"rand", "write random(seed)"},
      {"if", "write condition ? x : y"},
      {"where", "write condition ? x : y"},
      {"asin", "there are no inverses of sin, cos and tan"},
      {"acos", "there are no inverses of sin, cos and tan"},
      {"atan", "there are no inverses of sin, cos and tan"},
  }};
  const auto found = std::find_if(kAdvice.begin(), kAdvice.end(), [&](const auto& each) { return each.first == name; });
  return found == kAdvice.end() ? std::string_view() : found->second;
}

std::vector<std::string> function_names() {
  std::vector<std::string> names;
  for (const Function& function : functions()) names.push_back(function.name);
  return names;
}

}  // namespace stencil_tune
