// The final table: the winner beside what a person would have written by hand.
#pragma once

#include "generator/stencil/problem.hpp"
#include "tuner/session/session.hpp"
#include "tuner/terminal/terminal.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stencil_tune {

struct ReportRow {
  std::string name;  ///< "winner", "naive", "pmpp-tiled" ...
  std::optional<TrialRecord> trial;
  std::string reason;  ///< why there is no trial
};

struct Report {
  const Problem* problem = nullptr;
  DeviceSession device;
  PlatformKey platform;
  bool predicted = false;
  std::vector<ReportRow> rows;     ///< the winner first, when there is one
  std::vector<std::string> notes;  ///< a line each, below the table
  bool winner_known = false;       ///< from an earlier run: nothing was tuned for this one
  /// Measured for the same problem and GPU model before: of a prediction the winner, else the one that ships.
  std::optional<WinnerRecord> known{};
  bool found = true;  ///< some candidate succeeded, whether it has raced or not
};

inline constexpr const char* kWinnerRow = "winner";
inline constexpr const char* kBestPredictedRow = "best predicted";

/// The row that the others are compared with: "winner", or "best predicted" where the winner is known and measured.
const ReportRow* leading_row(const Report& report);

/// The rows as a table, rates in the unit. Predicted figures carry a "~".
std::string rows_table(std::span<const ReportRow> rows, std::string_view unit, bool predicted,
                       const Terminal& terminal);

/// Winner and baselines of a session.
Report make_report(const Problem& problem, const PlatformKey& platform, const SessionResult& result, bool predicted,
                   std::optional<WinnerRecord> known = {});

/// Several printable lines ending in a newline, as wide as the terminal is. Predicted figures carry a "~".
std::string format_report(const Report& report, const Terminal& terminal = {});

/// JSON for standard output: plain ASCII, so that nothing in it speaks to a terminal, ending in a newline.
std::string json_text(const nlohmann::ordered_json& json);

nlohmann::ordered_json report_json(const Report& report);
nlohmann::ordered_json trial_json(const TrialRecord& trial);

/// "star3d1r: 7 points, order 1, f32, 512x512x512, boundary hold"
std::string describe(const Problem& problem);

/// Energy of an update, three digits.
std::string nanojoules_text(double nanojoules);

/// "1985.0 GStencil/s in a burst, 1731.2 sustained"; of one sweep the rate alone, which is a burst's.
std::string rates_text(const TrialRecord& trial);

/// "1731.2 GStencil/s under continuous load, 689 W, 0.398 nJ an update"; empty where it did not race so.
std::string load_text(const TrialRecord& trial);

/// Effective bandwidth in GB/s: minimal_traffic_bytes() of every step that was made, over the time. Fused steps move
/// less and reach more than memory does.
double effective_gbs(const TrialRecord& trial);

/// Copy ceiling in GStencil/s: the rate of a kernel that moves the problem's minimal traffic at that speed.
double ceiling_gstencils(const Problem& problem, double ceiling_gbs);

/// "1.2 MB" in powers of 1000.
std::string bytes_text(double bytes);

}  // namespace stencil_tune
