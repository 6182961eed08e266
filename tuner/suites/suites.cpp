#include "tuner/suites/suites.hpp"

#include "generator/suggest.hpp"
#include "stencil_tune/definition.hpp"
#include "stencil_tune/device_memory.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <string_view>

namespace stencil_tune {
namespace {

constexpr Extents kCube{3, {512, 512, 512}};
constexpr Extents kSmallCube{3, {384, 384, 384}};
constexpr Extents kLargeCube{3, {1024, 1024, 1024}};
constexpr Extents kSlab{3, {2048, 1024, 256}};
constexpr Extents kPrimeish{3, {509, 487, 601}};
constexpr Extents kSquare{2, {16384, 16384, 1}};
constexpr Extents kPlane{2, {8192, 8192, 1}};
constexpr Extents kLine{1, {std::int64_t{1} << 28, 1, 1}};

enum class Rows { dense, padded };

/// A built-in: boundary hold and a coefficient a point, unless it says otherwise.
SuiteCase builtin(Shape shape, int order, ElementType type, const Extents& extents, Boundary boundary = Boundary::hold,
                  Sharing sharing = Sharing::distinct, Rows rows = Rows::dense) {
  const std::int64_t pitch = rows == Rows::padded ? padded_pitch(extents.n[0], type) : 0;
  return {make_problem(make_builtin(shape, extents.rank, order, sharing), type, {boundary, boundary, boundary}, extents,
                       pitch)};
}

/// A stencil of the corpus, boundary hold.
SuiteCase defined(std::string_view name, ElementType type, const Extents& extents) {
  return {make_problem(find_stencil(name), type, {}, extents)};
}

SuiteCase compared_with(std::size_t number, SuiteCase item) {
  item.against = number;
  return item;
}

Suite main_suite() {
  using enum ElementType;
  Suite cases;
  for (const ElementType type : {f32, f64}) {
    for (const int order : {1, 2, 4}) cases.push_back(builtin(Shape::star, order, type, kCube));
  }
  cases.push_back(builtin(Shape::star, 1, f32, kSquare));
  cases.push_back(builtin(Shape::box, 1, f32, kSquare));
  cases.push_back(builtin(Shape::star, 2, f32, kLine));
  cases.push_back(builtin(Shape::star, 1, f32, kPrimeish));
  return cases;
}

/// One sweep of every shape, order and type, with distinct and with symmetric coefficients.
void add_shapes(Suite& cases, Sharing sharing) {
  using enum ElementType;
  const auto add = [&](Shape shape, int order, ElementType type, const Extents& extents) {
    cases.push_back(builtin(shape, order, type, extents, Boundary::hold, sharing));
  };
  for (const int order : {1, 2, 4}) {
    for (const ElementType type : {f32, f64}) add(Shape::star, order, type, kCube);
  }
  add(Shape::star, 8, f32, kCube);
  for (const ElementType type : {f32, f64}) add(Shape::box, 1, type, kCube);
  for (const int order : {1, 2, 4}) {
    for (const ElementType type : {f32, f64}) add(Shape::star, order, type, kSquare);
  }
  for (const int order : {1, 2}) add(Shape::box, order, f32, kSquare);
}

Suite single_sweep_suite() {
  using enum ElementType;
  Suite cases;
  add_shapes(cases, Sharing::distinct);
  const std::size_t star1 = 1;  // f32, 512^3
  const std::size_t star4 = 5;
  for (const Extents& extents : {kLargeCube, kSlab}) cases.push_back(builtin(Shape::star, 1, f32, extents));
  for (const Rows rows : {Rows::dense, Rows::padded}) {
    for (const auto& [order, cube] : {std::pair{1, star1}, {4, star4}}) {
      cases.push_back(
          compared_with(cube, builtin(Shape::star, order, f32, kPrimeish, Boundary::hold, Sharing::distinct, rows)));
    }
  }
  for (const ElementType type : {f16, bf16}) {
    cases.push_back(compared_with(star1, builtin(Shape::star, 1, type, kCube)));
  }
  for (const Boundary boundary : {Boundary::zero, Boundary::clamp, Boundary::periodic, Boundary::reflect}) {
    cases.push_back(compared_with(star1, builtin(Shape::star, 1, f32, kCube, boundary)));
  }
  add_shapes(cases, Sharing::symmetric);
  return cases;
}

/// Runs of 100 steps, whose kernels may fuse some of them.
Suite temporal_suite() {
  using enum ElementType;
  constexpr int kSteps = 100;
  constexpr Extents kPrimeishSquare{2, {10007, 9973, 1}};
  constexpr Extents kSquareInL2{2, {2816, 2816, 1}};
  constexpr Extents kCubeInL2{3, {192, 192, 192}};
  Suite cases;
  // Both return the number of the (first) case.
  const auto add = [&](SuiteCase item) {
    item.problem.steps = kSteps;
    cases.push_back(std::move(item));
    return cases.size();
  };
  const auto add_both = [&](const auto& make) {
    const std::size_t first = add(make(f32));
    add(make(f64));
    return first;
  };
  const auto star = [](int order, const Extents& extents) {
    return [=](ElementType type) { return builtin(Shape::star, order, type, extents); };
  };
  const auto box = [](int order, const Extents& extents) {
    return [=](ElementType type) { return builtin(Shape::box, order, type, extents); };
  };
  const std::size_t cube = add_both(star(1, kCube));
  add(star(1, kLargeCube)(f32));
  add_both(star(2, kCube));
  add_both([](ElementType type) { return defined("diffusion3d_19pt", type, kCube); });
  add_both(box(1, kCube));
  add_both(star(4, kCube));
  const std::size_t square = add_both(star(1, kSquare));
  add_both(box(1, kSquare));
  add_both(star(2, kSquare));
  add(star(3, kSquare)(f64));
  for (const int order : {2, 3}) add(box(order, kSquare)(f64));
  add_both([](ElementType type) { return defined("gradient2d", type, kSquare); });
  for (const auto& [extents, other] : {std::pair{kPrimeish, cube}, {kPrimeishSquare, square}}) {
    add(compared_with(other, star(1, extents)(f32)));
    add(compared_with(other + 1, star(1, extents)(f64)));
  }
  for (const Extents& extents : {kSquareInL2, kCubeInL2}) add_both(star(1, extents));
  return cases;
}

/// A run of whole steps of a system.
SuiteCase whole_steps(std::string_view name, ElementType type, const Extents& extents,
                      const Boundaries& boundaries = {}, Rows rows = Rows::dense) {
  constexpr int kSteps = 100;
  const std::int64_t pitch = rows == Rows::padded ? padded_pitch(extents.n[0], type) : 0;
  return {make_problem(find_stencil(name), type, boundaries, extents, pitch, kSteps, kWholeStep)};
}

/// The first systems of the suite again, in f32: on odd extents, with dense and with padded rows, then with every
/// boundary. Each is compared with its case of even rows and boundary hold.
void add_variants(Suite& cases) {
  using enum Boundary;
  constexpr std::size_t kSystems = 9;
  const std::vector<SuiteCase> first(cases.begin(), cases.begin() + kSystems);
  const auto add = [&](const auto& make) {
    for (std::size_t i = 0; i < kSystems; ++i) cases.push_back(compared_with(i + 1, make(first[i].problem)));
  };
  for (const Rows rows : {Rows::dense, Rows::padded}) {
    add([&](const Problem& even) {
      const Extents odd = even.extents.rank == 2     ? Extents{2, {8191, 8179, 1}}
                          : even.extents.n[0] == 512 ? kPrimeish
                                                     : Extents{3, {383, 379, 389}};
      return whole_steps(even.stencil.name, ElementType::f32, odd, {}, rows);
    });
  }
  for (const Boundaries& boundaries :
       {Boundaries{periodic, periodic, periodic}, Boundaries{reflect, reflect, reflect},
        Boundaries{clamp, clamp, clamp}, Boundaries{zero, zero, zero}, Boundaries{periodic, reflect, zero}}) {
    add([&](const Problem& held) {
      return whole_steps(held.stencil.name, ElementType::f32, held.extents, boundaries);
    });
  }
}

/// Runs of 100 steps of whole equations: two time levels, several fields, several stages, a coefficient that is read
/// at neighbours.
Suite systems_suite() {
  using enum ElementType;
  Suite cases;
  const auto add = [&](const char* name, ElementType type, const Extents& extents) {
    cases.push_back(whole_steps(name, type, extents));
  };
  for (const ElementType type : {f32, f64}) {
    for (const char* name : {"yee3d", "acoustic3d_o2", "acoustic3d_o4", "acoustic3d_o8"}) add(name, type, kCube);
    for (const char* name : {"gray_scott2d", "shallow2d", "fdtd2d"}) add(name, type, kPlane);
    add("anisotropic_diffusion3d", type, kCube);
    add("elastic3d", type, kSmallCube);
  }
  for (const ElementType type : {f32, f64}) {
    for (const char* name : {"yee3d_lossy", "tti3d", "variable_diffusion3d"}) add(name, type, kCube);
    add("fitzhugh_nagumo3d", type, kCube);
    for (const char* name : {"cahn_hilliard2d", "burgers2d", "advection2d_rk3", "lbm_d2q9"}) add(name, type, kPlane);
    add("lbm_d3q19", type, kSmallCube);
  }
  add_variants(cases);
  return cases;
}

using MakeSuite = Suite (*)();

const std::map<std::string, MakeSuite>& suites() {
  static const std::map<std::string, MakeSuite> all{{"main", main_suite},
                                                    {"single-sweep", single_sweep_suite},
                                                    {"systems", systems_suite},
                                                    {"temporal", temporal_suite}};
  return all;
}

/// A case number, or how many cases on the next one is, or `fallback` for no text.
std::size_t case_number(std::string_view text, std::size_t fallback, std::size_t count) {
  if (text.empty()) return fallback;
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 1 || number > count) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("--cases: '{}' is no case; there are 1 to {}: 3, 1-12, 20- or, every fourth, 2-/4",
                            text.substr(0, 20), count));
  }
  return number;
}

}  // namespace

