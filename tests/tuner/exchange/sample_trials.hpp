// Trials of a small space, as a session on a GPU would have stored them.
#pragma once

#include "db/trial_store.hpp"
#include "tests/db/testing.hpp"

#include <filesystem>
#include <vector>

namespace stencil_tune {

/// Twelve candidates of two parameters, the third of which failed; one more of another family. The fastest is raced.
inline std::vector<TrialRecord> sample_trials() {
  std::vector<TrialRecord> trials;
  for (int i = 0; i < 12; ++i) {
    const std::string code = "direct.bx" + std::to_string(32 << i % 3) + ".by" + std::to_string(1 << i / 3);
    trials.push_back(i == 2 ? a_failure(code, Outcome::timeout) : a_trial(code, 100.0 + i));
    trials.back().raced = i == 11;
  }
  trials.push_back(a_trial("streaming.bx32.by4.cz8.regs", 90));
  trials.back().raced = false;
  return trials;
}

inline void store_sample_trials(const std::filesystem::path& database) {
  Database opened = Database::open(database, {});
  for (const TrialRecord& trial : sample_trials()) TrialStore(opened).insert(trial);
}

}  // namespace stencil_tune
