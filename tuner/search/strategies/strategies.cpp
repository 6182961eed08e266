#include "tuner/search/strategies/strategies.hpp"

#include "generator/suggest.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/search/strategies/make.hpp"

#include <fmt/format.h>

#include <array>
#include <vector>

namespace stencil_tune {
namespace {

constexpr std::array kStrategies{
    NamedStrategy{"portfolio", "bayesian and local, whichever finds improvements", make_portfolio},
    NamedStrategy{"bayesian", "expected improvement by a Gaussian process", make_bayesian},
    NamedStrategy{"local", "iterated local search: better neighbours, then a few random steps", make_local_search},
    NamedStrategy{"annealing", "simulated annealing", make_annealing},
    NamedStrategy{"genetic", "a genetic algorithm", make_genetic},
    NamedStrategy{"particle-swarm", "particle swarm optimisation", make_particle_swarm},
    NamedStrategy{"differential-evolution", "differential evolution", make_differential_evolution},
    NamedStrategy{"basin-hopping", "annealing among the ends of downhill walks", make_basin_hopping},
    NamedStrategy{"random", "random search: 0 by definition", make_random_search},
};

}  // namespace

std::span<const NamedStrategy> table_strategies() { return kStrategies; }

const NamedStrategy& table_strategy(std::string_view name) {
  std::vector<std::string> names;
  for (const NamedStrategy& strategy : kStrategies) {
    if (strategy.name == name) return strategy;
    names.emplace_back(strategy.name);
  }
  throw Error(ErrorCode::unknown_name, fmt::format("there is no strategy '{}'{}", name, did_you_mean(name, names)));
}

std::unique_ptr<TableSearch> make_table_strategy(std::string_view name, const ConfigurationTable& table,
                                                 std::uint64_t seed) {
  return table_strategy(name).make(table, seed);
}

}  // namespace stencil_tune