std::vector<std::string> suite_names() {
  std::vector<std::string> names;
  for (const auto& [suite_name, make] : suites()) names.push_back(suite_name);
  return names;
}

Suite suite(const std::string& name) {
  const auto found = suites().find(name);
  if (found == suites().end()) {
    throw Error(ErrorCode::unknown_name,
                fmt::format("unknown suite '{}'{} (suites: {})", name, did_you_mean(name, suite_names()),
                            fmt::join(suite_names(), ", ")));
  }
  Suite cases = found->second();
  for (std::size_t i = 0; i < cases.size(); ++i) cases[i].number = i + 1;
  return cases;
}

Suite choose_cases(const Suite& all, const std::string& numbers) {
  const std::size_t slash = numbers.find('/');
  const std::string_view text = std::string_view(numbers).substr(0, slash);
  const std::size_t step =
      slash == std::string::npos ? 1 : case_number(std::string_view(numbers).substr(slash + 1), 0, all.size());
  const std::size_t dash = text.find('-');
  const std::size_t first = case_number(text.substr(0, dash), 1, all.size());
  const std::size_t last =
      dash == std::string_view::npos ? first : case_number(text.substr(dash + 1), all.size(), all.size());
  if (first > last || step == 0) {
    throw Error(ErrorCode::invalid_argument, fmt::format("--cases {}: nothing lies between", numbers.substr(0, 40)));
  }
  Suite chosen;
  for (std::size_t number = first; number <= last; number += step) chosen.push_back(all[number - 1]);
  return chosen;
}

}  // namespace stencil_tune
