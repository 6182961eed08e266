// Strategies for any table of configurations, by name.
#pragma once

#include "tuner/search/strategies/configuration_table.hpp"
#include "tuner/search/strategy.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace stencil_tune {

using TableSearch = SearchStrategy<Configuration>;

struct NamedStrategy {
  std::string_view name;
  std::string_view meaning;  ///< one line
  std::unique_ptr<TableSearch> (*make)(const ConfigurationTable&, std::uint64_t seed);
};

/// All of them; the first is the default for a space without a model.
std::span<const NamedStrategy> table_strategies();

/// Throws Error(unknown_name).
const NamedStrategy& table_strategy(std::string_view name);

/// A view on the table, which must outlive it. Equal seeds make equal searches. Throws Error(unknown_name).
std::unique_ptr<TableSearch> make_table_strategy(std::string_view name, const ConfigurationTable& table,
                                                 std::uint64_t seed);

}  // namespace stencil_tune
