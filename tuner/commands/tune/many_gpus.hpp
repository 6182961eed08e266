// `tune --gpus N`: what a grid over many GPUs will reach, by the winners that are known. Nothing is tuned or timed.
#pragma once

#include "generator/stencil/problem.hpp"
#include "tuner/commands/options/target.hpp"
#include "tuner/commands/program/command_line.hpp"

#include <vector>

namespace stencil_tune {

void add_many_gpus_options(CommandLine& line);

/// One table a problem, or JSON. Returns the exit status. Throws Error(invalid_argument) for options that are none, and
/// NoWinner where nothing is known of the kernel that the parts need.
int predict_many_gpus(const po::variables_map& values, const std::vector<Problem>& problems, const Target& target);

}  // namespace stencil_tune
