// What is known of a configuration of a kernel of the user's own: its launch, and its source as a file.
#pragma once

#include "db/winner_store.hpp"
#include "generator/own_kernel/configuration.hpp"

#include <string>

namespace stencil_tune {

/// Whether the configuration is legal, or which rule it breaks, and its launch. Throws Error(malformed_code).
std::string explain_configuration(const OwnKernel& kernel, const std::string& code);

/// The winner of this kernel and these sizes: on this GPU model, else on another; by its rate in bursts, where
/// several objectives have one. Throws NoWinner.
WinnerRecord winner_of_kernel(const OwnKernel& kernel, const std::string& gpu, Database& database);

/// The winner as CUDA source: its parameters as constants before the user's text, its launch and its evidence in a
/// comment. Throws Error(malformed_code) where it is no configuration of the definition any more.
std::string exported_kernel(const OwnKernel& kernel, const TrialRecord& winner);

}  // namespace stencil_tune
