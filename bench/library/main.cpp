// What using the library costs, and what it gives: tables on standard error, JSON on standard output.
#include "costs.hpp"
#include "rates.hpp"
#include "runtime/cuda/device.hpp"

#include <fmt/format.h>
#include <boost/program_options.hpp>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string_view>

namespace {

namespace po = boost::program_options;
using namespace bench;
using Json = nlohmann::ordered_json;

void print_costs(Json& json, const char* key, const char* title, double limit_us, const std::vector<Cost>& costs) {
  fmt::print(stderr, "{} (at most {:g} us)\n", title, limit_us);
  for (const Cost& cost : costs) {
    fmt::print(stderr, "  {:<60} {:10.2f} us{}\n", cost.what, cost.microseconds,
               cost.microseconds <= limit_us ? "" : "  <-- too long");
    json[key].push_back({{"what", cost.what}, {"microseconds", cost.microseconds}, {"limit", limit_us}});
  }
}

void print_transfers(Json& json, const std::vector<Transfer>& transfers) {
  fmt::print(stderr, "grids that were never tuned: what lookup gives, of what tuning gives\n");
  double sum = 0;
  double least = 1e9;
  for (const Transfer& each : transfers) {
    fmt::print(stderr, "  {:<30} {:>7.1f} of {:>7.1f} GStencil/s = {:5.1f} %  {}: {}; tuned: {}\n", each.problem,
               each.looked_up, each.tuned, 100 * each.share(), each.match, each.looked_up_code, each.tuned_code);
    json["transfers"].push_back({{"problem", each.problem},
                                 {"match", each.match},
                                 {"code", each.looked_up_code},
                                 {"tuned_code", each.tuned_code},
                                 {"gstencils", each.looked_up},
                                 {"tuned_gstencils", each.tuned}});
    sum += std::log(each.share());
    least = std::min(least, each.share());
  }
  const double mean = std::exp(sum / static_cast<double>(transfers.size()));
  fmt::print(stderr, "  geometric mean {:.1f} % (at least 95), least {:.1f} % (at least 85)\n", 100 * mean,
             100 * least);
  json["transfers_geometric_mean"] = mean;
  json["transfers_least"] = least;
}

int measure(const po::variables_map& given) {
  const auto database = given["db"].as<std::string>();
  const double seconds = given["seconds"].as<double>();
  Json json;
  {
    const stencil_tune::DeviceContext context;
    const stencil_tune::DeviceFacts device = stencil_tune::find_device("0");
    json["gpu"] = device.name;
    json["driver"] = device.driver;
    json["seconds_of_tuning"] = seconds;
    print_costs(json, "warm_lookup", "a lookup that was made before", 20, warm_lookups(database));
    print_costs(json, "launch", "a launch, less the driver's own", 1, launch_overheads());
    print_costs(json, "first_use", "first use of a cached binary, context excluded", 5000, first_uses(database));
  }
  if (seconds > 0) print_transfers(json, transfers(database, seconds));
  std::cout << json.dump(2) << '\n';
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc == 4 && std::string_view(argv[1]) == kFirstUseVerb) return first_use_main(argv[2], argv[3]);
  po::options_description options("stencil_tune_bench_library [options]");
  options.add_options()("help", "this text")("db", po::value<std::string>()->default_value(""),
                                             "winners beside those that ship; default: the user's own")(
      "seconds", po::value<double>()->default_value(10), "to tune each of the 12 grids for; 0: leave them out");
  po::variables_map given;
  po::store(po::parse_command_line(argc, argv, options), given);
  if (given.count("help") > 0) {
    std::cout << options;
    return 0;
  }
  return measure(given);
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
