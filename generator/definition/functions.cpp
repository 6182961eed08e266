#include "generator/definition/functions.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace stencil_tune {
namespace {

constexpr std::size_t kMostArguments = 64;

std::vector<Function> make_functions() {
  std::vector<Function> functions{{"min", Call::minimum, 2, kMostArguments},
                                  {"max", Call::maximum, 2, kMostArguments},
                                  {"abs", Call::absolute, 1, 1},
                                  {"sqrt", Call::square_root, 1, 1},
                                  {"exp", Call::exponential, 1, 1},
                                  {"select", Call::select, 3, 3},
                                  {"laplacian", Call::laplacian, 1, 1}};
  for (std::size_t axis = 0; axis < kAxes.size(); ++axis) {
    const auto add = [&](std::string name, Difference::Kind kind) {
      functions.push_back({std::move(name), Call::difference, 1, 1, {kind, axis, 2}});
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

std::vector<std::string> function_names() {
  std::vector<std::string> names;
  for (const Function& function : functions()) names.push_back(function.name);
  return names;
}

}  // namespace stencil_tune
