#include "tuner/verify/reference/reference_expression.hpp"

#include "generator/definition/definition.hpp"
#include "tuner/verify/check_numbers.hpp"
#include "tuner/verify/reference/reference.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace stencil_tune {
namespace {

constexpr Boundaries kZero{Boundary::zero, Boundary::zero, Boundary::zero};

Problem problem_of(const std::string& expression) {
  return make_problem(parse_stencil(expression, 2), ElementType::f32, kZero, {2, {9, 7, 1}});
}

std::vector<Operation> operations(const std::string& expression) {
  std::vector<Operation> all;
  for (const Node& node : reference_expression(problem_of(expression), 0).nodes) all.push_back(node.op);
  return all;
}

TEST(ReferenceExpression, IsWhatIsWritten) {
  using enum Operation;
  EXPECT_EQ(operations("0 - u"), (std::vector<Operation>{number, read, subtract}));
  EXPECT_EQ(operations("1*(u/2)"), (std::vector<Operation>{number, read, number, divide, multiply}));
  EXPECT_EQ(operations("2*(3*u)"), (std::vector<Operation>{number, number, read, multiply, multiply}));
  EXPECT_EQ(operations("-(-u)"), (std::vector<Operation>{read, negate, negate}));
}

TEST(ReferenceExpression, HasConstantsCarriedOutInTheirOrder) {
  const auto nodes = reference_expression(problem_of("(min(7, 2) - max(1, -4)/8 + (1 < 1) + (3 <= 3))*u"), 0).nodes;
  ASSERT_EQ(nodes.size(), 3u);
  EXPECT_EQ(nodes[0].op, Operation::number);
  EXPECT_EQ(nodes[0].value, 2 - 1.0 / 8 + 0 + 1);
}

TEST(ReferenceExpression, TakesTheBranchThatAConstantDecides) {
  EXPECT_EQ(operations("select(1 < 2, u, v[x+3])"), std::vector<Operation>{Operation::read});
  EXPECT_EQ(operations("select(2 < 1, v[x+3], u) + (0 || 0)").front(), Operation::read);
}

/// Whether products and quotients, in their order, are computed as they stand.
std::vector<bool> whole(const std::string& expression) {
  std::vector<bool> all;
  const ReferenceExpression reference = reference_expression(problem_of(expression), 0);
  for (std::size_t id = 0; id < reference.nodes.size(); ++id) {
    const Operation op = reference.nodes[id].op;
    if (op == Operation::multiply || op == Operation::divide) all.push_back(reference.whole[id]);
  }
  return all;
}

TEST(ReferenceExpression, SaysWhichProductsAndQuotientsNoKernelDistributes) {
  EXPECT_EQ(whole("c*u + sqrt(c)*(u - v)/(1 + c); c = 2"), (std::vector<bool>{false, false, false}));
  EXPECT_EQ(whole("u*v"), std::vector<bool>{true});
  EXPECT_EQ(whole("u*x"), std::vector<bool>{true}) << "a coordinate varies too";
  EXPECT_EQ(whole("u*(c*v); c = 2"), (std::vector<bool>{false, true}));
  EXPECT_EQ(whole("c/u; c = 2"), std::vector<bool>{true});
}

TEST(ReferenceExpression, OfAStencilWithoutAWrittenFormIsTheStencilsOwn) {
  StencilBuilder builder("plain", 2);
  const NodeId u = builder.read(builder.field("u"), {1, 0, 0});
  builder.update(builder.field("v"), builder.apply(Operation::subtract, builder.number(0), u));
  const Problem problem = make_problem(std::move(builder).build(), ElementType::f32, kZero, {2, {9, 7, 1}});
  ASSERT_EQ(reference_expression(problem, 0).nodes.size(), 2u);
  EXPECT_EQ(reference_expression(problem, 0).nodes.back().op, Operation::negate);
}

/// Both forms say the same, and the bounds of the written one are hardly wider.
void expect_equal_forms(Stencil stencil, ElementType type) {
  ASSERT_FALSE(stencil.written.stages.empty()) << stencil.name;
  Extents extents{stencil.rank, {1, 1, 1}};
  for (int axis = 0; axis < stencil.rank; ++axis) extents.n[static_cast<std::size_t>(axis)] = 7 + axis;
  for (int stage = 0; stage < static_cast<int>(stencil.stages.size()); ++stage) {
    const Problem written = make_problem(stencil, type, kZero, extents, 0, 1, stage);
    Problem simplified = written;
    simplified.stencil.written = {};
    const CheckNumbers numbers = random_numbers(written);
    const auto inputs = host_inputs(written, 1, numbers.input);
    const auto a = evaluate_reference(written, inputs, numbers.coefficients);
    const auto b = evaluate_reference(simplified, inputs, numbers.coefficients);
    for (std::size_t output = 0; output < a.size(); ++output) {
      double widest = 0;
      for (std::size_t i = 0; i < a[output].value.size(); ++i) {
        if (std::isinf(b[output].tolerance[i])) continue;
        const double tolerance = b[output].tolerance[i];
        ASSERT_LE(std::fabs(a[output].value[i] - b[output].value[i]), tolerance) << stencil.name << " at " << i;
        if (tolerance > 0) widest = std::max(widest, a[output].tolerance[i] / tolerance);
      }
      EXPECT_LE(widest, 1.5) << stencil.name << ", stage " << stage << ", output " << output;
    }
  }
}

TEST(WrittenForm, OfBuiltInsSaysWhatTheSimplifiedOneDoes) {
  for (const char* name : {"heat1d", "heat2d", "heat3d", "jacobi1d", "jacobi2d", "jacobi3d", "star3d4r", "box2d2r",
                           "box3d1r-symmetric", "star1d16r"}) {
    for (const ElementType type : {ElementType::f32, ElementType::f64}) expect_equal_forms(find_builtin(name), type);
  }
}

TEST(WrittenForm, OfTheCorpusSaysWhatTheSimplifiedOneDoes) {
  int definitions = 0;
  for (const auto& file : std::filesystem::directory_iterator(STENCIL_TUNE_CORPUS)) {
    if (file.path().extension() != ".toml") continue;
    ++definitions;
    for (const ElementType type : {ElementType::f32, ElementType::f64}) {
      expect_equal_forms(load_definition(file.path().string()), type);
    }
  }
  EXPECT_GT(definitions, 15);
}

TEST(WrittenForm, OfDerivativesHasTheSameWeightsToTheBit) {
  for (int accuracy = 2; accuracy <= kDefinitionLimits.accuracy; accuracy += 2) {
    for (const char* operation : {"laplacian", "d_x", "d_yy", "d_x_forward", "d_y_backward"}) {
      const std::string text = std::string(operation) + "(u, " + std::to_string(accuracy) + ")";
      expect_equal_forms(parse_stencil(text, 2), ElementType::f64);
      const auto literals = [](const std::vector<Node>& nodes) {
        std::vector<double> all;
        for (const Node& node : nodes) {
          if (node.op == Operation::number) all.push_back(std::fabs(node.value));
        }
        std::sort(all.begin(), all.end());
        all.erase(std::unique(all.begin(), all.end()), all.end());
        return all;
      };
      const Stencil stencil = parse_stencil(text, 2);
      EXPECT_EQ(literals(stencil.written.nodes), literals(stencil.nodes)) << text;
    }
  }
}

}  // namespace
}  // namespace stencil_tune
