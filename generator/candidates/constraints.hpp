// What makes a candidate legal: the constraints that every family has, and those of its own family.
#pragma once

#include "generator/candidates/constraint.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace stencil_tune {

/// Visits the constraints of the family's candidates in their order: the cheapest, the family's, the others.
void for_each_constraint(const Family& family, const std::function<void(const Constraint&)>& visit);

struct Violation {
  std::string_view constraint;
  std::string message;
};

/// The first constraint the candidate breaks.
std::optional<Violation> first_violation(const Candidate& candidate, const Limits& limits);
bool is_legal(const Candidate& candidate, const Limits& limits);

}  // namespace stencil_tune
