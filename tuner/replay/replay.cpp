#include "tuner/replay/replay.hpp"

#include "stencil_tune/error.hpp"
#include "tuner/replay/recorded_stencil.hpp"

#include <fmt/format.h>

#include <functional>

namespace stencil_tune {
namespace {

constexpr double kBeyond = 1.1;  // times the last time that counts: the curve's fit takes evaluations up to there

using MakeSearch = std::function<std::unique_ptr<TableSearch>(std::uint64_t seed)>;

MakeSearch maker_of(const RecordedSpace& space, std::string_view strategy) {
  if (strategy != kStencilSearch) {
    return [&space, strategy](std::uint64_t seed) { return make_table_strategy(strategy, space.table, seed); };
  }
  if (!space.stencil) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: the search for stencils needs recorded trials of a stencil (.trials.gz)", space.name));
  }
  return [recorded = std::make_shared<const RecordedStencil>(*space.stencil)](std::uint64_t seed) {
    return make_stencil_search(recorded, seed);
  };
}

}  // namespace

SearchRun replay_run(const RecordedSpace& space, TableSearch& strategy, double budget_ms, std::size_t fewest) {
  SearchRun run;
  double elapsed = 0;
  while (elapsed < budget_ms || run.size() < fewest) {
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
                              int repeats, std::uint64_t seed, std::size_t fewest) {
  const MakeSearch make = maker_of(space, strategy);
  std::vector<SearchRun> runs;
  for (int i = 0; i < repeats; ++i) {
    const auto search = make(seed + static_cast<std::uint64_t>(i));
    runs.push_back(replay_run(space, *search, kBeyond * baseline.times().back(), fewest));
  }
  return runs;
}

}  // namespace stencil_tune
