#include "runtime/library/lookup/lookup.hpp"

#include "generator/kernel_source/signature.hpp"
#include "runtime/library/lookup/pretuned.hpp"
#include "runtime/model/model.hpp"
#include "stencil_tune/definition.hpp"
#include "tests/kernels/random/random_stencils.hpp"
#include "tests/runtime/expect_error.hpp"

#include <algorithm>

namespace stencil_tune {
namespace {

constexpr const char* kWide = "direct.bx32.by8.bz1.rx4.ry1.rz1.v4";
constexpr const char* kScalar = "direct.bx64.by4.bz1.rx1.ry1.rz1.v1";

Problem cube(std::int64_t n, std::int64_t pitch = 0, ElementType type = ElementType::f32) {
  return make_problem(make_builtin(Shape::star, 3, 1), type, {}, {.rank = 3, .n = {n, n, n}}, pitch);
}

LookupTarget here() { return {.gpu = "H200", .architecture = "sm_90", .driver = "13.0", .limits = {}}; }

/// Today's; none for a code that does not parse.
std::string signature_of(const char* candidate) try {
  return template_signature(parse_code(candidate));
} catch (const Error&) {
  return {};
}

/// A winner of the same problem on a cube of n, not stale.
WinnerRecord winner(std::int64_t n, const char* candidate, double rate = 100) {
  static std::int64_t next_id = 1;
  WinnerRecord record;
  record.trial.id = next_id++;
  record.trial.problem.stencil_key = stencil_key(make_builtin(Shape::star, 3, 1));
  record.trial.problem.extents = {.rank = 3, .n = {n, n, n}};
  record.trial.problem.pitch = n;
  record.trial.platform = {.gpu = "H200",
                           .architecture = "sm_90",
                           .driver = "13.0",
                           .nvrtc = "13.0",
                           .template_signature = signature_of(candidate)};
  record.trial.code = candidate;
  record.trial.rate = rate;
  record.trial.share = 0.9;
  return record;
}

std::string notes_of(const Choice& choice) {
  std::string all;
  for (const std::string& note : choice.evidence.notes) all += note + "\n";
  return all;
}

TEST(Lookup, TheWinnerOfTheSameGridOnThisGpuIsExact) {
  const std::vector winners{winner(256, kScalar, 900), winner(512, kWide)};
  const Choice choice = choose(cube(512), here(), winners);
  EXPECT_EQ(choice.evidence.match, Match::exact);
  EXPECT_EQ(choice.tuning, parse_code(kWide));
  EXPECT_EQ(choice.evidence.gstencils, 100);
  EXPECT_TRUE(choice.evidence.notes.empty()) << notes_of(choice);
}

TEST(Lookup, NearestSizeIsByLogarithmOfTheExtentsWhereTheModelSeesNoDifference) {
  const std::vector winners{winner(128, kWide), winner(512, kWide)};
  EXPECT_EQ(choose(cube(240), here(), winners).evidence.tuned_extents.n[0], 128) << "below the geometric mean, 256";
  EXPECT_EQ(choose(cube(272), here(), winners).evidence.tuned_extents.n[0], 512) << "above it";
  EXPECT_EQ(choose(cube(272), here(), winners).evidence.match, Match::nearest_size);
}

TEST(Lookup, DistanceIsSymmetricAndCountsEveryAxis) {
  const Extents a{.rank = 3, .n = {100, 100, 100}};
  const Extents x{.rank = 3, .n = {200, 100, 100}};
  const Extents half{.rank = 3, .n = {100, 50, 100}};
  EXPECT_DOUBLE_EQ(log_distance(a, x), log_distance(x, a));
  EXPECT_DOUBLE_EQ(log_distance(a, x), log_distance(a, half));
  EXPECT_EQ(log_distance(a, a), 0);
}

TEST(Lookup, ThisGpuComesBeforeItsArchitectureAndMeasuredBeforePredicted) {
  WinnerRecord other = winner(512, kScalar, 999);
  other.trial.platform.gpu = "H100";
  WinnerRecord prediction = winner(512, kScalar, 999);
  prediction.trial.predicted = true;
  std::vector winners{prediction, other, winner(64, kWide)};
  EXPECT_EQ(choose(cube(512), here(), winners).evidence.match, Match::nearest_size);
  winners.pop_back();
  EXPECT_EQ(choose(cube(512), here(), winners).evidence.match, Match::same_architecture);
  winners.pop_back();
  EXPECT_EQ(choose(cube(512), here(), winners).evidence.match, Match::predicted);
}

TEST(Lookup, OfOneProblemTheWinnerByTheObjectiveThatIsAskedForServes) {
  std::vector winners{winner(512, kScalar, 900), winner(512, kWide, 800)};
  winners[1].trial.objective = Objective::energy;
  LookupTarget asks_for_energy = here();
  asks_for_energy.objective = Objective::energy;
  EXPECT_EQ(choose(cube(512), here(), winners).tuning, parse_code(kScalar));
  EXPECT_EQ(choose(cube(512), asks_for_energy, winners).tuning, parse_code(kWide));
  winners.pop_back();
  const Choice choice = choose(cube(512), asks_for_energy, winners);
  EXPECT_EQ(choice.tuning, parse_code(kScalar));
  EXPECT_EQ(choice.evidence.match, Match::exact);
  EXPECT_NE(notes_of(choice).find("it won by burst: no winner by energy is as near"), std::string::npos);
}

TEST(Lookup, NothingTransfersFromAnotherArchitectureTypeBoundaryOrStencil) {
  std::vector winners(5, winner(512, kWide));
  winners[0].trial.platform.architecture = "sm_80";
  winners[1].trial.problem.type = ElementType::f64;
  winners[2].trial.problem.boundaries[1] = Boundary::periodic;
  winners[3].trial.problem.stencil_key = "another";
  winners[4].trial.problem.stage = 1;
  const Choice choice = choose(cube(512), here(), winners);
  EXPECT_EQ(choice.evidence.match, Match::default_candidate);
  EXPECT_TRUE(choice.evidence.tuned_code.empty());
  EXPECT_FALSE(first_violation({cube(512), choice.tuning}, here().limits));
}

TEST(Lookup, VectorsTooWideForOddRowsAreNarrowedAndSaid) {
  const std::vector winners{winner(512, kWide)};
  const Choice choice = choose(cube(509), here(), winners);
  EXPECT_EQ(choice.tuning.vector, 1);
  EXPECT_EQ(choice.evidence.match, Match::nearest_size);
  EXPECT_EQ(choice.evidence.tuned_code, kWide);
  EXPECT_NE(notes_of(choice).find("narrowed"), std::string::npos);
  EXPECT_EQ(choose(cube(509, 512), here(), winners).tuning.vector, 4) << "padded rows carry the vectors";
}

TEST(Lookup, OfEqualKernelsTheWinnerThatFitsAsItIsComesBeforeOneThatMustBeNarrowedNearby) {
  constexpr const char* kNarrow = "direct.bx32.by8.bz1.rx4.ry1.rz1.v1";
  const std::vector winners{winner(512, kWide), winner(480, kNarrow)};
  EXPECT_EQ(choose(cube(509), here(), winners).evidence.tuned_code, kNarrow);
  const std::vector far{winner(512, kWide), winner(64, kNarrow)};
  EXPECT_EQ(choose(cube(509), here(), far).evidence.tuned_code, kWide) << "but not to one far away";
}

TEST(Lookup, OfOtherGridsWhatTheModelExpectsToBeFastestIsFittedAndSaid) {
  const std::vector winners{winner(256, kScalar), winner(64, kWide)};
  const Choice choice = choose(cube(512), here(), winners);
  EXPECT_EQ(choice.evidence.match, Match::nearest_size);
  EXPECT_EQ(choice.evidence.tuned_code, kWide);
  EXPECT_NE(choice.evidence.code, choice.evidence.tuned_code);
  EXPECT_NE(notes_of(choice).find("fitted"), std::string::npos) << notes_of(choice);
  EXPECT_EQ(choice.evidence.sentence().find(
                choice.evidence.code + " (match: nearest size): it was never timed on this "
                                       "grid for as many steps: `stencil-tune --stencil star3d1r --dims 512x512x512`"),
            0U)
      << choice.evidence.sentence();
}

TEST(Lookup, VectorsWiderThanThePromisedAlignmentAreNotLaunched) {
  LookupTarget target = here();
  target.alignment = 8;
  const std::vector winners{winner(512, kWide)};
  const Choice choice = choose(cube(512), target, winners);
  EXPECT_EQ(choice.tuning.vector, 2);
  EXPECT_LE(required_alignment({cube(512), choice.tuning}), 8U);
  EXPECT_EQ(choice.evidence.match, Match::nearest_size) << "what runs is not what was tuned";
}

TEST(Lookup, AWinnerBeyondTheDevicesLimitsIsPassedOverWithTheReason) {
  LookupTarget target = here();
  target.limits.max_threads_per_block = 128;
  const std::vector winners{winner(512, kWide), winner(400, "direct.bx32.by4.bz1.rx1.ry1.rz1.v1")};
  const Choice choice = choose(cube(512), target, winners);
  EXPECT_EQ(choice.evidence.tuned_extents.n[0], 400);
  EXPECT_NE(notes_of(choice).find("passed over"), std::string::npos) << notes_of(choice);
}

TEST(Lookup, AWinnerWhoseCodeCannotBeReadIsPassedOver) {
  const std::vector winners{winner(512, "spectral.bx32")};
  const Choice choice = choose(cube(512), here(), winners);
  EXPECT_EQ(choice.evidence.match, Match::default_candidate);
  EXPECT_NE(notes_of(choice).find("spectral"), std::string::npos) << notes_of(choice);
}

TEST(Lookup, AStaleWinnerOfTheSameGridIsAMatchOfItsOwn) {
  WinnerRecord stale = winner(512, kWide);
  stale.trial.platform.template_signature = "before";
  stale.trial.platform.driver = "12.8";
  const std::vector winners{stale};
  const Choice choice = choose(cube(512), here(), winners);
  EXPECT_EQ(choice.evidence.match, Match::stale);
  EXPECT_NE(choice.evidence.sentence().find("(match: stale): its template has changed"), std::string::npos)
      << choice.evidence.sentence();
  EXPECT_NE(notes_of(choice).find("12.8"), std::string::npos);
}

TEST(Lookup, AStaleWinnerThatCompilesToTheSameMachineCodeIsExact) {
  std::vector winners{winner(512, kWide, 100), winner(512, kScalar, 90), winner(256, kScalar, 80)};
  for (WinnerRecord& each : winners) each.trial.platform.template_signature = "before";
  LookupTarget target = here();
  std::vector<double> compiled;
  target.same_machine_code = [&](const TrialRecord& trial, const Problem& problem) {
    EXPECT_EQ(problem.extents, trial.problem.extents);
    compiled.push_back(trial.rate);
    return trial.rate == 90;
  };
  const Choice choice = choose(cube(512), target, winners);
  EXPECT_EQ(choice.evidence.match, Match::exact);
  EXPECT_EQ(choice.evidence.gstencils, 90);
  EXPECT_EQ(notes_of(choice), "");
  EXPECT_EQ(compiled, (std::vector<double>{100, 90})) << "the best first, and none that cannot win any more";
}

TEST(Lookup, StaleComesAfterExactAndBeforeNearestSize) {
  WinnerRecord stale = winner(512, kWide, 999);
  stale.trial.platform.template_signature = "before";
  const std::vector with_nearest{stale, winner(500, kScalar)};
  EXPECT_EQ(choose(cube(512), here(), with_nearest).evidence.match, Match::stale);
  const std::vector with_exact{stale, winner(512, kScalar)};
  const Choice exact = choose(cube(512), here(), with_exact);
  EXPECT_EQ(exact.evidence.match, Match::exact);
  EXPECT_EQ(exact.tuning, parse_code(kScalar));
}

TEST(Lookup, OfOtherGridsFreshWinnersComeBeforeStaleOnes) {
  WinnerRecord stale = winner(500, kWide);
  stale.trial.platform.template_signature = "before";
  const std::vector both{stale, winner(64, kScalar)};
  EXPECT_EQ(choose(cube(512), here(), both).evidence.tuned_extents.n[0], 64) << "although the model expects less of it";
  const std::vector alone{stale};
  EXPECT_EQ(choose(cube(512), here(), alone).evidence.match, Match::nearest_size) << "stale is of the same grid";
}

TEST(Lookup, AWinnerThatCannotRunLeavesTheNextOne) {
  const std::vector unreadable{winner(512, "direct.bx32.nonsense"), winner(256, kScalar)};
  const Choice first = choose(cube(512), here(), unreadable);
  EXPECT_EQ(first.evidence.match, Match::nearest_size);
  EXPECT_NE(notes_of(first).find("passed over direct.bx32.nonsense"), std::string::npos) << notes_of(first);
  const std::vector illegal{winner(512, "direct.bx32.by1024"), winner(256, kScalar)};
  const Choice second = choose(cube(512), here(), illegal);
  EXPECT_EQ(second.evidence.match, Match::nearest_size);
  EXPECT_NE(notes_of(second).find("passed over direct.bx32.by1024"), std::string::npos) << notes_of(second);
}

TEST(Lookup, TheSamePitchComesFirstAmongWinnersOfTheSameExtents) {
  WinnerRecord padded = winner(500, kScalar, 999);
  padded.trial.problem.pitch = 512;
  const std::vector winners{padded, winner(500, kWide)};
  EXPECT_EQ(choose(cube(500), here(), winners).evidence.match, Match::exact);
  EXPECT_EQ(choose(cube(500), here(), winners).tuning, parse_code(kWide));
  EXPECT_EQ(choose(cube(500, 512), here(), winners).tuning, parse_code(kScalar));
  const std::vector only_padded{padded};
  EXPECT_EQ(choose(cube(500), here(), only_padded).evidence.match, Match::nearest_size);
}

TEST(Lookup, DefaultsAreLegalForEveryTypeRankAndOddGrid) {
  for (const int rank : {1, 2, 3}) {
    for (const ElementType type : {ElementType::f64, ElementType::f32, ElementType::f16, ElementType::bf16}) {
      Extents extents{.rank = rank, .n = {1, 1, 1}};
      for (int axis = 0; axis < rank; ++axis) extents.n[static_cast<std::size_t>(axis)] = 13 + 4 * axis;
      LookupTarget target = here();
      target.alignment = size_of(type);
      const Problem problem = make_problem(make_builtin(Shape::box, rank, 1), type, {}, extents);
      const Choice choice = choose(problem, target, {});
      EXPECT_EQ(choice.evidence.match, Match::default_candidate);
      EXPECT_FALSE(first_violation({problem, choice.tuning}, target.limits)) << choice.evidence.code;
      EXPECT_LE(required_alignment({problem, choice.tuning}), target.alignment);
    }
  }
}

TEST(Lookup, EvidenceReadsAsASentence) {
  const std::vector winners{winner(512, kWide, 475.25)};
  const std::string sentence = choose(cube(512), here(), winners).evidence.sentence();
  EXPECT_NE(sentence.find("exact"), std::string::npos) << sentence;
  EXPECT_NE(sentence.find("475.2"), std::string::npos) << sentence;
  EXPECT_NE(sentence.find("90 %"), std::string::npos) << sentence;
  EXPECT_NE(choose(cube(512), here(), {}).evidence.sentence().find("default"), std::string::npos);
}

/// The same of another stencil, which has the form of the problem's.
WinnerRecord of_same_form(WinnerRecord record) {
  record.trial.problem.stencil_key = "another";
  record.trial.problem.stencil_name = "heat";
  record.trial.problem.form = stencil_form(make_builtin(Shape::star, 3, 1), 0);
  return record;
}

TEST(Choose, WinnersOfTheSameFormServeWhereTheStencilHasNone) {
  const Choice choice = choose(cube(512), here(), std::vector{of_same_form(winner(512, kWide))});
  EXPECT_EQ(choice.evidence.match, Match::same_form);
  EXPECT_EQ(choice.evidence.code, code(parse_code(kWide)));
  EXPECT_NE(notes_of(choice).find("tuned for heat, which has the same form"), std::string::npos);
  EXPECT_EQ(choose(cube(512), here(), std::vector{of_same_form(winner(256, kWide))}).evidence.match,
            Match::nearest_size);
}

TEST(Choose, TheStencilsOwnWinnerComesFirstAndAnotherFormServesNobody) {
  EXPECT_EQ(
      choose(cube(512), here(), std::vector{of_same_form(winner(512, kWide, 200)), winner(512, kScalar)}).evidence.code,
      code(parse_code(kScalar)));
  EXPECT_EQ(
      choose(cube(512), here(), std::vector{of_same_form(winner(512, kWide)), winner(256, kScalar)}).evidence.code,
      code(parse_code(kWide)))
      << "for this very grid";
  WinnerRecord other = of_same_form(winner(512, kWide));
  other.trial.problem.form = "another";
  EXPECT_EQ(choose(cube(512), here(), std::vector{other}).evidence.match, Match::default_candidate);
}

// ---- what no winner serves ------------------------------------------------------------------------------------------

/// Winners of other stencils, of types and boundaries of their own.
std::vector<WinnerRecord> of_others() {
  std::vector winners{winner(256, kScalar), winner(384, kWide), winner(512, "direct.bx32.nonsense")};
  for (WinnerRecord& each : winners) {
    each.trial.problem.stencil_key = "another";
    each.trial.problem.stencil_name = "waves";
    each.trial.problem.form = "another";
    each.trial.problem.boundaries[1] = Boundary::periodic;
    each.trial.platform.architecture = "sm_80";
  }
  return winners;
}

double expected_rate(const Problem& problem, const Tuning& tuning) {
  return PerformanceModel(problem, here().limits, model_of_architecture("sm_90")).predict(tuning).gstencils;
}

TEST(Predict, WhereNoWinnerServesTheModelGoesOnFromWhatWonForOthers) {
  const Choice choice = choose(cube(512), here(), {}, of_others());
  EXPECT_EQ(choice.evidence.match, Match::predicted);
  EXPECT_EQ(choice.evidence.tuned_extents, cube(512).extents);
  EXPECT_EQ(choice.evidence.gstencils, expected_rate(cube(512), choice.tuning));
  for (const char* start : {kScalar, kWide}) {
    EXPECT_GT(choice.evidence.gstencils, expected_rate(cube(512), parse_code(start))) << start;
  }
  EXPECT_NE(
      notes_of(choice).find("made of direct.bx32.by8.bz1.rx4.ry1.rz1.v4, which won for waves in f32 at 384x384x384"),
      std::string::npos)
      << notes_of(choice);
  EXPECT_NE(choice.evidence.sentence().find("(match: predicted): it was never timed"), std::string::npos)
      << choice.evidence.sentence();
}

TEST(Predict, WhatTheCompilerSaidOfACandidateDecidesAmongTheBest) {
  const Problem problem = cube(512);
  const Choice guessed = choose(problem, here(), {}, of_others());
  const auto choose_where = [&](auto compiled) {
    LookupTarget target = here();
    target.compiled = compiled;
    return choose(cube(512), target, {}, of_others());
  };
  const auto only_first = [&](const KernelResources& resources) {
    return [&guessed, resources](const Candidate& candidate) {
      return candidate.tuning() == guessed.tuning ? std::optional(resources) : std::nullopt;
    };
  };
  const Choice other = choose_where(only_first({.registers = 255, .spill_bytes = 4000}));
  EXPECT_NE(other.tuning, guessed.tuning);
  EXPECT_EQ(other.evidence.match, Match::predicted);
  EXPECT_EQ(other.evidence.gstencils, expected_rate(cube(512), other.tuning));
  EXPECT_NE(notes_of(other).find("passed over " + guessed.evidence.code + ": with the 255 registers"),
            std::string::npos)
      << notes_of(other);

  const PerformanceModel model(problem, here().limits, model_of_architecture("sm_90"));
  const Choice expected = choose_where(only_first({.registers = model.predict(guessed.tuning).registers}));
  EXPECT_EQ(expected.tuning, guessed.tuning) << "as the model expects it";
  EXPECT_EQ(notes_of(expected).find("passed over " + guessed.evidence.code), std::string::npos);

  const Choice all_spill = choose_where([](const Candidate& candidate) {
    const int bytes = candidate.tuning() == parse_code(kScalar) ? 400 : 40000;
    return std::optional(KernelResources{.registers = 255, .spill_bytes = bytes});
  });
  EXPECT_EQ(all_spill.tuning, parse_code(kScalar)) << "the best of them";
  EXPECT_EQ(notes_of(all_spill).find("passed over " + all_spill.evidence.code), std::string::npos);
}

TEST(Predict, AMeasuredWinnerComesBeforeWhatIsPredicted) {
  EXPECT_EQ(choose(cube(512), here(), std::vector{winner(64, kScalar)}, of_others()).evidence.match,
            Match::nearest_size);
}

TEST(Predict, PredictionsAndOtherRanksAreNoStart) {
  std::vector winners = of_others();
  winners[0].trial.problem.extents.rank = 2;
  winners[1].trial.predicted = true;
  EXPECT_FALSE(predict_choice(cube(512), here(), winners));
  winners[0] = of_others()[0];
  EXPECT_TRUE(predict_choice(cube(512), here(), winners));
}

TEST(Predict, StartsOfATypeAsWideComeBeforeAllOthers) {
  std::vector winners = of_others();
  winners[0].trial.problem.type = ElementType::f64;
  EXPECT_NE(notes_of(*predict_choice(cube(512, 0, ElementType::f64), here(), winners)).find("in f64"),
            std::string::npos);
  winners[0].trial.problem.type = ElementType::f16;
  EXPECT_NE(notes_of(*predict_choice(cube(512, 0, ElementType::bf16), here(), winners)).find("in f16"),
            std::string::npos);
  EXPECT_NE(notes_of(*predict_choice(cube(512, 0, ElementType::f64), here(), winners)).find("in f"), std::string::npos)
      << "any, where there are none";
}

TEST(Predict, FormsThatDifferInWhatDecidesTheRateShareNoWinner) {
  const std::vector winners{of_same_form(winner(512, kWide))};
  const auto match = [&](const Stencil& stencil, ElementType type = ElementType::f32, Boundaries boundaries = {}) {
    const Problem problem = make_problem(stencil, type, boundaries, {.rank = 3, .n = {512, 512, 512}});
    return choose(problem, here(), winners, winners).evidence.match;
  };
  EXPECT_EQ(match(parse_stencil("v_next = v + kappa*laplacian(v); kappa = 0.2")), Match::same_form);
  EXPECT_EQ(match(make_builtin(Shape::star, 3, 1)), Match::same_form);
  EXPECT_EQ(match(make_builtin(Shape::star, 3, 1), ElementType::f64), Match::predicted);
  EXPECT_EQ(match(make_builtin(Shape::star, 3, 1), ElementType::f32, {Boundary::periodic}), Match::predicted);
  EXPECT_EQ(match(make_builtin(Shape::star, 3, 2)), Match::predicted);
  EXPECT_EQ(match(parse_stencil("u + alpha*u*laplacian(u); alpha = 0.1")), Match::predicted) << "not linear";
}

TEST(Predict, TheCommandThatTunesNamesAllOfTheProblem) {
  EXPECT_EQ(tuning_command(cube(512)), "stencil-tune --stencil star3d1r --dims 512x512x512");
  Problem line = make_problem(parse_stencil("u + alpha*laplacian(u); alpha = 0.1", 2), ElementType::f64,
                              {Boundary::periodic, Boundary::hold}, {.rank = 2, .n = {60, 50, 1}}, 64, 10);
  EXPECT_EQ(tuning_command(line).find("stencil-tune --expr '...' --dims 60x50"), 0U) << tuning_command(line);
  line.stencil.name = "u + alpha*laplacian(u); alpha = 0.1";  // as the command line calls it
  EXPECT_EQ(tuning_command(line),
            "stencil-tune --expr 'u + alpha*laplacian(u); alpha = 0.1' --dims 60x50 --pitch 64 --type f64 --boundary "
            "x=periodic,y=hold --steps 10");
}

TEST(Predict, WhatIsChosenForRandomDefinitionsIsLegal) {
  const std::vector<WinnerRecord> winners = shipped_winners();
  int predicted = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Draw draw(seed);
    const Stencil stencil = random_stencil(draw);
    Extents extents{.rank = stencil.rank, .n = {1, 1, 1}};
    Boundaries boundaries{};
    for (int axis = 0; axis < stencil.rank; ++axis) {
      const auto a = static_cast<std::size_t>(axis);
      extents.n[a] = std::max(least_extent(stencil, a), draw.between<std::int64_t>(40, 200));
      boundaries[a] =
          draw.one_of({Boundary::hold, Boundary::zero, Boundary::clamp, Boundary::periodic, Boundary::reflect});
    }
    LookupTarget target = here();
    target.limits = limits_of_architecture("sm_90");
    const auto type = draw.one_of({ElementType::f64, ElementType::f32, ElementType::f16});
    target.alignment = draw.one_of<std::size_t>({size_of(type), 256});
    const int steps = draw.one_of({1, 3, 50});
    const Problem problem = make_problem(stencil, type, boundaries, extents, 0, steps, steps == 1 ? 0 : kWholeStep);
    const auto choice = predict_choice(problem, target, winners);
    if (!choice) continue;
    ++predicted;
    const auto violation = first_violation({problem, choice->tuning}, target.limits);
    EXPECT_FALSE(violation) << "seed " << seed << ": " << choice->evidence.code << ": " << violation->message;
    EXPECT_EQ(target.alignment % required_alignment({problem, choice->tuning}), 0U) << "seed " << seed;
  }
  EXPECT_GT(predicted, 30);
}

}  // namespace
}  // namespace stencil_tune
