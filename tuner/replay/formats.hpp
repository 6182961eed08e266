// One reader for each format of recorded spaces. All throw Error(invalid_argument) that begins with the space's name.
#pragma once

#include "tuner/replay/recorded_space.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace stencil_tune {

/// A header and lines of values: parameters, then time_ms (empty: the configuration failed), compile_ms, benchmark_ms.
RecordedSpace read_csv_space(const std::string& name, std::string_view text);

/// Kernel Tuner's cache file: "tune_params_keys" and "cache", an object of configurations. A session that was cut off
/// leaves the last braces out; as it does itself, they are supplied.
RecordedSpace read_kernel_tuner_cache(const std::string& name, const nlohmann::json& cache);

/// The text with the end that Kernel Tuner leaves out of a cache while it is written to.
std::string with_end_of_cache(std::string text);

/// T4 results of the FAIR autotuning hub: "results", an array of configurations with "measurements" and "times".
RecordedSpace read_t4_results(const std::string& name, const nlohmann::json& results);

/// Measured trials of a database, a space for each problem on each GPU that has enough of them; parameters that a
/// family does not have stand at "-". What it cost to compile them is not kept: each costs its time on the device
/// alone.
std::vector<RecordedSpace> read_database_spaces(const std::string& path);

}  // namespace stencil_tune
