// --gpu and --objective, shared by all verbs that choose among winners.
#pragma once

#include "stencil_tune/grid.hpp"
#include "tuner/commands/program/command_line.hpp"

#include <optional>
#include <string>

namespace stencil_tune {

void add_gpu_option(po::options_description_easy_init which, const char* meaning);

/// Both options.
void add_winner_options(po::options_description_easy_init which);

/// The GPU model that --gpu names, as rows have it: "h200" and "nvidia h200" are "NVIDIA H200", as `devices` lists
/// them; other names stay as they are. Nothing where the option was not given.
std::optional<std::string> requested_gpu(const po::variables_map& values);

/// Objective::time where the option was not given. Throws Error(unknown_name).
Objective requested_objective(const po::variables_map& values);

}  // namespace stencil_tune
