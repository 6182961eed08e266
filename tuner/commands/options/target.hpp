// The options that say what a verb works for: a GPU that is here, or a model of one that is not.
#pragma once

#include "tuner/commands/program/command_line.hpp"
#include "tuner/session/target.hpp"

#include <vector>

namespace stencil_tune {

void add_device_option(CommandLine& line);   ///< one GPU
void add_devices_option(CommandLine& line);  ///< several
void add_prediction_options(CommandLine& line);

/// A target for each GPU model, in the order in which the models come first.
std::vector<Target> targets_of(const std::vector<DeviceFacts>& devices);

/// --arch or --device-model: a prediction. Otherwise the GPUs of --device (default: the first), a target for each model
/// of GPU; without any GPU a prediction for the default architecture, unless --device asked for one.
/// Throws Error: no_device, unknown_name, unsupported_driver; invalid_argument where options contradict each other.
std::vector<Target> choose_targets(const po::variables_map& values);

/// The same where all GPUs have to be of one model; throws Error(invalid_argument) where they are not.
Target choose_target(const po::variables_map& values);

/// The GPU of --device. Throws Error(no_device) when there is none.
DeviceFacts require_device(const po::variables_map& values);

}  // namespace stencil_tune
