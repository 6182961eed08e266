// A search space that was measured once, as a table from configurations to what they took.
#pragma once

#include "generator/candidates/tuning.hpp"
#include "generator/stencil/problem.hpp"
#include "tuner/exchange/trial_table.hpp"
#include "tuner/search/strategies/configuration_table.hpp"

#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stencil_tune {

struct ConfigurationRecord {
  double time_ms = std::numeric_limits<double>::infinity();  ///< time of the kernel; infinite: it failed
  double cost_ms = 0;                                        ///< what it took to know: compiling and running

  bool failed() const { return time_ms == std::numeric_limits<double>::infinity(); }
};

/// What the search for stencils takes in place of the table, where the space is one of a stencil's candidates.
struct StencilCandidates {
  Problem problem;
  std::string gpu;              ///< model name
  std::vector<Tuning> tunings;  ///< one a configuration; parameters that are not used have their defaults
};

struct RecordedSpace {
  std::string name;
  ConfigurationTable table;
  std::vector<ConfigurationRecord> evaluations;        ///< one a configuration
  std::shared_ptr<const StencilCandidates> stencil{};  ///< null where no model knows the space
};

/// Collects rows in any order of their parameters. What readers of all formats end in.
class SpaceBuilder {
 public:
  explicit SpaceBuilder(std::string name) : name_(std::move(name)) {}

  /// A configuration's values by their parameters' names. Throws Error(invalid_argument) for other parameters than the
  /// first row's.
  void add(const std::map<std::string, std::string>& values, ConfigurationRecord evaluation);

  /// Parameters of one value are left out. Throws Error(invalid_argument) naming the space where nothing is left to
  /// search, where fewer than two configurations work, and where no work cost anything.
  RecordedSpace build() const;

 private:
  std::string name_;
  std::vector<std::map<std::string, std::string>> rows_;
  std::vector<ConfigurationRecord> evaluations_;
};

/// What one file holds: one space, or those of a database or of recorded trials. CSV of this project's shared spaces,
/// Kernel Tuner's cache, T4 results, recorded trials (all also compressed by gzip), or a database of stencil-tune; the
/// content says which. Throws Error(file_io) for what cannot be read, and Error(invalid_argument) for what is no
/// recorded space, saying where.
std::vector<RecordedSpace> read_spaces(const std::string& path);

}  // namespace stencil_tune
