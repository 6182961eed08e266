// How fast what the library gives is, beside what tuning would have found.
#pragma once

#include "stencil_tune/stencil_tune.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace bench {

/// A grid that was never tuned: the kernel that lookup gives for it, beside the one that tuning it gives.
struct Transfer {
  std::string problem;
  std::string match;
  std::string looked_up_code;
  std::string tuned_code;
  double looked_up = 0;  ///< GStencil/s, both timed in turn
  double tuned = 0;

  double share() const { return looked_up / tuned; }
};

/// Twelve grids, half of them odd. Looks up in `database` and in what ships with the library; tunes by the installed
/// `stencil-tune` for `seconds` each into a database of its own.
std::vector<Transfer> transfers(const std::filesystem::path& database, double seconds);

}  // namespace bench
