#include "tuner/replay/replay.hpp"

namespace stencil_tune {
namespace {

constexpr double kBeyond = 1.1;  // of the last time that counts: the curve's fit takes evaluations up to there

}  // namespace

SearchRun replay_run(const RecordedSpace& space, SearchStrategy<Configuration>& strategy, double budget_ms) {
  SearchRun run;
  double elapsed = 0;
  while (elapsed < budget_ms) {
    const auto configuration = strategy.propose();
    if (!configuration) break;
    const ConfigurationRecord& evaluation = space.evaluations[*configuration];
    elapsed += evaluation.cost_ms;
    run.push_back({elapsed, evaluation.time_ms});
    strategy.report(*configuration, evaluation.time_ms);
  }
  return run;
}

std::vector<SearchRun> replay(const RecordedSpace& space, const RandomBaseline& baseline, std::string_view strategy,
                              int repeats, std::uint64_t seed) {
  std::vector<SearchRun> runs;
  for (int i = 0; i < repeats; ++i) {
    const auto search = make_table_strategy(strategy, space.table, seed + static_cast<std::uint64_t>(i));
    runs.push_back(replay_run(space, *search, kBeyond * baseline.times().back()));
  }
  return runs;
}

}  // namespace stencil_tune
