// db export and db import with --format: the trials of a problem as other tuners keep them.
#pragma once

#include "tuner/commands/program/command_line.hpp"

#include <string>

namespace stencil_tune {

void add_trials_options(CommandLine& line);

/// A line for each format, for the help.
std::string known_formats();

/// Whether --format is given. Throws Error(invalid_argument) where --winner stands without it.
bool exchanges_trials(const po::variables_map& values);

/// Writes to standard output where `file` is empty.
int export_trials(const po::variables_map& values, const std::string& file);
int import_trials(const po::variables_map& values, const std::string& file);

}  // namespace stencil_tune
