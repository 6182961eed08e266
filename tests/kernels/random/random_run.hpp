// What a run of random cases was asked for.
#pragma once

#include <cstdint>

namespace stencil_tune {

struct RandomRun {
  std::uint64_t seed = 0;  ///< seed of the first case; that of case i is seed + i
  std::uint64_t cases = 0;
};

/// PROGRAM [SEED [CASES]], else from STENCIL_TUNE_SEED and STENCIL_TUNE_CASES, else any seed and `usual_cases`; prints
/// them, so that the run can be repeated. Throws Error(invalid_argument) for what is no number.
RandomRun random_run(int count, char** words, std::uint64_t usual_cases);

}  // namespace stencil_tune
