// Verification as on a GPU of definitions with arrays along axes and boundaries of their own: right kernels pass,
// and those of another definition do not.
#include "generator/definition/definition.hpp"
#include "generator/kernel_source/source.hpp"
#include "runtime/cuda/device_facts.hpp"
#include "tests/tuner/measure/host_device.hpp"
#include "tuner/measure/device_bench.hpp"
#include "tuner/subject/stencil_subject.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace stencil_tune {
namespace {

Stencil walls(const std::string& damping, const std::string& boundary) {
  return parse_definition(fmt::format(R"toml(
rank = 3
fields = ["u", "d(z)", "u_next", "w(t)", "h(x, y)"]
[coefficients]
q = 0.3
[update]
u_next = "0.5*q*u + 0.2*{}*u[z+1] + 0.1*(u[x-1] - u[x+1]) + 0.1*u[y-1] + 0.2*w"
[boundary]
{}
)toml",
                                      damping, boundary),
                          "walls");
}

/// The kernel of one definition, checked against another.
Outcome checked(const Stencil& computed, const Stencil& wanted, const std::string& code, int steps) {
  const auto problem_of = [&](const Stencil& stencil) {
    return make_problem(stencil, ElementType::f32, {Boundary::hold, Boundary::hold, Boundary::periodic},
                        {3, {67, 17, 21}}, 72, steps);
  };
  const Problem problem = problem_of(wanted), other = problem_of(computed);
  const Tuning tuning = parse_code(code);
  testing::HostDevice device;
  StencilSubject subject{problem};
  DeviceBench bench(device, read_device(device, 0), subject, 1);
  return bench.run(code, device.load({other, tuning}, generate({other, tuning})), MeasurePlan{}).outcome;
}

TEST(PlacedBench, KnowsRightKernelsFromWrongOnes) {
  const std::string edges = "x = \"odd\"\ny = \"neumann(q)\"\n";
  const Stencil right = walls("d[z-1]*h[y+1]", edges);
  for (const auto& [code, steps] : {std::pair{"direct.bx32.by4", 1}, {"temporal.bx32.by4.rx2.ry4.v1.pf2.t2", 2}}) {
    EXPECT_EQ(checked(right, right, code, steps), Outcome::ok) << code;
    const char* const beside = steps == 1 ? "d*h[y+1]" : "d[z-1]*h[x+1]";
    EXPECT_EQ(checked(walls(beside, edges), right, code, steps), Outcome::wrong_result) << code;
    EXPECT_EQ(checked(walls("d[z-1]*h[y+1]", "x = \"odd\"\ny = \"neumann(2*q)\"\n"), right, code, steps),
              Outcome::wrong_result)
        << code;
    EXPECT_EQ(checked(walls("d[z-1]*h[y+1]", "x = \"reflect\"\ny = \"neumann(q)\"\n"), right, code, steps),
              Outcome::wrong_result)
        << code;
  }
}

}  // namespace
}  // namespace stencil_tune
