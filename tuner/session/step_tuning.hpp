// Tunes whole steps of several stages: kernels that make all of them in one pass first, as they win nearly always and
// compile longest, then neighbours that share a pass, and each stage alone.
#pragma once

#include "generator/stencil/passes.hpp"
#include "tuner/session/assembly.hpp"
#include "tuner/session/final_table.hpp"
#include "tuner/session/zone_tuning.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace stencil_tune {

/// The winner of a pass that several stages share, but not all.
struct PassWinner {
  StageRange range;
  std::optional<TrialRecord> trial;
};

struct StepTuning {
  std::vector<ZonedSteps> zoned;  ///< a grid with layers has these; whole steps of the whole grid are not tuned then
  std::vector<TuningOutcome> stages;   ///< one a stage, in order; fewer where an interruption came in between
  std::vector<PassWinner> passes;      ///< winners of the passes that stages may share
  std::optional<TuningOutcome> fused;  ///< nothing where there are no candidates
  std::string no_fused;                ///< then: why
  std::string no_stages;               ///< why neither stages nor passes were tuned; empty where they were
};

/// What a step is made of in the end, for the report.
struct StepWinners {
  std::vector<ZonedSteps> zoned;                   ///< in the zones of a grid with layers
  std::vector<std::optional<TrialRecord>> stages;  ///< the winner of each stage
  std::vector<PassWinner> passes;                  ///< winners of the passes that stages may share
  std::optional<TrialRecord> fused;                ///< winner of the kernels that make the whole step
  std::string no_fused;                            ///< where there is none: why
  std::string no_stages{};                         ///< why neither stages nor passes were tuned; empty where they were
};

StepWinners winners_of(const StepTuning& tuning);

/// Why there are no kernels that make the whole step, or several, in one pass; nothing where there are.
std::optional<std::string> obstacle_to_whole_steps(const Problem& step, const Target& target);

/// Single steps of each stage.
std::vector<Problem> single_stages(const Problem& step);

/// The rate of a step in several passes, stages or shared `passes`, that all move their least bytes at the copy's rate.
double rate_of_copies_in_passes(const Problem& step, std::span<const StageRange> passes, double ceiling_gbs);

/// Tunes a problem of kWholeStep. A quarter of the budget goes to the stages; nothing where a kernel that makes whole
/// steps beats what they could reach, unless every_stage is set.
StepTuning tune_step(const Problem& step, const Target& target, const TuningSettings& settings, Database& database,
                     SessionObserver& observer);

/// The step in several passes, as they take least time: of one stage each, or shared by some. Nothing where a stage
/// that shares none has no winner.
std::optional<TrialRecord> in_several_passes(const Problem& step, const StepWinners& winners);

/// Rows: the winner, stage by stage, in passes or fused, whichever is faster; each of these; the winner of each stage
/// and of each pass.
std::vector<ReportRow> step_rows(const Problem& step, const StepWinners& winners);

}  // namespace stencil_tune
