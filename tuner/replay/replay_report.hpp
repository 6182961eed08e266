// What `stencil-tune replay` prints.
#pragma once

#include "tuner/replay/score.hpp"
#include "tuner/terminal/terminal.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace stencil_tune {

/// One space, and the score of each strategy there.
struct ReplayedSpace {
  std::string name;
  std::size_t configurations = 0;
  std::size_t evaluations = 0;  ///< those that random search is expected to need for all of the score's times
  double seconds = 0;           ///< the last of these times: seconds of compiling and running
  std::vector<Score> scores{};
  std::vector<std::vector<Nearness>> nearness{};  ///< for each strategy, after the numbers of evaluations asked for
};

struct Replayed {
  std::vector<std::string> strategies;
  std::vector<ReplayedSpace> spaces;
  int repeats = 0;
};

/// A line a space, with the score of each strategy and its deviation from run to run; the last line has the means, and
/// how they deviate. Where nearness was asked for, a second table has it.
std::string replay_text(const Replayed& replayed, const Terminal& terminal);

/// The same, with curves.
nlohmann::ordered_json replay_json(const Replayed& replayed);

}  // namespace stencil_tune
