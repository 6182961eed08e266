// What a report says, collected from the database: plain values.
#pragma once

#include "db/records.hpp"
#include "generator/stencil/problem.hpp"
#include "generator/user_kernel/user_kernel.hpp"

#include <span>
#include <string>
#include <vector>

namespace stencil_tune {

/// A trial that was right and timed.
struct ReportedRate {
  int number = 0;  ///< number of the trial, from 1 in the order of storage
  std::string code;
  double rate = 0;
  int steps = 1;       ///< steps of a launch
  double seconds = 0;  ///< time of the search until it was stored, without what lies between sessions
};

/// What one value of a parameter reached at best.
struct ReportedValue {
  std::string value;
  double rate = 0;
  int trials = 0;
};

struct ReportedParameter {
  std::string name;
  std::string meaning;
  std::string winners;  ///< the winner's value
  std::vector<ReportedValue> values;
};

struct ReportedFailure {
  std::string reason;
  int trials = 0;
};

struct ReportedBaseline {
  std::string name;
  std::string code;
  double rate = 0;
};

struct ReportData {
  WinnerRecord winner;
  int trials = 0;
  std::vector<ReportedRate> rates;
  std::vector<ReportedParameter> parameters;  ///< parameters of the winner's family of which several values were tried
  std::vector<ReportedFailure> failures;      ///< most frequent first
  std::vector<ReportedBaseline> baselines;    ///< those of the textbook's kernels that were tried
  double operations = 0;                      ///< operations for an update
  double bytes = 0;                           ///< bytes for an update: each input read once, each output written once
  double l2_gbs = 0;                          ///< the GPU's, by its data sheet or measured; 0: the model is not known
  double compute_gflops = 0;                  ///< in the type of the arithmetic; 0: not known
  std::string kernel;                         ///< its exported source; empty where it cannot run any more
  std::string commands;                       ///< commands that repeat it, a line each
};

/// trials: those of the winner's problem and GPU, in the order of storage. definition: the option that names the
/// stencil, as a shell takes it; empty where it is known by its name.
ReportData collect_report(const Problem& problem, const WinnerRecord& winner, std::span<const TrialRecord> trials,
                          const std::string& definition = "");

/// The same of a kernel of the user's own, whose definition stands in `file`.
ReportData collect_report(const UserKernel& kernel, const WinnerRecord& winner, std::span<const TrialRecord> trials,
                          const std::string& file);

}  // namespace stencil_tune
