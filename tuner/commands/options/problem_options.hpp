// The options that say what is to be tuned, shared by all verbs that need a problem.
#pragma once

#include "generator/candidates/constraints.hpp"
#include "generator/stencil/problem.hpp"
#include "tuner/commands/program/command_line.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stencil_tune {

void add_problem_options(CommandLine& line);

/// Every combination of the grids, element types and steps that are named, in this order: "--dims 256,512 --type
/// f32,f64" are four problems, the first grid's first. Throws Error: invalid_argument, unknown_name,
/// malformed_definition.
std::vector<Problem> problems_from(const po::variables_map& values);

/// The one problem that is named. Throws as problems_from, and Error(invalid_argument) for several.
Problem problem_from(const po::variables_map& values);

/// The first option given that says what is tuned; nothing where none is.
std::optional<std::string> given_problem_option(const po::variables_map& values);

/// Is there anything to tune? Throws Error(nothing_to_update) when no cell is updated, Error(illegal_candidate) when no
/// family has a legal candidate (the order is too large, say).
void require_tunable(const Problem& problem, const Limits& limits);

/// Throws Error(exceeds_device_memory) saying how much all fields need and how much there is.
void require_fits(const Problem& problem, std::size_t device_bytes, std::string_view device);

}  // namespace stencil_tune
