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

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace stencil_tune {

/// One stage of a step.
struct StepStage {
  StageFacts facts;
  std::vector<int> state_in;   ///< fields of the state that enters, in order of index
  std::vector<int> state_out;  ///< fields of the state that leaves: this stage's outputs, the others passed on
  /// For each of facts.outputs, the field whose held layers it has: the one that it becomes after the step. An
  /// intermediate whose held layers a later stage reads has another field's: the one that the definition names
  /// (Stencil::holds), else the only one that steps change, or read where they change none. The output's own number
  /// where nothing else is to be in its layers.
  std::vector<int> layers_of;
};

/// A field that a stage writes, a later one reads within the layers that the first one keeps, and no rotation moves:
/// there it has what another field holds when the stage runs.
struct Intermediate {
  int field = 0;
  int layers_of = 0;
  bool follows = false;  ///< steps change the other field there, so that the layers are others in each step
};

/// An intermediate that a later stage reads within the layers that its own stage keeps from being written, where the
/// definition does not say what they are and more than one field is possible.
struct UnsaidLayers {
  int field = 0;
  int stage = 0;                      ///< the stage that writes it
  std::array<bool, kMaxRank> axes{};  ///< along which they are read
  std::vector<int> candidates;        ///< fields whose layers these could be
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
  /// Fields of which held layers alone are read, from memory: those that an output has (StepStage::layers_of), that a
  /// later stage reads there, and that are neither state nor constants.
  std::vector<int> layers;
  /// For each field of the stencil: the one whose held layers its buffer has once steps have stored it: that of
  /// StepStage::layers_of, perhaps some steps and names ago. Itself where no step writes it.
  std::vector<int> layers_at;
  std::vector<int> written_by;  ///< for each field of the stencil: the stage that wrote it, as above; -1 for none
  std::vector<Intermediate> intermediates;  ///< in the order in which they are written
  std::vector<UnsaidLayers> unsaid;
  std::string obstacle;  ///< why the stages of a step cannot be fused; empty where they can
};

StepFacts analyse_step(const Stencil& stencil);

/// Null where the field is none.
const Intermediate* find_intermediate(const StepFacts& step, int field);

/// The fields that so many fused steps store, under their names before the rotation of the last step: after u_next -> u
/// and u -> u_prev one step stores u_next, and two or more store u_next and u. With one step these are all outputs that
/// no later stage of it reads, or that rotate.
std::vector<int> stored_fields(const StepFacts& step, int steps);

/// One stage of one of several fused steps. A state is a list of fields, under the names that they have within the
/// step; place i of the state that leaves a level is place i of the one that enters the next, under the next step's
/// name where that begins there. Constants that a stage reads beside the cell travel with the state.
struct FusedLevel {
  int stage = 0;
  std::vector<int> in;   ///< fields that are needed of the state that enters
  std::vector<int> out;  ///< fields of the state that leaves; the last level's are stored_fields()
};

/// The levels of so many fused steps, in order. No level keeps what no later one needs.
std::vector<FusedLevel> fused_levels(const StepFacts& step, int steps);

}  // namespace stencil_tune
