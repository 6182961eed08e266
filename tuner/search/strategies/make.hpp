// One function a strategy; strategies.cpp names them.
#pragma once

#include "tuner/search/strategies/strategies.hpp"

namespace stencil_tune {

std::unique_ptr<TableSearch> make_annealing(const ConfigurationTable& table, std::uint64_t seed);
std::unique_ptr<TableSearch> make_basin_hopping(const ConfigurationTable& table, std::uint64_t seed);
std::unique_ptr<TableSearch> make_bayesian(const ConfigurationTable& table, std::uint64_t seed);
std::unique_ptr<TableSearch> make_differential_evolution(const ConfigurationTable& table, std::uint64_t seed);
std::unique_ptr<TableSearch> make_genetic(const ConfigurationTable& table, std::uint64_t seed);
std::unique_ptr<TableSearch> make_local_search(const ConfigurationTable& table, std::uint64_t seed);
std::unique_ptr<TableSearch> make_particle_swarm(const ConfigurationTable& table, std::uint64_t seed);
std::unique_ptr<TableSearch> make_portfolio(const ConfigurationTable& table, std::uint64_t seed);
std::unique_ptr<TableSearch> make_random_search(const ConfigurationTable& table, std::uint64_t seed);

}  // namespace stencil_tune
