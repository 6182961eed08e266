// Derivatives of stencils against the reference: the dot-product test <F' du, g> = <du, adjoint g>.
#include "generator/stencil/derivatives/adjoint.hpp"

#include "generator/stencil/derivatives/tangent.hpp"
#include "stencil_tune/definition.hpp"
#include "tests/runtime/expect_error.hpp"
#include "tuner/verify/reference/reference.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace stencil_tune {
namespace {

using Values = std::vector<double>;
using Named = std::map<std::string, Values>;

constexpr Extents kGrid{2, {7, 5, 1}};
constexpr std::size_t kCells = 35;

Boundaries everywhere(Boundary boundary) { return {boundary, boundary, boundary}; }

double dot(const Values& a, const Values& b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }

Values defaults(const Stencil& stencil) {
  Values values;
  for (const Coefficient& coefficient : stencil.coefficients) values.push_back(coefficient.value);
  return values;
}

/// What one step of a stencil makes of fields by name; 0 where it writes nothing.
Named apply(const Stencil& stencil, const Named& fields, const Boundaries& boundaries, const Values& coefficients) {
  const Problem problem = make_problem(stencil, ElementType::f64, boundaries, kGrid);
  std::vector<Values> inputs;
  for (const int field : problem.facts.inputs)
    inputs.push_back(fields.at(stencil.fields[static_cast<std::size_t>(field)]));
  Named outputs;
  for (ReferenceField& output : evaluate_reference(problem, inputs, coefficients)) {
    outputs[stencil.fields[static_cast<std::size_t>(output.field)]] = std::move(output.value);
  }
  return outputs;
}

class AdjointTest : public ::testing::Test {
 protected:
  Values integers(int low, int high) {
    std::uniform_int_distribution<int> draw(low, high);
    Values values(kCells);
    std::generate(values.begin(), values.end(), [&] { return draw(random_); });
    return values;
  }

  Values reals() {
    std::uniform_real_distribution<double> draw(0.5, 2);
    Values values(kCells);
    std::generate(values.begin(), values.end(), [&] { return draw(random_); });
    return values;
  }

  Named inputs_of(const Stencil& stencil, bool real) {
    Named fields;
    for (const int field : analyse(stencil, 0).inputs) {
      fields[stencil.fields[static_cast<std::size_t>(field)]] = real ? reals() : integers(-4, 4);
    }
    return fields;
  }

  Named gradients_of(const Stencil& stencil) {
    Named gradients;
    for (const int field : analyse(stencil, 0).outputs) {
      gradients[gradient_name(stencil.fields[static_cast<std::size_t>(field)])] = integers(-4, 4);
    }
    return gradients;
  }

  double paired(const Named& outputs, const Named& gradients) {
    double sum = 0;
    for (const auto& [name, values] : outputs) sum += dot(values, gradients.at(gradient_name(name)));
    return sum;
  }

  void expect_adjoint_exactly(const char* text, Boundary boundary) {
    const Stencil stencil = parse_stencil(text, 2);
    const Stencil adjoint = adjoint_of(stencil);
    const Named inputs = inputs_of(stencil, false);
    const Named gradients = gradients_of(stencil);
    const Named back = apply(adjoint, gradients, everywhere(boundary), defaults(adjoint));
    double right = 0;
    for (const auto& [name, values] : inputs) right += dot(values, back.at(gradient_name(name)));
    EXPECT_EQ(paired(apply(stencil, inputs, everywhere(boundary), defaults(stencil)), gradients), right)
        << text << ", " << name(boundary);
  }

  /// Against differences in a random direction.
  void expect_derivative(const char* text, Boundary boundary) {
    const Stencil stencil = parse_stencil(text, 2);
    const Stencil adjoint = adjoint_of(stencil);
    const Named inputs = inputs_of(stencil, true);
    const Named gradients = gradients_of(stencil);
    Named given = gradients;
    given.insert(inputs.begin(), inputs.end());
    const Named back = apply(adjoint, given, everywhere(boundary), defaults(adjoint));
    constexpr double kStep = 1e-5;
    for (const auto& input : inputs) {
      const std::string& name = input.first;
      const Values direction = integers(-4, 4);
      const auto moved = [&](double by) {
        Named fields = inputs;
        for (std::size_t i = 0; i < kCells; ++i) fields[name][i] += by * direction[i];
        return paired(apply(stencil, fields, everywhere(boundary), defaults(stencil)), gradients);
      };
      const auto found = back.find(gradient_name(name));
      const double derivative = found != back.end() ? dot(direction, found->second) : 0;
      EXPECT_NEAR((moved(kStep) - moved(-kStep)) / (2 * kStep), derivative, 1e-6 * std::max(1.0, std::abs(derivative)))
          << text << ", " << name;
    }
  }

