// The options that say how a session goes: how long, what wins, who is told.
#pragma once

#include "tuner/commands/program/command_line.hpp"
#include "tuner/session/assembly.hpp"

#include <memory>
#include <string>

namespace stencil_tune {

/// Options of every session: how long, what wins, seeds and compilers.
void add_session_options(CommandLine& line);

/// The same, and candidates of stencils.
void add_tuning_options(CommandLine& line);

/// --race, which tuning_settings() takes in place of a budget.
void add_race_option(CommandLine& line);

/// Sessions end when Ctrl-C is heard. Throws Error(invalid_argument, unknown_name or malformed_code).
TuningSettings tuning_settings(const po::variables_map& values, bool predicted);

/// --quiet: no progress and no remarks on standard error; results and errors remain.
void add_quiet_option(po::options_description_easy_init output);
bool is_quiet(const po::variables_map& values);

/// --progress: for people, or for programs, which then are told nothing else.
void add_progress_option(po::options_description_easy_init output);
bool has_json_progress(const po::variables_map& values);

/// Tells people on standard error how the session goes, or nobody with --quiet. `gpu`: names it where sessions run side
/// by side; empty: there is one.
std::unique_ptr<SessionObserver> make_progress(const po::variables_map& values, bool predicted,
                                               const std::string& gpu = "");

}  // namespace stencil_tune
