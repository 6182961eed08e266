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

void expect_beyond(const std::string& boundary, const Beyond& expected) {
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
  const Problem problem = make_problem(stencil, ElementType::f64, {}, {2, {kWidth, kHeight, 1}});
  std::vector<double> u;
  for (std::int64_t y = 0; y < kHeight; ++y) {
    for (std::int64_t x = 0; x < kWidth; ++x) u.push_back(cell(x, y));
  }
  const std::vector<std::vector<double>> inputs{u};
  const ReferenceField found = evaluate_reference(problem, inputs, std::vector<double>{0.375}).front();
  for (std::int64_t y = 0; y < kHeight; ++y) {
    for (std::int64_t x = 0; x < kWidth; ++x) {
      const double right = 0.375 * cell(x, y) + expected(x - 2, y) + 10 * expected(x + 1, y) +
                           100 * expected(x, y - 1) + 1000 * expected(x, y + 2) + 10000 * expected(x - 1, y - 1) +
                           100000 * expected(x + 1, y + 2);
      EXPECT_NEAR(found.value[static_cast<std::size_t>(y * kWidth + x)], right, 1e-6) << boundary << x << ", " << y;
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

TEST(EdgeRules, XHasTheLastWordInCorners) {
  expect_beyond("x = \"odd\"\ny.low = \"neumann(q)\"\ny.high = \"zero\"", [](std::int64_t x, std::int64_t y) {
    double value = y >= kHeight ? 0 : cell(mirrored(x, kWidth), mirrored(y, kHeight));
    if (y < 0) value += 2 * static_cast<double>(-y) * 0.375;
    return x < 0 || x >= kWidth ? -value : value;
  });
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
