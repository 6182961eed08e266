// Formats in which tuners exchange trials: a reader and a writer for each.
//
// Readers take what is parsed already, call it `name` in messages, and throw Error(invalid_argument) that begins with
// it. What a tool calls a failure becomes the nearest outcome, and the other way round.
#pragma once

#include "tuner/exchange/trial_table.hpp"

#include <nlohmann/json.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stencil_tune {

/// Kernel Tuner's cache file: "tune_params_keys" and "cache", an object of configurations.
TrialTable read_kernel_tuner_cache(const std::string& name, const nlohmann::json& cache);
std::string kernel_tuner_cache(const TrialTable& table);

/// T4 results of the FAIR autotuning hub: "results", an array of configurations with "measurements" and "times".
TrialTable read_t4_results(const std::string& name, const nlohmann::json& results);
std::string t4_results(const TrialTable& table);

/// Kernel Launcher's wisdom: a line of JSON that names parameters, then a line for each configuration. A table for each
/// problem size on each GPU.
std::vector<TrialTable> read_wisdom(const std::string& name, std::string_view text);
/// The five fastest configurations of each table, as its own tuner keeps them; failures are left out. Throws
/// Error(invalid_argument) where tables have different kernels or parameters.
std::string wisdom(std::span<const TrialTable> tables);

/// A file's text, inflated where it is compressed by gzip. Throws Error(file_io).
std::string read_text(const std::string& path);

/// "convolution-A100" of ".../convolution-A100.csv.gz": what a file's tables are called.
std::string table_name(const std::string& path);

/// A format by the name that the command line has for it.
struct ExchangeFormat {
  std::string_view name;
  std::string_view meaning;
  bool several_tables;  ///< one file holds several problem sizes and GPUs
  std::string (*write)(std::span<const TrialTable> tables);
};

std::span<const ExchangeFormat> exchange_formats();

/// Throws Error(unknown_name) with a suggestion.
const ExchangeFormat& exchange_format(std::string_view name);

struct TablesOfText {
  const ExchangeFormat* format = nullptr;  ///< null: the text begins like none of them
  std::vector<TrialTable> tables{};
};

/// The content says which format it is. Throws Error(invalid_argument) as readers do.
TablesOfText read_tables(const std::string& name, const std::string& text);

}  // namespace stencil_tune
