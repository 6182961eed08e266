// Coordinates and the step's number at every level of fused steps, against the reference in every cell.
#include "tests/kernels/expect_right.hpp"
#include "tests/kernels/placed_cases.hpp"

#include <gtest/gtest.h>

#include <string>

namespace stencil_tune {
namespace {

class PlacedKernels : public testing::TestWithParam<Boundary> {};

TEST_P(PlacedKernels, OfOneFieldKnowTheCellAndTheStepAtEveryLevel) {
  expect_right(placed_temporal_cases(GetParam()), 2);
}

TEST_P(PlacedKernels, OfSystemsKnowTheCellAndTheStepAtEveryLevel) { expect_right(placed_system_cases(GetParam()), 2); }

TEST_P(PlacedKernels, ReadArraysAlongAxesAndOfTime) { expect_right(profile_cases(GetParam())); }

TEST_P(PlacedKernels, StoreFieldsInTypesOfTheirOwn) { expect_right(stored_cases(GetParam())); }

TEST(EdgeKernels, AnswerAsTheDefinitionSays) { expect_right(edge_cases()); }

TEST(EdgeKernels, AnswerAsTheDefinitionSaysAtEveryFusedStep) { expect_right(fused_edge_cases()); }

INSTANTIATE_TEST_SUITE_P(Each, PlacedKernels,
                         testing::Values(Boundary::hold, Boundary::zero, Boundary::clamp, Boundary::periodic,
                                         Boundary::reflect),
                         [](const auto& tested) { return std::string(name(tested.param)); });

}  // namespace
}  // namespace stencil_tune
