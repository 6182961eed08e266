// stencil-tune replay FILES... --strategy all
#include "tuner/replay/replay.hpp"

#include "stencil_tune/error.hpp"
#include "tuner/commands/command.hpp"
#include "tuner/commands/program/command_line.hpp"
#include "tuner/replay/replay_report.hpp"
#include "tuner/session/report.hpp"

#include <fmt/format.h>

#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

namespace stencil_tune {
namespace {

constexpr unsigned kMostThreads = 2;  // it runs beside other work
constexpr int kMostRepeats = 100000;

std::vector<std::string> strategies_from(const std::string& option) {
  std::vector<std::string> names;
  if (option == "all") {
    for (const NamedStrategy& strategy : table_strategies()) names.emplace_back(strategy.name);
    return names;
  }
  names = split_list(option);
  for (const std::string& name : names) table_strategy(name);  // throws where there is none
  return names;
}

std::string known_strategies() {
  std::string text;
  for (const NamedStrategy& strategy : table_strategies()) {
    text += fmt::format("  {:<24}{}\n", strategy.name, strategy.meaning);
  }
  return text;
}

ReplayedSpace replay_space(const RecordedSpace& space, const std::vector<std::string>& strategies, int repeats,
                           std::uint64_t seed) {
  const RandomBaseline baseline(space);
  ReplayedSpace replayed{
      space.name, space.table.size(), baseline.evaluations_to(ScoreSetup{}.until), baseline.times().back() / 1000, {}};
  for (const std::string& strategy : strategies) {
    replayed.scores.push_back(score_of(baseline, replay(space, baseline, strategy, repeats, seed)));
  }
  return replayed;
}

/// A thread takes one space after the other.
std::vector<ReplayedSpace> replay_all(const std::vector<RecordedSpace>& spaces,
                                      const std::vector<std::string>& strategies, int repeats, std::uint64_t seed) {
  std::vector<ReplayedSpace> replayed(spaces.size());
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  const auto work = [&] {
    for (std::size_t i = next++; i < spaces.size(); i = next++) {
      try {
        replayed[i] = replay_space(spaces[i], strategies, repeats, seed);
      } catch (...) {
        const std::lock_guard lock(mutex);
        failure = std::current_exception();
      }
    }
  };
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 1; i < std::min(kMostThreads, std::thread::hardware_concurrency()); ++i)
      threads.emplace_back(work);
    work();
  }
  if (failure) std::rethrow_exception(failure);
  return replayed;
}

}  // namespace

int run_replay(const Arguments& arguments) {
  CommandLine line(
      "stencil-tune replay FILES... [--strategy NAME|all] [options]",
      "How good search strategies are on recorded search spaces: 0 is random search, 1 the optimum at once "
      "(docs/search.md). Files are Kernel Tuner's caches, T4 results, CSV of a space, all three also "
      "compressed by gzip, and databases of stencil-tune. A line a space: configurations, evaluations that "
      "random search would need, and the score of the strategies with its deviation from run to run.\n"
      "strategies:\n" +
          known_strategies(),
      "  stencil-tune replay convolution-A100.json.gz\n"
      "  stencil-tune replay spaces/*.csv.gz --strategy all\n"
      "  stencil-tune replay winners.db --strategy local,random --repeats 20\n");
  line.positional("files", -1);
  line.group("what is run")
      .add_options()(
          "strategy",
          po::value<std::string>()->value_name("NAME")->default_value(std::string(table_strategies().front().name)),
          "names joined by commas, or all")("repeats", po::value<int>()->value_name("N")->default_value(100),
                                            "runs of a strategy on each space")(
          "seed", po::value<std::uint64_t>()->value_name("N")->default_value(1),
          "of the first run; the next has the next");
  line.group("output").add_options()("json", "as JSON, with the curves");
  const auto values = line.parse(arguments);
  if (!values) return 0;
  if (values->count("files") == 0) {
    throw Error(ErrorCode::invalid_argument,
                "replay which files? Give recorded spaces, such as convolution-A100.json.gz");
  }
  const int repeats = (*values)["repeats"].as<int>();
  if (repeats < 1 || repeats > kMostRepeats) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("--repeats is {}; it goes from 1 to {}", repeats, kMostRepeats));
  }
  Replayed replayed{strategies_from((*values)["strategy"].as<std::string>()), {}, repeats};
  std::vector<RecordedSpace> spaces;
  for (const std::string& file : (*values)["files"].as<std::vector<std::string>>()) {
    for (RecordedSpace& space : read_spaces(file)) spaces.push_back(std::move(space));
  }
  replayed.spaces = replay_all(spaces, replayed.strategies, repeats, (*values)["seed"].as<std::uint64_t>());
  if (values->count("json") > 0) {
    fmt::print("{}", json_text(replay_json(replayed)));
  } else {
    fmt::print("{}", replay_text(replayed, terminal_of(stdout)));
  }
  return 0;
}

}  // namespace stencil_tune
