// The trials of one kernel on one GPU and problem size, as other tuners' files hold them: a row a configuration.
#pragma once

#include "db/records.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stencil_tune {

/// A parameter's value in configurations that do not have the parameter; it stands before all others.
inline constexpr std::string_view kNoValue = "-";

struct TableTrial {
  std::vector<std::string> values{};  ///< one a parameter, as text: "16", "true", "float4"
  Outcome outcome = Outcome::ok;
  Timing timing{};          ///< where the trial is ok. Where the file has a mean alone, median and interval are that
  double compile_ms = 0;    ///< 0: not known
  double benchmark_ms = 0;  ///< all launches together; 0: not known
  double rate = 0;          ///< in its unit: GStencil/s, or what a kernel counts; 0: not known
  std::string when{};       ///< ISO 8601; may be empty
};

struct TrialTable {
  std::string kernel{};
  std::string gpu{};                 ///< model name; empty: the file does not say
  std::string architecture{};        ///< "sm_90"; empty: the file does not say
  std::vector<std::int64_t> size{};  ///< extents, x first; empty: the file does not say
  std::vector<std::string> parameters{};
  std::string rate{};  ///< "GFLOP/s": the file has rates alone, and timings are what a GFLOP takes. Empty: it has times
  std::vector<TableTrial> trials{};
  nlohmann::json origin{};  ///< what stencil-tune takes its own trials back by; null in files of other tuners
};

}  // namespace stencil_tune
