// What was understood of `--expr`, said before anything is done with it.
#pragma once

#include "stencil_tune/stencil.hpp"
#include "tuner/commands/program/command_line.hpp"

#include <string>

namespace stencil_tune {

/// Fields and coefficients of a one-liner, and which fields may be forgotten coefficients: those that are read at the
/// cell itself alone, and that nothing writes. Printable lines.
std::string understood_text(const Stencil& stencil);

/// Says it on standard error where `--expr` was given.
void say_what_was_understood(const po::variables_map& values, const Stencil& stencil);

}  // namespace stencil_tune
