// One function a strategy; strategies.cpp names them.
#pragma once

#include "tuner/search/strategies/strategies.hpp"

namespace stencil_tune {

std::unique_ptr<TableSearch> make_random_search(const ConfigurationTable& table, std::uint64_t seed);
std::unique_ptr<TableSearch> make_local_search(const ConfigurationTable& table, std::uint64_t seed);

}  // namespace stencil_tune
