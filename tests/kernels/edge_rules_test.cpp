// What lies beyond an edge, by the reference and by plain loops.
#include "generator/definition/definition.hpp"
#include "tuner/verify/reference/reference.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace stencil_tune {
namespace {

constexpr std::int64_t kWidth = 5, kHeight = 4;

double cell(std::int64_t x, std::int64_t y) { return static_cast<double>(3 * x * x - 7 * y + 2 * x * y + 1) / 8; }

/// The value of a cell that may lie beyond an edge.
using Beyond = std::function<double(std::int64_t x, std::int64_t y)>;

/// By the reference, and by the form that kernels are made of.
void expect_beyond(const std::string& boundary, const Beyond& expected, const Boundaries& boundaries = {}) {
  const Stencil stencil = parse_definition(fmt::format(R"toml(
rank = 2
fields = ["u", "next"]
[coefficients]
q = 0.375
[update]
next = "q*u + u[x-2] + 10*u[x+1] + 100*u[y-1] + 1000*u[y+2] + 10000*u[x-1, y-1] + 100000*u[x+1, y+2]"
[boundary]
{}
)toml",
                                                       boundary),
                                           "edges");
  Problem problem = make_problem(stencil, ElementType::f64, boundaries, {2, {kWidth, kHeight, 1}});
  std::vector<double> u;
  for (std::int64_t y = 0; y < kHeight; ++y) {
    for (std::int64_t x = 0; x < kWidth; ++x) u.push_back(cell(x, y));
  }
  const std::vector<std::vector<double>> inputs{u};
  const ReferenceField found = evaluate_reference(problem, inputs, std::vector<double>{0.375}).front();
  problem.stencil.written = {};
  const ReferenceField of_kernels = evaluate_reference(problem, inputs, std::vector<double>{0.375}).front();
  for (std::int64_t y = 0; y < kHeight; ++y) {
    for (std::int64_t x = 0; x < kWidth; ++x) {
      const double right = 0.375 * cell(x, y) + expected(x - 2, y) + 10 * expected(x + 1, y) +
                           100 * expected(x, y - 1) + 1000 * expected(x, y + 2) + 10000 * expected(x - 1, y - 1) +
                           100000 * expected(x + 1, y + 2);
      const auto place = static_cast<std::size_t>(y * kWidth + x);
      EXPECT_NEAR(found.value[place], right, 1e-6) << boundary << x << ", " << y;
      EXPECT_NEAR(of_kernels.value[place], right, 1e-6) << boundary << x << ", " << y << " as kernels are made";
    }
  }
}

std::int64_t mirrored(std::int64_t i, std::int64_t n) { return i < 0 ? -i : i >= n ? 2 * (n - 1) - i : i; }

TEST(EdgeRules, OddChangesTheSignOfWhatIsMirrored) {
  expect_beyond("x = \"odd\"\ny = \"reflect\"", [](std::int64_t x, std::int64_t y) {
    const double sign = x < 0 || x >= kWidth ? -1 : 1;
    return sign * cell(mirrored(x, kWidth), mirrored(y, kHeight));
  });
}

TEST(EdgeRules, SignsMultiplyBeyondTwoEdges) {
  expect_beyond("x = \"odd\"\ny = \"odd\"", [](std::int64_t x, std::int64_t y) {
    const double sign = (x < 0 || x >= kWidth ? -1 : 1) * (y < 0 || y >= kHeight ? -1 : 1);
    return sign * cell(mirrored(x, kWidth), mirrored(y, kHeight));
  });
}

TEST(EdgeRules, NeumannRisesByTheSlopeTwiceADistance) {
  expect_beyond("x = \"neumann(q)\"\ny = \"clamp\"", [](std::int64_t x, std::int64_t y) {
    const std::int64_t k = x < 0 ? -x : x >= kWidth ? x - (kWidth - 1) : 0;
    const std::int64_t row = y < 0 ? 0 : y >= kHeight ? kHeight - 1 : y;
    return cell(mirrored(x, kWidth), row) + 2 * static_cast<double>(k) * 0.375;
  });
}

TEST(EdgeRules, DirichletIsTheMeanOfBothSides) {
  expect_beyond("x = \"zero\"\ny = \"dirichlet(2*q)\"", [](std::int64_t x, std::int64_t y) {
    if (x < 0 || x >= kWidth) return 0.0;
    const double inner = cell(x, mirrored(y, kHeight));
    return y < 0 || y >= kHeight ? 2 * 0.75 - inner : inner;
  });
}

/// 0.5 u + q du/dn = 2 with q = 0.375, where u is the mean of both cells and du/dn their difference over 2 k.
TEST(EdgeRules, RobinWeighsValueAndSlope) {
  expect_beyond("x = \"robin(0.5, q, 2)\"\ny = \"odd\"", [](std::int64_t x, std::int64_t y) {
    const double inner = (y < 0 || y >= kHeight ? -1 : 1) * cell(mirrored(x, kWidth), mirrored(y, kHeight));
    const std::int64_t k = x < 0 ? -x : x >= kWidth ? x - (kWidth - 1) : 0;
    if (k == 0) return inner;
    const double slope = 0.375 / (2 * static_cast<double>(k));
    return (2 - (0.25 - slope) * inner) / (0.25 + slope);
  });
}

TEST(EdgeRules, XHasTheLastWordInCorners) {
  expect_beyond("x = \"odd\"\ny.low = \"neumann(q)\"\ny.high = \"zero\"", [](std::int64_t x, std::int64_t y) {
    double value = y >= kHeight ? 0 : cell(mirrored(x, kWidth), mirrored(y, kHeight));
    if (y < 0) value += 2 * static_cast<double>(-y) * 0.375;
    return x < 0 || x >= kWidth ? -value : value;
  });
}

TEST(EdgeRules, ASlopeAddsNothingBeyondAnEarlierAxisThatIsZero) {
  const auto right = [](std::int64_t x, std::int64_t y) {
    if (x < 0 || x >= kWidth) return 0.0;
    const std::int64_t k = y < 0 ? -y : y >= kHeight ? y - (kHeight - 1) : 0;
    return cell(x, mirrored(y, kHeight)) + 2 * static_cast<double>(k) * 0.375;
  };
  expect_beyond("x = \"zero\"\ny = \"neumann(q)\"", right);
  expect_beyond("y = \"neumann(q)\"", right, {Boundary::zero, Boundary::hold, Boundary::hold});
}

TEST(EdgeRules, ASlopeAddsToTheZeroOfALaterAxis) {
  const auto right = [](std::int64_t x, std::int64_t y) {
    const std::int64_t k = x < 0 ? -x : x >= kWidth ? x - (kWidth - 1) : 0;
    const double inner = y < 0 || y >= kHeight ? 0 : cell(mirrored(x, kWidth), y);
    return inner + 2 * static_cast<double>(k) * 0.375;
  };
  expect_beyond("x = \"neumann(q)\"\ny = \"zero\"", right);
  expect_beyond("x = \"neumann(q)\"", right, {Boundary::hold, Boundary::zero, Boundary::hold});
}

TEST(EdgeRules, SidesDiffer) {
  expect_beyond("x.low = \"zero\"\nx.high = \"reflect\"\ny.low = \"clamp\"\ny.high = \"zero\"",
                [](std::int64_t x, std::int64_t y) {
                  if (x < 0 || y >= kHeight) return 0.0;
                  return cell(mirrored(x, kWidth), y < 0 ? 0 : y);
                });
}

}  // namespace
}  // namespace stencil_tune
