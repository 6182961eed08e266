// Times winners that ship as the library launches them, one after the other as their names come in: `bench/bench
// exports`.
#include "bench/kernel_code/problem_name.hpp"
#include "db/exchange.hpp"
#include "rates.hpp"
#include "runtime/cuda/device.hpp"
#include "runtime/library/lookup/pretuned.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>
#include <boost/program_options.hpp>
#include <nlohmann/json.hpp>

#include <atomic>
#include <exception>
#include <filesystem>
#include <iostream>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace po = boost::program_options;
using namespace stencil_tune;
using Json = nlohmann::ordered_json;

/// What the library found for a winner by its name, or why nothing.
struct Entry {
  TrialRecord winner;
  std::optional<bench::Shipped> shipped{};
  std::string problem{};
};

using Entries = std::map<std::string, Entry>;

/// A library over a database of its own, so that nothing that was tuned here hides a winner: one filled from a file of
/// winners, or empty, above those that ship.
Library open_library(const std::string& winners, const std::filesystem::path& database) {
  std::filesystem::remove(database);
  Database own = Database::open(database);
  if (!winners.empty()) import_winners(own, read_winners_file(winners));
  return Library({.database = database});
}

/// Compiles all kernels, several at a time, before anything is timed.
void prepare(Entries& entries, Library& library, int threads) {
  std::vector<Entry*> all;
  for (auto& [name, entry] : entries) all.push_back(&entry);
  std::atomic<std::size_t> next = 0;
  std::vector<std::jthread> workers;
  for (int i = 0; i < threads; ++i) {
    workers.emplace_back([&] {
      const DeviceContext context;
      for (std::size_t at = next++; at < all.size(); at = next++) {
        try {
          all[at]->shipped = bench::find_shipped(library, all[at]->winner);
          all[at]->shipped->kernel.prepare();
        } catch (const std::exception& error) {
          all[at]->shipped.reset();
          all[at]->problem = error.what();
        }
      }
    });
  }
}

Json time_one(DeviceContext& context, Entry& entry, bench::Arrays& arrays) {
  if (!entry.shipped) return {{"problem", entry.problem}};
  try {
    const double seconds = bench::seconds_a_step(context, *entry.shipped, arrays);
    const int stage = std::max(entry.shipped->stage, 0);
    const auto cells = static_cast<double>(entry.shipped->kernel.updated_box(stage).cells());
    return {{"ms_a_step", 1e3 * seconds}, {"gstencils", cells / seconds / 1e9}};
  } catch (const std::exception& error) {
    return {{"problem", error.what()}};
  }
}

void answer(const po::variables_map& given) {
  const auto file = given["winners"].as<std::string>();
  DeviceContext context;
  Library library = open_library(file, given["scratch"].as<std::string>());
  const std::string only = given["only"].as<std::string>();
  Entries entries;
  for (WinnerRecord& each : file.empty() ? shipped_winners() : parse_winners(read_winners_file(file))) {
    const std::string name = fmt::format("{}.{}", bench::problem_name(each.trial.problem), each.trial.code);
    if (name.find(only) != std::string::npos) entries[name].winner = std::move(each.trial);
  }
  prepare(entries, library, given["threads"].as<int>());
  const DeviceFacts device = find_device("0");
  std::cout << Json{{"gpu", device.name}, {"driver", device.driver}, {"winners", entries.size()}}.dump() << std::endl;
  bench::Arrays arrays;
  for (std::string name; std::getline(std::cin, name);) {
    const auto found = entries.find(name);
    const Json said =
        found == entries.end() ? Json{{"problem", "no such winner"}} : time_one(context, found->second, arrays);
    std::cout << said.dump() << std::endl;
  }
}

}  // namespace

int main(int argc, char** argv) try {
  po::options_description options("stencil_tune_bench_shipped_rates [options] < names");
  options.add_options()("help", "this text")("winners", po::value<std::string>()->default_value(""),
                                             "a file of `stencil-tune db export`; default: the winners that ship")(
      "scratch", po::value<std::string>()->default_value("shipped_rates.db"), "the database that is made for it")(
      "only", po::value<std::string>()->default_value(""), "winners whose problem or code contains this")(
      "threads", po::value<int>()->default_value(16), "that compile at a time");
  po::variables_map given;
  po::store(po::parse_command_line(argc, argv, options), given);
  if (given.count("help") > 0) {
    std::cout << options;
    return 0;
  }
  answer(given);
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
