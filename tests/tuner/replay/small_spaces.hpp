// Recorded spaces small enough to see through.
#pragma once

#include "tuner/replay/recorded_space.hpp"

#include <cmath>
#include <string>
#include <vector>

namespace stencil_tune {

/// One parameter; each configuration costs 100 ms.
inline RecordedSpace line_of(const std::vector<double>& times) {
  SpaceBuilder builder("line");
  for (std::size_t i = 0; i < times.size(); ++i) builder.add({{"x", std::to_string(i)}}, {times[i], 100});
  return builder.build();
}

/// Three parameters, x * y at most 24, whose best is far from the middle; some configurations fail. What takes long to
/// run costs more.
inline RecordedSpace bowl(int best_x = 7, int best_y = 2) {
  SpaceBuilder builder("bowl");
  for (int x = 1; x <= 10; ++x) {
    for (int y = 1; y <= 10; ++y) {
      for (const char* path : {"copy", "direct", "staged"}) {
        if (x * y > 24) continue;
        const double slower = path[0] == 's' ? 0 : path[0] == 'c' ? 1 : 2;
        const double time = 1 + 0.3 * std::pow(x - best_x, 2) + 0.5 * std::pow(y - best_y, 2) + slower +
                            0.1 * static_cast<double>((x * 7 + y * 3) % 5);
        const ConfigurationRecord works{time, 100 + 10 * time};
        builder.add({{"x", std::to_string(x)}, {"y", std::to_string(y)}, {"path", path}},
                    x == 3 && y == 3 ? ConfigurationRecord{.cost_ms = 50} : works);
      }
    }
  }
  return builder.build();
}

/// Two parameters that must fit each other, along a ridge with many local optima; a third that matters little.
inline RecordedSpace ridge() {
  SpaceBuilder builder("ridge");
  for (int x = 0; x < 24; ++x) {
    for (int y = 0; y < 24; ++y) {
      for (int z = 0; z < 2; ++z) {
        const double time =
            2 + 0.4 * std::abs(x - y) + 0.05 * std::abs(x - 17) + 0.6 * std::sin(1.7 * x) * std::sin(2.3 * y) + 0.1 * z;
        builder.add({{"x", std::to_string(x)}, {"y", std::to_string(y)}, {"z", std::to_string(z)}},
                    {time, 200 + 20 * time});
      }
    }
  }
  return builder.build();
}

}  // namespace stencil_tune
