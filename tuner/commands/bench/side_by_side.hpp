// Copy ceiling, naive, textbook kernels and the winner of one problem, timed in one run.
#pragma once

#include "tuner/commands/options/target.hpp"
#include "tuner/session/assembly.hpp"
#include "tuner/session/final_table.hpp"

namespace stencil_tune {

/// Tunes first where the database has no winner made with today's templates. "naive" is the best of all block shapes; a
/// run of several steps also has "one sweep", the best kernel known for single steps.
/// Whole steps of several stages have rows of their own: the winner, fused, stage by stage, and each stage.
/// All kernels are then verified and timed in turn, round robin, by one device worker.
/// Throws what tune_stencil throws, and Error(compile_failed) when nothing compiles.
Report run_side_by_side(const Problem& problem, const Target& target, const TuningSettings& settings,
                        Database& database, SessionObserver& observer);

}  // namespace stencil_tune
