// What the examples' command lines have in common, and how they end.
#pragma once

#include "simulation.hpp"

#include <boost/program_options.hpp>

#include <functional>
#include <string>

namespace examples {

/// One meaning each: kFailed is a wrong answer or an error, kNoGpu what ctest takes for skipped.
enum ExitCode { kPassed = 0, kFailed = 1, kUsage = 2, kNoGpu = 77 };

struct Defaults {
  std::string dims;
  int steps;
  std::string boundary;
  std::string picture;
};

struct CommonOptions {
  Grid grid;
  int steps = 0;
  std::string picture;
  std::string database;
};

/// --help, --dims, --steps, --type, --boundary, --picture, --db.
boost::program_options::options_description common_options(const Defaults& defaults);

/// Throws Error(invalid_argument), Error(unknown_name). `rank` is what one number in --dims stands for.
CommonOptions read_common_options(const boost::program_options::variables_map& given, int rank);

/// Reads the command line and calls the example, which says whether its answer is right. Prints errors to stderr.
int run_example(int argc, const char* const* argv, const std::string& purpose,
                const boost::program_options::options_description& options,
                const std::function<bool(const boost::program_options::variables_map&)>& example);

/// "f32 512x512x512, periodic, 1000 steps" and why this kernel.
void print_problem(const std::string& name, const CommonOptions& options, const Simulation& simulation);
void print_rate(const Rate& rate);

/// Prints the value beside its bound; true when it is within. A NaN never is.
bool within(const char* what, double value, double bound);

}  // namespace examples
