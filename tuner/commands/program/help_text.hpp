// How help looks: usage, what the verb does, options in two columns, examples, as wide as the terminal is.
#pragma once

#include "tuner/terminal/terminal.hpp"

#include <boost/program_options.hpp>

#include <string>
#include <string_view>

namespace stencil_tune {

namespace po = boost::program_options;

/// "-o, --output FILE"
std::string spelling(const po::option_description& option);

/// A title, if it is not empty, and a line or more for each option.
std::string options_help(std::string_view title, const po::options_description& options, std::size_t first_column,
                         const Terminal& terminal);

/// How wide the column of the options must be: as the widest, but no more than leaves room for what they mean.
std::size_t width_of_options(const po::options_description& options, const Terminal& terminal);

/// Lines of "  command   comment": a comment that does not fit stands on a line of its own, a command that does not is
/// continued with a backslash.
std::string examples_help(std::string_view examples, int columns);

/// What help is laid out for: the terminal, or 80 columns where it goes elsewhere.
Terminal help_terminal();

}  // namespace stencil_tune
