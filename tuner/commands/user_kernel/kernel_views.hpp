// What is known of a configuration of a kernel of the user's own: its launch, and its winner.
#pragma once

#include "db/winner_store.hpp"
#include "generator/user_kernel/configuration.hpp"

#include <optional>
#include <string>
#include <vector>

namespace stencil_tune {

/// Whether the configuration is legal, or which rule it breaks, and its launch. Throws Error(malformed_code).
std::string explain_configuration(const UserKernel& kernel, const std::string& code);

/// The winner of this kernel and these sizes on a GPU model, the one asked for or any; of several the nearest to the
/// objective (objective_distance). Throws NoWinner.
WinnerRecord winner_of_kernel(const UserKernel& kernel, const std::optional<std::string>& gpu, Objective objective,
                              Database& database);

/// What its export says of it, a line each.
std::vector<std::string> provenance_of(const UserKernel& kernel, const TrialRecord& winner);

}  // namespace stencil_tune
