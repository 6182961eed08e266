#include "command_line.hpp"

#include <cstdio>
#include <exception>
#include <iostream>

namespace examples {

namespace st = stencil_tune;
namespace po = boost::program_options;

po::options_description common_options(const Defaults& defaults) {
  po::options_description options("Options");
  auto add = options.add_options();
  add("help", "say this");
  add("dims", po::value<std::string>()->default_value(defaults.dims), "cells along each axis: NX, NXxNY, NXxNYxNZ");
  add("steps", po::value<int>()->default_value(defaults.steps), "how many");
  add("type", po::value<std::string>()->default_value("f32"), "f32 or f64");
  add("boundary", po::value<std::string>()->default_value(defaults.boundary), "what lies beyond the edges");
  add("picture", po::value<std::string>()->default_value(defaults.picture), "PNG file to write");
  add("db", po::value<std::string>()->default_value(""), "database of winners; else STENCIL_TUNE_DB, else the user's");
  return options;
}

CommonOptions read_common_options(const po::variables_map& given, int rank) {
  CommonOptions options;
  options.grid.extents = st::parse_extents(given["dims"].as<std::string>(), rank);
  options.grid.type = st::parse_element_type(given["type"].as<std::string>());
  options.grid.boundary = st::parse_boundary(given["boundary"].as<std::string>());
  options.steps = given["steps"].as<int>();
  options.picture = given["picture"].as<std::string>();
  options.database = given["db"].as<std::string>();
  if (st::is_half(options.grid.type)) {
    throw st::Error(st::ErrorCode::invalid_argument, "--type is f32 or f64 here: 16 bits are too few for the check");
  }
  if (options.steps < 1) throw st::Error(st::ErrorCode::invalid_argument, "--steps is 1 or more");
  return options;
}

int run_example(int argc, const char* const* argv, const std::string& purpose, const po::options_description& options,
                const std::function<bool(const po::variables_map&)>& example) {
  po::variables_map given;
  try {
    po::store(po::parse_command_line(argc, argv, options), given);
    po::notify(given);
  } catch (const po::error& error) {
    std::cerr << error.what() << "; --help says what there is\n";
    return kUsage;
  }
  if (given.count("help") != 0) {
    std::cout << purpose << "\n\n" << options;
    return kPassed;
  }
  try {
    const bool right = example(given);
    std::puts(right ? "check passed" : "check FAILED: the answer is wrong");
    return right ? kPassed : kFailed;
  } catch (const NoGpu& error) {
    std::cerr << "this example needs an NVIDIA GPU: " << error.what() << "\n";
    return kNoGpu;
  } catch (const st::Error& error) {
    std::cerr << error.what() << "\n";
    const bool usage = error.code() == st::ErrorCode::invalid_argument || error.code() == st::ErrorCode::unknown_name;
    return usage ? kUsage : kFailed;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return kFailed;
  }
}

void print_problem(const std::string& name, const CommonOptions& options, const Simulation& simulation) {
  const Grid& grid = options.grid;
  std::printf("%s: %s %s, %s, %d steps\n", name.c_str(), std::string(st::name(grid.type)).c_str(),
              st::to_string(grid.extents).c_str(), std::string(st::name(grid.boundary)).c_str(), options.steps);
  std::printf("kernel: %s\n", simulation.evidence().c_str());
}

void print_rate(const Rate& rate) {
  std::printf("speed: %.1f GStencil/s, %.1f %% of the copy ceiling (%.0f GB/s)\n", rate.gstencils, 100 * rate.share,
              rate.copy_gbps);
  if (rate.fused_steps > 1) {
    std::printf("a launch makes %d steps: %.2f x the speed of one step a launch (%.1f GStencil/s)\n", rate.fused_steps,
                rate.gstencils / rate.one_step, rate.one_step);
  } else {
    std::puts("no steps are fused: no kernel is known that gains by it here (stencil-tune --steps N looks for one)");
  }
}

bool within(const char* what, double value, double bound) {
  const bool right = value <= bound;
  std::printf("%s: %.3g, at most %.3g allowed%s\n", what, value, bound, right ? "" : "  <-- WRONG");
  return right;
}

}  // namespace examples
