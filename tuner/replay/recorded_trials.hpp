// Files of recorded trials: what searches are replayed on, what the performance model is fitted to, and what its tests
// rank.
//
// A file is text, compressed by gzip. Lines that begin with # come first: the GPU, where the trials are from, what the
// columns are. Then each line is a candidate of a problem, with the best rate that a trial or a race of it had:
//
//   # GPU: NVIDIA H200
//   # Driver 580.159.04, CUDA 13.0. 2026-11-22: tunes at commit d4104ad
//   # stencil type dims pitch boundary steps GStencil/s registers spilled-bytes code
//   star3d1r f32 512x512x512 512 hold 1 475.2 40 0 streaming.bx32.by4.rx4.v4.cz4.regs
//
// A stencil is a built-in one or one of the corpus, by name; NAME:1 is its second stage. bench/fit writes these files.
#pragma once

#include "generator/candidates/tuning.hpp"
#include "generator/stencil/problem.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace stencil_tune {

/// What the first line of such a file begins with; the GPU's model name follows.
inline constexpr std::string_view kRecordedGpu = "# GPU: ";
inline constexpr std::string_view kRecordedColumns =
    "# stencil type dims pitch boundary steps GStencil/s registers spilled-bytes code";

/// A line. The code stays text, since later programs may not know all of its values.
struct RecordedTrial {
  std::string code;
  double gstencils = 0;
  int registers = 0;
  int spill_bytes = 0;
};

struct RecordedProblem {
  std::string name;  ///< its columns: "star3d1r f32 512x512x512 512 hold 1"
  std::vector<RecordedTrial> trials;
};

struct RecordedTrials {
  std::string gpu;
  std::string origin;  ///< driver, date, commits
  std::vector<RecordedProblem> problems;
};

/// Throws Error(file_io) for what is no such file, with the line.
RecordedTrials read_recorded_trials(const std::string& path);
/// The same of a file's text, which messages call `name`.
RecordedTrials parse_recorded_trials(const std::string& name, const std::string& text);

struct MeasuredCandidate {
  Tuning tuning;
  double gstencils = 0;
  int registers = 0;
  int spill_bytes = 0;
};

/// A recorded problem as this program knows it.
struct MeasuredProblem {
  Problem problem;
  std::vector<MeasuredCandidate> candidates;
  std::size_t passed_over = 0;  ///< trials of codes that do not parse any more
};

/// The problem whose columns these are. Throws Error where stencil or grid are not known.
Problem parse_recorded_problem(const std::string& name);

/// Throws Error as parse_recorded_problem does.
MeasuredProblem parse_recorded(const RecordedProblem& recorded);
/// All problems that have a candidate left.
std::vector<MeasuredProblem> parse_recorded(const RecordedTrials& recorded);

}  // namespace stencil_tune
