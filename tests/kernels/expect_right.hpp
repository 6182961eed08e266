// What tests of kernels on the host executor expect of a case.
#pragma once

#include "tests/kernels/kernel_cases.hpp"

#include <gtest/gtest.h>

#include <span>

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

}  // namespace stencil_tune
