#include "tests/kernels/fused/systolic_cases.hpp"

#include "generator/candidates/constraints.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

namespace stencil_tune {
namespace {

Stencil star(int order) { return make_builtin(Shape::star, 2, order); }
Stencil box(int order) { return make_builtin(Shape::box, 2, order); }

/// A sum of cells with a weight each.
Stencil weighted(std::string name, const std::vector<Offset>& offsets) {
  StencilBuilder builder(std::move(name), 2);
  const int in = builder.field("u"), out = builder.field("u_next");
  NodeId sum = builder.number(0);
  int number = 0;
  for (const Offset& offset : offsets) {
    const int weight = builder.coefficient("c" + std::to_string(number++), 0.25);
    sum =
        builder.apply(Operation::add, sum,
                      builder.apply(Operation::multiply, builder.coefficient_value(weight), builder.read(in, offset)));
  }
  builder.update(out, sum);
  builder.rotate(out, in);
  return std::move(builder).build();
}

}  // namespace

HostCase systolic_case(const Stencil& stencil, ElementType type, const Boundaries& boundaries, std::string_view code) {
  const Tuning tuning = parse_code(code);
  const Limits limits = limits_of_architecture("sm_90");
  const auto problem_on = [&](std::int64_t columns, std::int64_t rows, std::int64_t pad) {
    return make_problem(stencil, type, boundaries, {2, {columns, rows, 1}}, columns + pad, tuning.steps);
  };
  const FusedLevels shape = Candidate(problem_on(4096, 512, 0), tuning).shape().fused;
  HostCase host_case{tuning, {}, {}};
  const auto add = [&](std::int64_t columns, std::int64_t rows, std::int64_t pad) {
    const Problem problem = problem_on(columns, rows, pad);
    if (is_legal({problem, tuning}, limits)) host_case.problems.push_back(problem);
  };
  add(shape.width, 9, 0);                                   // one tile, fewer rows than the pipeline is deep
  const int uneven = tuning.copies == Copies::tma ? 4 : 1;  // lines are whole words, of four f32 at most
  add(shape.width + uneven, 2 * shape.delay, 3 * uneven);   // rows of odd length, if they may be
  add(shape.width + 12, shape.delay + 23, 4);               // whole words, padded
  add(2 * shape.width + 8, shape.delay + 40, 0);
  return host_case;
}

std::vector<HostCase> systolic_cases(Boundary x, Boundary walk) {
  using enum ElementType;
  const Boundaries boundaries{x, walk, walk};
  std::vector<HostCase> cases;
  for (const auto& [stencil, type, code] : {
           std::tuple{star(1), f64, "systolic.rx7.pf2.t8.tg4.rb2.sh1"},
           {box(1), f64, "systolic.rx7.pf1.t8.tg4.rb2.split.sh3"},
           {star(2), f32, "systolic.rx7.pf2.t8.tg4.rb1.sh4"},
           {star(1), f64, "systolic.rx7.pf2.t8.tg4.rb2.words.sh1"},
           {box(1), f64, "systolic.rx7.pf1.t8.tg4.rb2.words.sh3.stcs"},
           {star(2), f32, "systolic.rx7.pf2.t8.tg4.rb1.split.words.sh4"},
           {box(2), f64, "systolic.rx7.pf1.t4.tg4.rb2.split.step.sh3"},
           {star(1), f32, "systolic.rx9.pf2.t8.tg4.rb1.words.step.sh2"},
       }) {
    HostCase tested = systolic_case(stencil, type, boundaries, code);
    if (!tested.problems.empty()) cases.push_back(std::move(tested));
  }
  return cases;
}

std::vector<HostCase> systolic_pipeline_cases() {
  using enum Boundary;
  std::vector<HostCase> cases;
  for (const char* code :
       {"systolic.rx13.pf2.t32.tg8.rb2.sh7", "systolic.rx7.pf5.t8.tg8.rb1.sh2", "systolic.rx9.pf1.t16.tg4.rb3.sh3",
        "systolic.rx11.pf3.t8.tg2.rb1.sh11", "systolic.rx7.pf1.t12.tg12.rb2.sh6", "systolic.rx8.pf2.t2.tg1.rb2.sh2",
        "systolic.rx9.pf1.t3.tg3.rb3.split.sh3", "systolic.rx8.pf1.t7.tg7.rb2.sh2",
        "systolic.rx7.pf3.t8.tg8.rb1.split.sh2", "systolic.rx9.pf1.t16.tg4.rb3.split.words.sh3",
        "systolic.rx7.pf2.t8.tg4.rb3.step.sh5", "systolic.rx9.pf1.t16.tg4.rb3.split.step.words.sh3"}) {
    cases.push_back(systolic_case(star(1), ElementType::f64, {hold, hold, hold}, code));
  }
  cases.push_back(systolic_case(star(1), ElementType::f32, {zero, hold, hold}, "systolic.rx9.pf1.t12.tg4.sh5"));
  for (const Boundary walk : {hold, periodic}) {
    for (const char* code : {"systolic.rx7.pf1.t4.tg4.rb1.sh2", "systolic.rx7.pf1.t4.tg4.rb1.words.sh2"}) {
      cases.push_back(wide_index_case(systolic_case(box(2), ElementType::f32, {clamp, walk, walk}, code)));
    }
  }
  cases.push_back(
      systolic_case(star(3), ElementType::f32, {periodic, zero, hold}, "systolic.rx17.pf1.t8.tg8.rb2.words.sh3"));
  return cases;
}

std::vector<HostCase> lopsided_systolic_cases() {
  using enum Boundary;
  const Stencil upwind = weighted("upwind", {{0, 0, 0}, {-2, 0, 0}, {1, 0, 0}, {0, -1, 0}, {-1, -2, 0}, {0, 1, 0}});
  const Stencil behind = weighted("behind", {{0, 0, 0}, {-1, 0, 0}, {0, -1, 0}, {1, -2, 0}});
  const Stencil ahead = weighted("ahead", {{0, 0, 0}, {1, 0, 0}, {-1, 1, 0}, {0, 2, 0}});
  std::vector<HostCase> cases;
  for (const Boundaries& boundaries :
       {Boundaries{hold, hold, hold}, Boundaries{reflect, zero, zero}, Boundaries{zero, periodic, periodic}}) {
    for (const Stencil& stencil : {upwind, behind, ahead}) {
      for (const char* code : {"systolic.rx7.pf2.t8.tg4.rb1.sh3", "systolic.rx7.pf2.t8.tg4.rb1.words.sh3"}) {
        cases.push_back(systolic_case(stencil, ElementType::f64, boundaries, code));
      }
    }
  }
  return cases;
}

}  // namespace stencil_tune
