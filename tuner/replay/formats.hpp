// Readers of recorded spaces whose formats are ours; those of other tuners: tuner/exchange/formats.hpp. All throw
// Error(invalid_argument) that begins with the space's name.
#pragma once

#include "tuner/replay/recorded_space.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace stencil_tune {

/// A header and lines of values: parameters, then time_ms (empty: the configuration failed), compile_ms, benchmark_ms.
RecordedSpace read_csv_space(const std::string& name, std::string_view text);

/// Measured trials of a database, a space for each problem on each GPU that has enough of them; parameters that a
/// family does not have stand at "-". What it cost to compile them is not kept: each costs its time on the device
/// alone.
std::vector<RecordedSpace> read_database_spaces(const std::string& path);

/// Recorded trials (recorded_trials.hpp), a space for each problem that has enough of them, with its stencil's
/// candidates. What is no candidate any more is left out. No failures are recorded, nor what it cost to compile.
std::vector<RecordedSpace> parse_trials_spaces(const std::string& path, const std::string& text);

/// Candidates of a problem: fewer are no search.
inline constexpr std::size_t kFewestOfAProblem = 20;
/// In ms, of any trial of which it is not known what it took to compile.
inline constexpr double kCostOfATrial = 1000;

}  // namespace stencil_tune
