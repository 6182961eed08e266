// Writes files of recorded trials (tuner/replay/recorded_trials.hpp).
#pragma once

#include "db/records.hpp"
#include "tuner/replay/recorded_trials.hpp"

#include <span>
#include <string>

namespace stencil_tune {

/// A database's measured ok trials, each code once a problem. Leaves out problems that their names do not lead back
/// to. Throws Error(invalid_argument) where trials are of several GPUs.
RecordedTrials recorded_in(std::span<const TrialRecord> trials);

/// Throws Error(file_io) where the file cannot be written.
void write_recorded_trials(const std::string& path, const RecordedTrials& recorded);

}  // namespace stencil_tune
