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

/// Four configurations of a kernel of the user's own, whose definition's order of parameters is not the alphabet's.
inline std::vector<TrialRecord> sample_kernel_trials() {
  std::vector<TrialRecord> trials;
  for (const char* code : {"TILE_M=64,BLOCKS=1,PAD=-1", "TILE_M=64,BLOCKS=2,PAD=0", "TILE_M=128,BLOCKS=1,PAD=0",
                           "TILE_M=128,BLOCKS=2,PAD=1"}) {
    TrialRecord trial = a_trial("any", 10.0 + static_cast<double>(trials.size()));
    trial.problem = ProblemKey{};
    trial.problem.kind = SubjectKind::kernel;
    trial.problem.stencil_key = "fedcba9876543210fedcba9876543210";
    trial.problem.stencil_name = "product";
    trial.problem.extents = {1, {1, 1, 1}};
    trial.problem.pitch = 1;
    trial.problem.sizes = "m=64 n=32";
    trial.problem.unit = "GFLOP/s";
    trial.platform.template_signature = "";
    trial.code = code;
    trial.raced = false;
    trials.push_back(trial);
  }
  return trials;
}

inline void store_sample_trials(const std::filesystem::path& database) {
  Database opened = Database::open(database, {});
  for (const TrialRecord& trial : sample_trials()) TrialStore(opened).insert(trial);
}

}  // namespace stencil_tune
