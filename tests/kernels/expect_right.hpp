// What tests of kernels on the host executor expect of a case.
#pragma once

#include "tests/kernels/kernel_cases.hpp"

#include <gtest/gtest.h>

#include <random>
#include <span>
#include <vector>

namespace stencil_tune {

/// Compiled together and run: every cell right, on so many grids at least.
inline void expect_right(std::span<const HostCase> cases, std::size_t fewest_grids = 1) {
  const auto verdicts = check_cases_on_host(cases);
  ASSERT_EQ(verdicts.size(), cases.size());
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    EXPECT_TRUE(verdicts[i].right) << describe(cases[i]) << "\n" << verdicts[i].message;
    EXPECT_GT(verdicts[i].cells_checked, 0) << describe(cases[i]);
    EXPECT_GE(cases[i].problems.size(), fewest_grids) << describe(cases[i]);
  }
}

enum class Part { first, others };

/// About a third of the cases, always the same, or the others: of lists that take minutes to compile.
inline std::vector<HostCase> part_of(const std::vector<HostCase>& cases, Part part) {
  std::mt19937 random(1);
  std::vector<HostCase> drawn;
  for (const HostCase& each : cases) {
    if ((random() % 3 == 0) == (part == Part::first)) drawn.push_back(each);
  }
  return drawn;
}

}  // namespace stencil_tune
