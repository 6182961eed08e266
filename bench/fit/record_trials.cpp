// Writes the trials of tuning databases as a file of recorded trials.
#include "bench/fit/write_trials.hpp"
#include "db/trial_store.hpp"

#include <fmt/format.h>

#include <span>

namespace stencil_tune {
namespace {

int run(std::span<char*> arguments) {
  if (arguments.size() < 3) {
    fmt::print(stderr, "usage: stencil_tune_record_trials FILE.trials.gz DATABASE...\n");
    return 2;
  }
  std::vector<TrialRecord> trials;
  for (const char* path : arguments.subspan(2)) {
    Database database = Database::open(path, {.access = Access::read});
    const std::vector<TrialRecord> found = TrialStore(database).find({.predicted = false});
    trials.insert(trials.end(), found.begin(), found.end());
  }
  const RecordedTrials recorded = recorded_in(trials);
  write_recorded_trials(arguments[1], recorded);
  std::size_t candidates = 0;
  for (const RecordedProblem& problem : recorded.problems) candidates += problem.trials.size();
  fmt::print("{}: {} candidates of {} problems on {}\n", arguments[1], candidates, recorded.problems.size(),
             recorded.gpu);
  return 0;
}

}  // namespace
}  // namespace stencil_tune

int main(int argc, char** argv) {
  try {
    return stencil_tune::run({argv, static_cast<std::size_t>(argc)});
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
