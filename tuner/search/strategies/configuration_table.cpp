#include "tuner/search/strategies/configuration_table.hpp"

#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <random>
#include <utility>

namespace stencil_tune {

ConfigurationTable::ConfigurationTable(std::vector<TableParameter> parameters, std::vector<ValueIndex> places)
    : parameters_(std::move(parameters)), places_(std::move(places)) {
  const auto reject = [](const std::string& why) { throw Error(ErrorCode::invalid_argument, why); };
  if (parameters_.empty() || places_.empty()) reject("a table of configurations needs a parameter and a row");
  size_ = places_.size() / parameters_.size();
  std::mt19937_64 random(1);
  for (const TableParameter& parameter : parameters_) {
    const std::size_t values = parameter.values.size();
    factors_.push_back(random());
    if (values == 0 || values > std::numeric_limits<ValueIndex>::max()) {
      reject(fmt::format("parameter {} has {} values", parameter.name, values));
    }
  }
  rows_.reserve(size_);
  for (Configuration row = 0; row < size_; ++row) {
    const auto own = this->places(row);
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      if (own[i] >= parameters_[i].values.size()) {
        reject(fmt::format("row {} has a value that parameter {} does not have", row + 1, parameters_[i].name));
      }
    }
    if (const auto same = find(own)) {
      reject(fmt::format("rows {} and {} are the same configuration", *same + 1, row + 1));
    }
    rows_.emplace(hash(own), row);
  }
}

/// A sum of products, so that a change of one place changes it by one product.
std::uint64_t ConfigurationTable::hash(std::span<const ValueIndex> places) const {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < places.size(); ++i) sum += places[i] * factors_[i];
  return sum;
}

std::optional<Configuration> ConfigurationTable::row_of(std::uint64_t hash, std::span<const ValueIndex> places) const {
  const auto [begin, end] = rows_.equal_range(hash);
  const auto row =
      std::find_if(begin, end, [&](const auto& each) { return std::ranges::equal(this->places(each.second), places); });
  return row == end ? std::nullopt : std::optional(row->second);
}

std::optional<Configuration> ConfigurationTable::find(std::span<const ValueIndex> places) const {
  return row_of(hash(places), places);
}

Configuration ConfigurationTable::nearest(std::span<const ValueIndex> places) const {
  if (const auto exact = find(places)) return *exact;
  int least = std::numeric_limits<int>::max();
  Configuration nearest = 0;
  for_each_changed(places, [&](std::size_t parameter, ValueIndex value, Configuration found) {
    const int distance = apart(parameter, places[parameter], value);
    if (distance < least) least = distance, nearest = found;
  });
  if (least < std::numeric_limits<int>::max()) return nearest;
  for (Configuration row = 0; row < size_; ++row) {
    const auto other = this->places(row);
    int distance = 0;
    for (std::size_t i = 0; i < places.size() && distance < least; ++i) distance += apart(i, places[i], other[i]);
    if (distance < least) least = distance, nearest = row;
  }
  return nearest;
}

std::vector<Configuration> ConfigurationTable::neighbours(Configuration configuration) const {
  std::vector<Configuration> found;
  const auto own = places(configuration);
  for_each_changed(own, [&](std::size_t, ValueIndex, Configuration other) { found.push_back(other); });
  return found;
}

template <class Use>
void ConfigurationTable::for_each_changed(std::span<const ValueIndex> places, Use use) const {
  const std::uint64_t centre = hash(places);
  std::vector<ValueIndex> changed(places.begin(), places.end());
  for (std::size_t i = 0; i < places.size(); ++i) {
    for (std::size_t value = 0; value < parameters_[i].values.size(); ++value) {
      if (value == places[i]) continue;
      changed[i] = static_cast<ValueIndex>(value);
      if (const auto row = row_of(centre + (value - places[i]) * factors_[i], changed)) use(i, changed[i], *row);
    }
    changed[i] = places[i];
  }
}

}  // namespace stencil_tune
