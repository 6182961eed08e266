// A whole step as stages that pass a state on: what fused steps keep, read and store.
//
//     state      ex ey ez hx hy hz                                the fields that a step changes and reads
//       stage 0  updates hx_next ..., reads ex ... around a cell
//     state      ex ey ez hx_next hy_next hz_next                 old hx, hy, hz end here: nobody reads them any more
//       stage 1  updates ex_next ..., reads hx_next ... around a cell and the constant ca
//     state      ex_next ey_next ez_next hx_next hy_next hz_next
//       rotation: ex_next becomes ex, hx_next becomes hx, ...     the state that the next step starts with
//
// Fields are indices into Stencil::fields, under the names that they have within the step.
#pragma once

#include "stencil_tune/stencil.hpp"

#include <optional>
#include <string>
#include <vector>

namespace stencil_tune {

/// One stage of a step.
struct StepStage {
  StageFacts facts;
  std::vector<int> state_in;   ///< fields of the state that enters, in order of index
  std::vector<int> state_out;  ///< of the state that leaves: outputs of this stage, the others passed on as they are
  /// For each of facts.outputs: the field whose held layers it keeps, the one that it becomes after the step. Its own
  /// number where it rotates into nothing.
  std::vector<int> layers_of;
};

/// A value that a run of steps leaves in memory.
struct LeftField {
  int field = 0;  ///< under the name that it has before the rotation of the last step
  int age = 0;    ///< steps since it was written: 0 where the last step wrote it
};

/// What a Stencil's step is made of, derived once.
struct StepFacts {
  std::vector<int> state;      ///< fields that a step changes and the next one starts with, in order of index
  std::vector<int> becomes;    ///< for each of `state`: the field of the last state_out that takes its place
  std::vector<int> constants;  ///< fields that are read and that no step changes, in order of index
  std::vector<StepStage> stages;
  std::vector<LeftField> left;  ///< youngest first, then in the order of the updates
  /// Fields of which held layers alone are read, from memory: those that an output keeps (StepStage::layers_of), that a
  /// later stage reads there, and that are no part of the state.
  std::vector<int> layers;
  std::string obstacle;  ///< why the stages of a step cannot be fused; empty where they can
};

StepFacts analyse_step(const Stencil& stencil);

/// The fields that so many fused steps store, under their names before the rotation of the last step: after u_next -> u
/// and u -> u_prev one step stores u_next, and two or more store u_next and u. With one step these are all outputs that
/// no later stage of it reads, or that rotate.
std::vector<int> stored_fields(const StepFacts& step, int steps);

/// One stage of one of several fused steps. A state is a list of fields, under the names that they have within the
/// step; place i of the state that leaves a level is place i of the one that enters the next, under the next step's
/// name where that begins there. Constants that a stage reads beside the cell travel with the state.
struct FusedLevel {
  int stage = 0;
  std::vector<int> in;   ///< what is needed of the state that enters
  std::vector<int> out;  ///< of the state that leaves; of the last level stored_fields()
};

/// The levels of so many fused steps, in order. No level has what no later one needs.
std::vector<FusedLevel> fused_levels(const StepFacts& step, int steps);

}  // namespace stencil_tune
