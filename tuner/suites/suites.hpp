// Named lists of problems for `bench --suite`.
#pragma once

#include "generator/stencil/problem.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace stencil_tune {

struct SuiteCase {
  Problem problem;
  std::size_t number = 1;                ///< in its suite, counted from 1
  std::optional<std::size_t> against{};  ///< the number of the case that this one's rate is compared with
};

using Suite = std::vector<SuiteCase>;

std::vector<std::string> suite_names();

/// Throws Error(unknown_name) with the nearest name.
Suite suite(const std::string& name);

/// The cases that `numbers` names: "3", "1-12", "20-", counted from 1; "2-/4": every fourth from the second on. They
/// keep their numbers. Throws Error(invalid_argument).
Suite choose_cases(const Suite& all, const std::string& numbers);

}  // namespace stencil_tune
