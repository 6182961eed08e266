// --gpu, shared by all verbs that choose among winners of several GPU models.
#pragma once

#include "tuner/commands/command_line.hpp"

#include <optional>
#include <string>

namespace stencil_tune {

void add_gpu_option(po::options_description_easy_init which, const char* meaning);

/// The GPU model that --gpu names, as rows have it: "h200" and "nvidia h200" are "NVIDIA H200", as `devices` lists
/// them; other names stay as they are. Nothing where the option was not given.
std::optional<std::string> requested_gpu(const po::variables_map& values);

}  // namespace stencil_tune
