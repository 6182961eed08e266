// stencil-tune replay FILES... --strategy all
#include "tuner/replay/replay.hpp"

#include "stencil_tune/error.hpp"
#include "tuner/commands/command.hpp"
#include "tuner/commands/program/command_line.hpp"
#include "tuner/replay/recorded_stencil.hpp"
#include "tuner/replay/replay_report.hpp"
#include "tuner/session/final_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <exception>
#include <mutex>
#include <thread>

namespace stencil_tune {
namespace {

constexpr unsigned kMostThreads = 2;  // it runs beside other work
constexpr int kMostRepeats = 100000;
constexpr std::size_t kMostEvaluations = 1000000;

struct ReplayPlan {
  std::vector<std::string> strategies{};
  int repeats;
  std::uint64_t seed;
  std::vector<std::size_t> after{};  // evaluations

  std::size_t fewest() const { return after.empty() ? 0 : *std::max_element(after.begin(), after.end()); }
};

/// "all" means every strategy for tables, and the search for stencils too where each space is a stencil's.
std::vector<std::string> strategies_from(const std::string& option, const std::vector<RecordedSpace>& spaces) {
  std::vector<std::string> names;
  if (option == "all") {
    const auto has_model = [](const RecordedSpace& space) { return space.stencil != nullptr; };
    if (std::all_of(spaces.begin(), spaces.end(), has_model)) names.emplace_back(kStencilSearch);
    for (const NamedStrategy& strategy : table_strategies()) names.emplace_back(strategy.name);
    return names;
  }
  names = split_list(option);
  for (const std::string& name : names) {
    if (name != kStencilSearch) table_strategy(name);  // throws where there is none
  }
  return names;
}

/// Those of the files whose names contain one of the words.
std::vector<RecordedSpace> spaces_from(const std::vector<std::string>& files, const std::vector<std::string>& only) {
  std::vector<RecordedSpace> spaces;
  for (const std::string& file : files) {
    for (RecordedSpace& space : read_spaces(file)) {
      const auto names_it = [&](const std::string& word) { return space.name.find(word) != std::string::npos; };
      if (std::any_of(only.begin(), only.end(), names_it)) spaces.push_back(std::move(space));
    }
  }
  if (spaces.empty()) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("no space's name contains {}: run it without --only to see their names", fmt::join(only, " or ")));
  }
  return spaces;
}

std::vector<std::size_t> numbers_from(const std::string& option) {
  std::vector<std::size_t> numbers;
  for (const std::string& text : split_list(option)) {
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || number < 1 || number > kMostEvaluations) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("--after has '{}'; it takes numbers of evaluations from 1 to {}, such as 50,200", text,
                              kMostEvaluations));
    }
    numbers.push_back(number);
  }
  return numbers;
}

std::string known_strategies() {
  std::string text;
  for (const NamedStrategy& strategy : table_strategies()) {
    text += fmt::format("  {:<24}{}\n", strategy.name, strategy.meaning);
  }
  text += fmt::format("  {:<24}{}\n", kStencilSearch,
                      "the search for stencils, with its model: of recorded trials (.trials.gz) alone");
  return text;
}

ReplayedSpace replay_space(const RecordedSpace& space, const ReplayPlan& plan) {
  const RandomBaseline baseline(space);
  ReplayedSpace replayed{.name = space.name,
                         .configurations = space.table.size(),
                         .evaluations = baseline.evaluations_to(ScoreSetup{}.until),
                         .seconds = baseline.times().back() / 1000};
  for (const std::string& strategy : plan.strategies) {
    const auto runs = replay(space, baseline, strategy, plan.repeats, plan.seed, plan.fewest());
    replayed.scores.push_back(score_of(baseline, runs));
    std::vector<Nearness>& nearness = replayed.nearness.emplace_back();
    for (const std::size_t evaluations : plan.after) {
      nearness.push_back(nearness_after(evaluations, baseline.optimum(), runs));
    }
  }
  return replayed;
}

/// A thread takes one space after the other.
std::vector<ReplayedSpace> replay_all(const std::vector<RecordedSpace>& spaces, const ReplayPlan& plan) {
  std::vector<ReplayedSpace> replayed(spaces.size());
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  const auto work = [&] {
    for (std::size_t i = next++; i < spaces.size(); i = next++) {
      try {
        replayed[i] = replay_space(spaces[i], plan);
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
      "(docs/search.md). Files are Kernel Tuner's caches, T4 results, CSV of a space, recorded trials of "
      "bench/results, all also compressed by gzip, and databases of stencil-tune. A line a space: configurations, "
      "evaluations that "
      "random search would need, and the score of the strategies with its deviation from run to run.\n"
      "strategies:\n" +
          known_strategies(),
      "  stencil-tune replay convolution-A100.json.gz\n"
      "  stencil-tune replay spaces/*.csv.gz --strategy all\n"
      "  stencil-tune replay winners.db --strategy local,random --repeats 20\n"
      "  stencil-tune replay bench/results/h200/study.trials.gz --strategy all --repeats 10 --after 100,400\n");
  line.positional("files", -1);
  line.group("what is run")
      .add_options()(
          "strategy",
          po::value<std::string>()->value_name("NAME")->default_value(std::string(table_strategies().front().name)),
          "names joined by commas, or all")("repeats", po::value<int>()->value_name("N")->default_value(100),
                                            "runs of a strategy on each space")(
          "seed", po::value<std::uint64_t>()->value_name("N")->default_value(1),
          "of the first run; the next has the next")("only", po::value<std::string>()->value_name("WORDS"),
                                                     "spaces whose names contain one of these, joined by commas");
  line.group("output").add_options()("after", po::value<std::string>()->value_name("N,N"),
                                     "how near the best the runs are after so many evaluations")(
      "json", "as JSON, with the curves");
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
  const auto text_of = [&](const char* option) {
    return values->count(option) > 0 ? (*values)[option].as<std::string>() : std::string();
  };
  ReplayPlan plan{.repeats = repeats, .seed = (*values)["seed"].as<std::uint64_t>()};
  if (values->count("after") > 0) plan.after = numbers_from(text_of("after"));
  const auto spaces = spaces_from((*values)["files"].as<std::vector<std::string>>(), split_list(text_of("only")));
  plan.strategies = strategies_from(text_of("strategy"), spaces);
  const Replayed replayed{plan.strategies, replay_all(spaces, plan), repeats};
  if (values->count("json") > 0) {
    fmt::print("{}", json_text(replay_json(replayed)));
  } else {
    fmt::print("{}", replay_text(replayed, terminal_of(stdout)));
  }
  return 0;
}

}  // namespace stencil_tune
