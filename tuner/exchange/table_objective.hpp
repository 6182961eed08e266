// The objective of the tuner that wrote a file: a time or a rate.
#pragma once

#include "tuner/exchange/trial_table.hpp"

#include <optional>
#include <string>

namespace stencil_tune {

/// A time, of which less is better, or a rate, of which more is.
struct TableObjective {
  std::string name = "time";
  double unit_ms = 1;  ///< one unit of a time; 0: it is a rate
  std::string rate{};  ///< a rate's unit, "GFLOP/s"

  /// What the value stands for: a time in ms, or that which a rate leaves to one of what it counts.
  Timing timing(double value, int samples) const {
    const double ms = rate.empty() ? value * unit_ms : 1000 / value;
    return {ms, ms, ms, samples};
  }
};

/// `unit`: empty where the file does not say it. `higher_is_better`: where the file says it. Throws
/// Error(invalid_argument) that begins with the file's name and names what is neither a time nor a rate.
TableObjective table_objective(const std::string& file, const std::string& name, const std::string& unit,
                               std::optional<bool> higher_is_better);

/// The objective in a file's JSON, by Kernel Tuner's name.
std::optional<bool> higher_is_better(const nlohmann::json& file);

/// The name that stands at `key`: of several objectives the first, "time" where there is none.
std::string objective_name(const nlohmann::json& object, const char* key);

}  // namespace stencil_tune
