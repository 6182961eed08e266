#include "tuner/search/strategies/configuration_table.hpp"

#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <limits>
#include <utility>

namespace stencil_tune {

ConfigurationTable::ConfigurationTable(std::vector<TableParameter> parameters, std::vector<ValueIndex> places)
    : parameters_(std::move(parameters)), places_(std::move(places)) {
  const auto reject = [](const std::string& why) { throw Error(ErrorCode::invalid_argument, why); };
  if (parameters_.empty() || places_.empty()) reject("a table of configurations needs a parameter and a row");
  size_ = places_.size() / parameters_.size();
  std::uint64_t combinations = 1;
  for (const TableParameter& parameter : parameters_) {
    const std::uint64_t values = parameter.values.size();
    strides_.push_back(combinations);
    if (values == 0 || values > std::numeric_limits<ValueIndex>::max()) {
      reject(fmt::format("parameter {} has {} values", parameter.name, values));
    }
    if (combinations > std::numeric_limits<std::uint64_t>::max() / values) reject("too many combinations of values");
    combinations *= values;
  }
  found_.reserve(size_);
  for (Configuration row = 0; row < size_; ++row) {
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      if (this->places(row)[i] >= parameters_[i].values.size()) {
        reject(fmt::format("row {} has a value that parameter {} does not have", row + 1, parameters_[i].name));
      }
    }
    const auto [at, is_new] = found_.try_emplace(number(this->places(row)), row);
    if (!is_new) reject(fmt::format("rows {} and {} are the same configuration", at->second + 1, row + 1));
  }
}

std::uint64_t ConfigurationTable::number(std::span<const ValueIndex> places) const {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < places.size(); ++i) sum += places[i] * strides_[i];
  return sum;
}

std::optional<Configuration> ConfigurationTable::find(std::span<const ValueIndex> places) const {
  const auto at = found_.find(number(places));
  return at == found_.end() ? std::nullopt : std::optional(at->second);
}

Configuration ConfigurationTable::nearest(std::span<const ValueIndex> places) const {
  if (const auto exact = find(places)) return *exact;
  int least = std::numeric_limits<int>::max();
  Configuration nearest = 0;
  const std::uint64_t centre = number(places);
  for_each_changed(centre, places, [&](std::size_t parameter, ValueIndex value, Configuration found) {
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
  for_each_changed(number(own), own, [&](std::size_t, ValueIndex, Configuration other) { found.push_back(other); });
  return found;
}

template <class Use>
void ConfigurationTable::for_each_changed(std::uint64_t centre, std::span<const ValueIndex> places, Use use) const {
  for (std::size_t i = 0; i < places.size(); ++i) {
    for (std::size_t value = 0; value < parameters_[i].values.size(); ++value) {
      if (value == places[i]) continue;
      const auto at = found_.find(centre + (value - places[i]) * strides_[i]);
      if (at != found_.end()) use(i, static_cast<ValueIndex>(value), at->second);
    }
  }
}

}  // namespace stencil_tune