  std::mt19937_64 random_{7};
};

TEST_F(AdjointTest, IsTheTransposeOfALinearUpdate) {
  for (const Boundary boundary : {Boundary::periodic, Boundary::zero}) {
    expect_adjoint_exactly("v = 2*u[x-1] - 3*u[x+2] + 5*u[y+1] + u", boundary);
    expect_adjoint_exactly("v = u + a*laplacian(u); a = 0.25", boundary);
    expect_adjoint_exactly("p = a[x+1] - b[y-1]; q = 3*b + a[x-2]", boundary);
  }
}

TEST_F(AdjointTest, IsTheDerivativeOfOthers) {
  for (const Boundary boundary : {Boundary::periodic, Boundary::zero}) {
    expect_derivative("v = c*laplacian(u) + u", boundary);
    expect_derivative("a_next = a + laplacian(a) - a*b^2; b_next = b + a*b^2", boundary);
    expect_derivative("v = sqrt(u[x-1]^2 + u[y+1]^2 + 1) - exp(0.1*u)", boundary);
    expect_derivative("v = min(u[x-1], 2*u[y+1]) + max(u, w) + abs(u[x+1] - 1.1)", boundary);
  }
  expect_derivative("v = u[x-1] / w[y+1] + 1 / u", Boundary::periodic);
  expect_derivative("v = sin(u[x-1]) * cos(w) + tanh(u[y+1] - w)", Boundary::zero);
  expect_derivative("v = mod(7*u[x-1], 2.5 + w) + u * floor(4*w)", Boundary::zero);
  expect_derivative("v = log(u[x-1]) + tan(0.3*w) + pow(u, 2.5) + pow(u[y+1], w)", Boundary::periodic);
  expect_derivative("v = u[x+1] / w", Boundary::zero);  // beyond the edge, where w is 0, nothing is divided
}

TEST_F(AdjointTest, PlacesAreThoseOfTheCellThatRead) {
  expect_derivative("v = u[x-1]*x + w[y+2]*sin(y[y+1]) + u", Boundary::zero);
  const Stencil walls = parse_definition(
      "rank = 2\nfields = [\"u\", \"psi(y in layer)\", \"v\", \"chi(y in layer)\"]\n[update]\nv = \"u[x-1] + "
      "psi[y+1]\"\n"
      "chi = \"psi + y_in_layer*u\"\n[boundary]\nx = \"odd\"\n",
      "walls.toml");
  const Stencil adjoint = adjoint_of(walls);
  ASSERT_EQ(adjoint.fields, (std::vector<std::string>{"grad_v", "grad_chi", "grad_u", "grad_psi"}));
  EXPECT_EQ(layer_axis(adjoint, 1), 1);
  EXPECT_EQ(layer_axis(adjoint, 2), -1);
  EXPECT_EQ(layer_axis(adjoint, 3), 1);
  ASSERT_EQ(adjoint.coefficients.size(), 1U) << "the distance from the low edge alone";
  EXPECT_EQ(adjoint.coefficients[0].name, "x.first");
}

TEST_F(AdjointTest, ReadsPrimalFieldsOnlyWhereDerivativesDo) {
  EXPECT_EQ(adjoint_of(parse_stencil("v = u + a*laplacian(u); a = 0.25", 2)).fields,
            (std::vector<std::string>{"grad_v", "grad_u"}));
  const Stencil flux = adjoint_of(parse_stencil("v = c*laplacian(u)", 2));
  EXPECT_EQ(flux.fields.size(), 5U);
}

TEST_F(AdjointTest, GradientsTakeTurnsTheOtherWay) {
  const Stencil adjoint = adjoint_of(find_builtin("heat2d"));
  ASSERT_EQ(adjoint.rotations.size(), 1U);
  EXPECT_EQ(adjoint.fields[static_cast<std::size_t>(adjoint.rotations[0].from)], "grad_u");
  EXPECT_EQ(adjoint.fields[static_cast<std::size_t>(adjoint.rotations[0].to)], "grad_u_next");
}

TEST_F(AdjointTest, CoefficientsHaveGradientsCellByCell) {
  const Stencil stencil = parse_stencil("v = u + a*laplacian(u) + a*b*u^2; a = 0.5; b = 0.25", 2);
  const Stencil adjoint = coefficient_adjoint_of(stencil);
  const Named inputs = inputs_of(stencil, true);
  const Named gradients = gradients_of(stencil);
  Named given = gradients;
  given.insert(inputs.begin(), inputs.end());
  for (const Boundary boundary : {Boundary::periodic, Boundary::clamp, Boundary::hold}) {
    const Named back = apply(adjoint, given, everywhere(boundary), defaults(adjoint));
    for (std::size_t i = 0; i < 2; ++i) {
      constexpr double kStep = 1e-5;
      const auto moved = [&](double by) {
        Values coefficients = defaults(stencil);
        coefficients[i] += by;
        return paired(apply(stencil, inputs, everywhere(boundary), coefficients), gradients);
      };
      const Values& cells = back.at(gradient_name(stencil.coefficients[i].name));
      EXPECT_NEAR((moved(kStep) - moved(-kStep)) / (2 * kStep), std::accumulate(cells.begin(), cells.end(), 0.0), 1e-6);
    }
  }
}

TEST_F(AdjointTest, OfASymmetricSumIsTheSameToTheKey) {
  for (const char* text :
       {"v = u + a*laplacian(u); a = 0.25", "v = a*u[x-1] + a*u[x+1] - b*(u[y-1] + u[y+1]); a = 1; b = 2"}) {
    const Stencil stencil = parse_stencil(text, 2);
    EXPECT_EQ(stencil_key(adjoint_of(stencil)), stencil_key(stencil)) << text;
  }
  for (const char* text : {"v = u[x-1] - u[x+1]", "v = a*u[x-1] + b*u[x+2]; a = 1; b = 2", "v = u[x-1] + u"}) {
    const Stencil stencil = parse_stencil(text, 2);
    EXPECT_NE(canonical_text(adjoint_of(stencil)), canonical_text(stencil)) << text;
    expect_adjoint_exactly(text, Boundary::zero);
  }
}

TEST_F(AdjointTest, TangentsAreDerivativesOfASteps) {
  for (const char* text : {"v = u + a*laplacian(u); a = 0.5", "v = a*u[x-1]*u + sin(a*u[y+1]) + a^2; a = 0.5",
                           "p_next = 2*p - q + a*w*laplacian(p); q_next = p + a; a = 0.5"}) {
    const Stencil stencil = parse_stencil(text, 2);
    const Stencil tangent = tangent_of(stencil, 0);
    Named fields = inputs_of(stencil, true);
    for (const Rotation& rotation : stencil.rotations) {
      fields[tangent_name(stencil.fields[static_cast<std::size_t>(rotation.to)])] = reals();
    }
    for (const Boundary boundary : {Boundary::periodic, Boundary::clamp}) {
      const Named made = apply(tangent, fields, everywhere(boundary), defaults(tangent));
      constexpr double kStep = 1e-5;
      const auto moved = [&](double by) {
        Named there = fields;
        for (auto& [name, values] : there) {
          const auto direction = fields.find(tangent_name(name));
          for (std::size_t i = 0; direction != fields.end() && i < kCells; ++i) values[i] += by * direction->second[i];
        }
        Values coefficients = defaults(stencil);
        coefficients[0] += by;
        return apply(stencil, there, everywhere(boundary), coefficients);
      };
      const Named plain = apply(stencil, fields, everywhere(boundary), defaults(stencil));
      const Named up = moved(kStep), down = moved(-kStep);
      for (const auto& [name, values] : plain) {
        for (std::size_t i = 0; i < kCells; ++i) {
          EXPECT_NEAR(made.at(name)[i], values[i], 1e-12) << text;  // its sums may be in another order
          EXPECT_NEAR(made.at(tangent_name(name))[i], (up.at(name)[i] - down.at(name)[i]) / (2 * kStep), 1e-7) << text;
        }
      }
    }
  }
}

TEST_F(AdjointTest, TangentsTakeTurnsWithTheirFields) {
  const Stencil tangent = tangent_of(find_builtin("heat2d"), 0);
  ASSERT_EQ(tangent.rotations.size(), 2U);
  EXPECT_EQ(tangent.fields[static_cast<std::size_t>(tangent.rotations[1].from)], "tangent_u_next");
  EXPECT_EQ(tangent.fields[static_cast<std::size_t>(tangent.rotations[1].to)], "tangent_u");
  EXPECT_ERROR(tangent_of(find_builtin("heat2d"), 1), ErrorCode::invalid_argument, "1 coefficients");
  EXPECT_ERROR(tangent_of(parse_stencil("w = a*u + v[x-1]; a = 1", 2), 0), ErrorCode::invalid_argument, "no rotation");
}

TEST_F(AdjointTest, AStageStandsAlone) {
  const Stencil two = parse_definition(
      "rank = 2\nfields = [\"a\", \"b\", \"c\", \"d\"]\n[coefficients]\nk = 1\nm = 2\n[[stage]]\nb = \"m*a[x-1] + d\"\n"
      "[[stage]]\nc = \"b[x+1] - k*a\"\n",
      "two.toml");
  EXPECT_EQ(stencil_key(stage_of(two, 0)), stencil_key(parse_stencil("b = m*a[x-1] + d; m = 2", 2)));
  const Stencil second = stage_of(two, 1);
  EXPECT_EQ(stencil_key(second), stencil_key(parse_stencil("c = b[x+1] - k*a; k = 1", 2)));
  EXPECT_EQ(second.coefficients.size(), 2U);
  EXPECT_TRUE(second.rotations.empty());
  EXPECT_ERROR(stage_of(two, 2), ErrorCode::invalid_argument, "stage 2");
}

std::string turns_of(const Stencil& stencil) {
  std::string turns;
  for (const Rotation& rotation : stencil.rotations) {
    turns += stencil.fields[static_cast<std::size_t>(rotation.from)] + " > " +
             stencil.fields[static_cast<std::size_t>(rotation.to)] + "\n";
  }
  return turns;
}

/// Runs that repeat it are compared with differences in tests/python/test_edges_random.py.
TEST_F(AdjointTest, AStepBackIsAStep) {
  const Stencil wave = parse_stencil("p_next = 2*p - p_prev + m*laplacian(p)", 2);
  const Stencil back = adjoint_step_of(wave, {"m"});
  EXPECT_EQ(turns_of(back), "grad_p > negated_grad_p_prev\ngrad_m_of_stage_0 > grad_m\ngrad_p_of_stage_0 > grad_p\n");
}

TEST_F(AdjointTest, AStepBackMakesAgainWhatStagesHandOn) {
  const Stencil two = parse_definition(
      "rank = 2\nfields = [\"e\", \"h\", \"c\", \"h_next\", \"e_next\"]\n[[stage]]\nh_next = \"h + e[x+1] - e\"\n"
      "[[stage]]\ne_next = \"e + c*(h_next - h_next[x-1])\"\n[rotate]\nh_next = \"h\"\ne_next = \"e\"\n",
      "two.toml");
  EXPECT_EQ(adjoint_step_of(two, {}).stages.size(), 2U);
  const Stencil back = adjoint_step_of(two, {"c"});
  ASSERT_EQ(back.stages.size(), 3U);
  EXPECT_EQ(back.fields[static_cast<std::size_t>(back.stages[0].updates[0].output)], "h_next");
  EXPECT_NE(turns_of(adjoint_step_of(two, {"h_next"})).find("grad_h_next_of_stage_1 > grad_h_next\n"),
            std::string::npos);
}

TEST_F(AdjointTest, SaysWhatHasNone) {
  const Stencil wave = parse_stencil("p_next = 2*p - p_prev + m*laplacian(p)", 2);
  EXPECT_ERROR(adjoint_step_of(wave, {"p"}), ErrorCode::invalid_argument, "'p' is no coefficient");
  EXPECT_ERROR(adjoint_step_of(wave, {"w"}), ErrorCode::invalid_argument, "'w' is no coefficient");
  const Stencil in_place = parse_definition(
      "rank = 1\nfields = [\"a\", \"b\"]\n[[stage]]\nb = \"a[x-1]\"\n[[stage]]\na = \"b[x+1]\"\n[[stage]]\nb = "
      "\"a*a[x-1]\"\n",
      "two.toml");
  EXPECT_ERROR(adjoint_step_of(in_place, {}), ErrorCode::invalid_argument, "in place");
  const Stencil two = parse_definition(
      "rank = 1\nfields = [\"a\", \"b\"]\n[[stage]]\nb = \"a[x-1]\"\n[[stage]]\na = \"b[x+1]\"\n", "two.toml");
  EXPECT_ERROR(adjoint_of(two), ErrorCode::invalid_argument, "2 stages");
  EXPECT_ERROR(tangent_of(parse_stencil("u_next = a * u[x-1] * x; a = 1", 2), 0), ErrorCode::invalid_argument,
               "coordinates");
  EXPECT_ERROR(coefficient_adjoint_of(parse_stencil("v = u", 2)), ErrorCode::invalid_argument,
               "depends on a coefficient");
}

}  // namespace
}  // namespace stencil_tune
