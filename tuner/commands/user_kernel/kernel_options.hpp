// The options that name a kernel of the user's own, shared by all verbs that take one.
#pragma once

#include "generator/user_kernel/user_kernel.hpp"
#include "tuner/commands/program/command_line.hpp"

namespace stencil_tune {

/// --size
void add_size_option(CommandLine& line);

/// From its file, with the sizes that were asked for. Throws as load_user_kernel and set_sizes do.
UserKernel kernel_from(const std::string& file, const po::variables_map& values);

}  // namespace stencil_tune
