#include "tuner/commands/suites.hpp"

#include "generator/suggest.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <map>

namespace stencil_tune {
namespace {

// A built-in with boundary hold and a coefficient a point.
struct Case {
  Shape shape;
  int order;
  ElementType type;
  Extents extents;
};

constexpr Extents kCube{3, {512, 512, 512}};
constexpr Extents kPrimeish{3, {509, 487, 601}};
constexpr Extents kSquare{2, {16384, 16384, 1}};
constexpr Extents kLine{1, {std::int64_t{1} << 28, 1, 1}};

const std::map<std::string, std::vector<Case>>& suites() {
  static const std::map<std::string, std::vector<Case>> all{
      {"main",
       {{Shape::star, 1, ElementType::f32, kCube},
        {Shape::star, 2, ElementType::f32, kCube},
        {Shape::star, 4, ElementType::f32, kCube},
        {Shape::star, 1, ElementType::f64, kCube},
        {Shape::star, 2, ElementType::f64, kCube},
        {Shape::star, 4, ElementType::f64, kCube},
        {Shape::star, 1, ElementType::f32, kSquare},
        {Shape::box, 1, ElementType::f32, kSquare},
        {Shape::star, 2, ElementType::f32, kLine},
        {Shape::star, 1, ElementType::f32, kPrimeish}}},
  };
  return all;
}

}  // namespace

std::vector<std::string> suite_names() {
  std::vector<std::string> names;
  for (const auto& [suite_name, cases] : suites()) names.push_back(suite_name);
  return names;
}

std::vector<Problem> suite(const std::string& name) {
  const auto found = suites().find(name);
  if (found == suites().end()) {
    throw Error(ErrorCode::unknown_name,
                fmt::format("unknown suite '{}'{} (suites: {})", name, did_you_mean(name, suite_names()),
                            fmt::join(suite_names(), ", ")));
  }
  const Boundaries hold{Boundary::hold, Boundary::hold, Boundary::hold};
  std::vector<Problem> problems;
  for (const Case& item : found->second) {
    problems.push_back(
        make_problem(make_builtin(item.shape, item.extents.rank, item.order), item.type, hold, item.extents));
  }
  return problems;
}

}  // namespace stencil_tune
