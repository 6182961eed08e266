// Points between configurations, for methods that move in real coordinates: a coordinate is a place among the values of
// its parameter.
#pragma once

#include "tuner/search/strategies/configuration_table.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace stencil_tune {

using Point = std::vector<double>;

inline Point point_of(const ConfigurationTable& table, Configuration configuration) {
  const auto places = table.places(configuration);
  return {places.begin(), places.end()};
}

/// Each coordinate within the places that there are.
inline void clamp_to(const ConfigurationTable& table, Point& point) {
  for (std::size_t i = 0; i < point.size(); ++i) {
    point[i] = std::clamp(point[i], 0.0, static_cast<double>(table.parameters()[i].values.size() - 1));
  }
}

/// The nearest legal configuration to the rounded point, which must be within.
inline Configuration configuration_at(const ConfigurationTable& table, const Point& point) {
  std::vector<ValueIndex> places;
  for (const double coordinate : point) places.push_back(static_cast<ValueIndex>(std::lround(coordinate)));
  return table.nearest(places);
}

}  // namespace stencil_tune
