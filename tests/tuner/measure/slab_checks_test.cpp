// Verification of grids whose references a GPU cannot hold: in slabs along the last axis, on a device made of the CPU.
#include "generator/candidates/constraints.hpp"
#include "generator/definition/definition.hpp"
#include "generator/kernel_source/source.hpp"
#include "runtime/cuda/device_facts.hpp"
#include "tests/tuner/measure/host_device.hpp"
#include "tuner/verify/verification.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace stencil_tune {
namespace {

constexpr const char* kOneField = R"toml(
rank = 3
fields = ["u", "u_next"]
[update]
u_next = "0.4*u + 0.1*(u[x-1] + u[x+1] + u[y-1] + u[y+1] + u[z-1] + u[z+2]){}"
)toml";
constexpr const char* kTwoLevels = R"toml(
rank = 2
fields = ["p", "p_prev", "p_next"]
[update]
p_next = "1.5*p - 0.6*p_prev + 0.1*(p[x-1] + p[x+1] + p[y-2] + p[y+1]){}"
[rotate]
p_next = "p"
p = "p_prev"
)toml";
constexpr const char* kTwoStages = R"toml(
rank = 2
fields = ["v", "p", "v_next", "p_next"]
[[stage]]
v_next = "0.9*v + 0.2*(p[y+1] - p)"
[[stage]]
p_next = "0.9*p + 0.2*(v_next - v_next[y-1] + p[x+1]){}"
[rotate]
v_next = "v"
p_next = "p"
)toml";

struct Case {
  const char* definition;
  Boundary last;
  const char* code;
};

/// The equation, with something more to it.
Problem problem_of(const Case& one, const std::string& more) {
  const Stencil stencil = parse_definition(fmt::format(fmt::runtime(one.definition), more), "slabs.toml");
  Boundaries boundaries{Boundary::hold, Boundary::hold, Boundary::hold};
  boundaries[static_cast<std::size_t>(stencil.rank - 1)] = one.last;
  const Extents extents = stencil.rank == 3 ? Extents{3, {67, 18, 140}} : Extents{2, {70, 160, 1}};
  return make_problem(stencil, ElementType::f32, boundaries, extents, 0, 4, kWholeStep);
}

/// Checks of one equation, on a device with little memory beside the fields, of kernels of that one and of others.
class SlabChecks {
 public:
  explicit SlabChecks(const Case& one, const std::string& more = "") : one_(one), problem_(problem_of(one, more)) {
    fields_.emplace(device_, problem_, problem_.allocated_cells());
    device_.free_bytes = 9 * static_cast<std::size_t>(problem_.allocated_cells());
    EXPECT_TRUE(checks_in_slabs(problem_, device_.free_bytes));
    const DeviceFacts facts = read_device(device_, 0);
    checks_.emplace(device_, facts.architecture, facts.limits, problem_, *fields_, 1, nullptr);
  }

  Launcher load(const std::string& more) {
    const Problem problem = problem_of(one_, more);
    const Candidate computed(problem, parse_code(one_.code));
    EXPECT_FALSE(first_violation(computed, {})) << one_.code << first_violation(computed, {})->message;
    return Launcher(device_, computed.tuning(), device_.load(computed, generate(computed)));
  }
  Verification& operator*() { return *checks_; }
  std::int64_t planes() const { return problem_.extents.n[static_cast<std::size_t>(problem_.extents.rank - 1)]; }

 private:
  Case one_;
  Problem problem_;
  testing::HostDevice device_;
  std::optional<FieldSet> fields_;
  std::optional<Verification> checks_;
};

TEST(SlabChecks, PassRightKernels) {
  using enum Boundary;
  for (const Case& one : {Case{kOneField, hold, "temporal.bx32.by4.rx2.ry2.v1.pf2.t3"},
                          {kOneField, zero, "direct.bx32.by4"},
                          {kTwoLevels, reflect, "system.bx32.by1.rx2.v1.pf2.t3"},
                          {kTwoStages, clamp, "system.bx32.by1.rx2.v1.pf2.t2"}}) {
    SCOPED_TRACE(fmt::format("{} {} {}", one.definition, name(one.last), one.code));
    SlabChecks checks(one);
    const Launcher kernel = checks.load("");
    EXPECT_EQ((*checks).verify(kernel), std::nullopt);
    EXPECT_EQ((*checks).verify_launches(kernel, 8), std::nullopt);
    EXPECT_GE((*checks).sharpness(kernel).share, kSharp);
  }
}

/// A kernel that is wrong in one plane.
TEST(SlabChecks, AreOfEveryCellForFinalists) {
  const auto wrong_at = [](std::int64_t plane) {
    return fmt::format(" + select(z == {}, 0.01, 0)*u", plane + kCheckPlace.origin[2]);
  };
  SlabChecks checks({kOneField, Boundary::hold, "system.bx32.by4.rx2.ry2.v1.pf2.t2"}, wrong_at(1000));
  const auto found = (*checks).verify_launches(checks.load(wrong_at(120)), 8);
  ASSERT_TRUE(found);
  EXPECT_NE(found->find("cells are wrong after 2 fused steps, first cell (1, 1, "), std::string::npos) << *found;
  for (const std::int64_t end : {std::int64_t{1}, checks.planes() - 3}) {
    EXPECT_TRUE((*checks).verify(checks.load(wrong_at(end)))) << "the ends are always looked at";
  }
}

TEST(SlabChecks, GridsWhoseEndsMeetAreCheckedWhole) {
  const Case one{kOneField, Boundary::periodic, "direct.bx32.by4"};
  EXPECT_FALSE(checks_in_slabs(problem_of(one, ""), 1000));
  EXPECT_TRUE(obstacle_to_fused_checks(problem_of(one, ""), 1000));
  EXPECT_FALSE(obstacle_to_fused_checks(problem_of({kOneField, Boundary::hold, ""}, ""), 1000));
}

}  // namespace
}  // namespace stencil_tune
