// `tune --dry-run`: what a session would try, without compiling, timing or storing anything.
#pragma once

#include "tuner/session/assembly.hpp"
#include "tuner/terminal/terminal.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace stencil_tune {

struct DryRun {
  struct First {
    std::string code;
    std::string why;       ///< "won for a problem like this", "naive", "the search"
    double gstencils = 0;  ///< as the model predicts
  };

  double legal = 0;  ///< candidates: counted in a small space, else estimated from a random part of it
  bool estimated = false;
  int known = 0;             ///< trials of earlier sessions, which would not be repeated
  std::vector<First> first;  ///< in their order
};

/// database: null where there is none yet.
DryRun dry_run(const Problem& problem, const Target& target, const TuningSettings& settings, Database* database);

/// Lines for people, as wide as the terminal.
std::string dry_run_text(const DryRun& run, const Problem& problem, const Target& target,
                         const TuningSettings& settings, const Terminal& terminal);

nlohmann::ordered_json dry_run_json(const DryRun& run, const Problem& problem, const Target& target,
                                    const TuningSettings& settings);

}  // namespace stencil_tune
