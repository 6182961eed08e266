// What the package's device="cpu" runs: the evaluator that kernels are verified against, one step at a time.
#include "tuner/verify/reference/reference.hpp"
#include "generator/characters.hpp"
#include "generator/points/point_checks.hpp"
#include "generator/stencil/derivatives/adjoint.hpp"
#include "generator/stencil/derivatives/reversed.hpp"
#include "generator/stencil/derivatives/tangent.hpp"
#include "generator/stencil/indices.hpp"
#include "generator/stencil/measures.hpp"
#include "generator/stencil/problem.hpp"
#include "runtime/library/launch/rotation.hpp"
#include "stencil_tune/batch.hpp"
#include "stencil_tune/definition.hpp"
#include "stencil_tune/error.hpp"
#include "stencil_tune/library.hpp"
#include "stencil_tune/points.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <span>
#include <sstream>
#include <string>
#include <vector>

namespace stencil_tune {

/// As _reference.py lays it out.
struct ReferenceCall {
  const char* text;
  const char* derivatives;
  const char* type;
  const char* boundary;
  std::int32_t source;
  std::int32_t rank;
  std::int64_t extents[3];
  std::int64_t steps;  ///< as stencil_tune_advance() counts; -1: one step without a change of places, as a launch
  std::int64_t origin[3];
  std::int64_t step;
  const double* coefficients;
  /// One dense array an entry of the stencil's fields, already rounded to the type, overwritten by what each holds
  /// then. Null: the points are checked, and nothing runs.
  double* const* fields;
  const PointCell* source_cells;
  const PointCell* receiver_cells;
  std::int64_t source_cell_count;
  std::int64_t receiver_cell_count;
  const double* series;
  double* records;
  std::int32_t sources;
  std::int32_t receivers;
  std::int32_t every;
};

namespace {

using Fields = std::vector<std::vector<double>>;

/// How a definition was given: as the C interface's functions of these names take it.
enum class Source { load, parse, define };

Stencil read_text(Source source, const char* text, int rank) {
  switch (source) {
    case Source::load:
      return load_stencil(text);
    case Source::parse:
      return parse_stencil(text, rank);
    case Source::define:
      return parse_definition(text, "definition");
  }
  throw Error(ErrorCode::invalid_argument, "no such source of a stencil");
}

/// What is made of a stencil: "a" its adjoint, "c" that of its coefficients, "t0" with the tangents of its first
/// coefficient, "s0" its first stage alone, "m" its measures, "l20" itself with layers of that width, "bv,w" itself for
/// many grids that share v and w, "r3v,a" its adjoint step with gradients of v and a, layers held
/// along x and y, "v" itself reversed, "n2" two of its steps as one.
Stencil derive(const Stencil& stencil, char kind, const std::string& argument) {
  switch (kind) {
    case 'a':
      return adjoint_of(stencil);
    case 'c':
      return coefficient_adjoint_of(stencil);
    case 't':
      return tangent_of(stencil, std::stoi(argument));
    case 'm':
      return measured_stencil(stencil);
    case 's':
      return stage_of(stencil, std::stoi(argument));
    case 'v':
      return reversed_of(stencil);
    case 'b':
      return batched(stencil, between_commas(argument));
    case 'r':
      return adjoint_step_of(stencil, between_commas(argument.substr(1)), static_cast<Along>(argument.front() - '0'));
    case 'l': {
      Stencil with = stencil;
      with.layers = parse_layer_widths(argument, stencil.rank);
      return with;
    }
    default:
      throw Error(ErrorCode::invalid_argument, std::string("no derivative ") + kind);
  }
}

/// `derivatives`: what was made of it, in order, with spaces between.
Stencil read_stencil(Source source, const char* text, int rank, const char* derivatives) {
  Stencil stencil = read_text(source, text, rank);
  std::istringstream words(derivatives);
  for (std::string which; words >> which;) stencil = derive(stencil, which[0], which.substr(1));
  return stencil;
}

/// What a run is given beside its fields.
struct Run {
  std::span<const double> coefficients;
  Place place;  ///< where its first step is
  PointList points;
  const double* series;  ///< [step of the run][source]
  double* records;       ///< [record][receiver]
};

std::size_t index_of(const Problem& problem, const PointCell& point) {
  return at((point.cell[2] * problem.extents.n[1] + point.cell[1]) * problem.pitch + point.cell[0]);
}

/// To what the stage has just written, in step `done` of the run.
void add_sources(const Problem& stage, const Run& run, std::int64_t done, Fields& fields) {
  for (const PointCell& cell : run.points.source_cells) {
    if (!contains(stage.facts.outputs, cell.field)) continue;
    double& value = fields[at(cell.field)][index_of(stage, cell)];
    const double added = round_to_compute(cell.weight, stage.type) * run.series[done * run.points.sources + cell.point];
    value = round_to_storage(value + added, stage.type);
  }
}

/// After that many steps of the run, where they are recorded.
void record(const Problem& stage, const Run& run, std::int64_t made, const Fields& fields) {
  if (run.points.receivers == 0 || made % run.points.every != 0) return;
  double* const row = run.records + (made / run.points.every - 1) * run.points.receivers;
  std::fill_n(row, run.points.receivers, 0.0);
  for (const PointCell& cell : run.points.receiver_cells) {
    row[cell.point] += round_to_compute(cell.weight, stage.type) * fields[at(cell.field)][index_of(stage, cell)];
  }
}

/// Stage after stage, each rounded as it is stored. In a time loop outputs get the held layers that the step gives
/// them; in a single step they keep their own, unless they are between stages. done: steps of the run that were made
/// before.
void make_step(const std::vector<Problem>& stages, const Run& run, std::int64_t done, bool in_loop, Fields& fields) {
  const Place place{run.place.origin, run.place.step + done};
  for (const Problem& stage : stages) {
    Fields inputs;
    for (const int field : kernel_inputs(stage, 1)) inputs.push_back(fields[static_cast<std::size_t>(field)]);
    const Fields before = fields;
    for (const ReferenceField& output : evaluate_reference(stage, inputs, run.coefficients, false, 1, place)) {
      const auto number = static_cast<std::size_t>(output.field);
      const bool has_others = in_loop || find_intermediate(stage.step, output.field) != nullptr;
      const std::size_t layers = has_others ? static_cast<std::size_t>(stage.step.layers_at[number]) : number;
      std::vector<double> next = before[layers];
      for (std::size_t cell = 0; cell < next.size(); ++cell) {
        if (output.tolerance[cell] >= 0)
          next[cell] = round_to_storage(output.value[cell], storage_of(stage, output.field));
      }
      fields[number] = std::move(next);
    }
    add_sources(stage, run, done, fields);
  }
}

std::vector<Problem> stages_of(const Stencil& stencil, ElementType type, const Boundaries& boundaries,
                               const Extents& grid) {
  std::vector<Problem> stages;
  for (int stage = 0; stage < static_cast<int>(stencil.stages.size()); ++stage) {
    stages.push_back(make_problem(stencil, type, boundaries, grid, 0, 1, stage));
  }
  return stages;
}

void run_steps(const std::vector<Problem>& stages, const Run& run, std::int64_t steps, Fields& fields) {
  const Stencil& stencil = stages.front().stencil;
  if (steps < 0) return make_step(stages, run, 0, false, fields);
  const std::vector<int> next = buffer_rotation(stencil);
  for (std::int64_t done = 0; done < steps; ++done) {
    make_step(stages, run, done, true, fields);
    Fields rotated(fields.size());
    for (std::size_t field = 0; field < fields.size(); ++field) {
      rotated[field] = std::move(fields[static_cast<std::size_t>(next[field])]);
    }
    fields = std::move(rotated);
    record(stages.front(), run, done + 1, fields);
  }
}

/// A field of time has as many as the run reads.
std::int64_t cells_given(const Problem& problem, int field, const ReferenceCall& given) {
  if (profile_along(problem.stencil, field) != kAlongTime) return cells_of_field(problem, field);
  return given.step + std::max<std::int64_t>(given.steps, 1);
}

std::vector<PointCell> cells_of(const PointCell* first, std::int64_t count) { return {first, first + count}; }

void run(const ReferenceCall& given) {
  const Stencil stencil = read_stencil(static_cast<Source>(given.source), given.text, given.rank, given.derivatives);
  Extents grid{.rank = stencil.rank};
  std::copy_n(given.extents, kMaxRank, grid.n.begin());
  const ElementType type = parse_element_type(given.type);
  const Boundaries boundaries = measured_boundaries(stencil, parse_boundaries(given.boundary, stencil.rank));
  const std::vector<Problem> stages = stages_of(stencil, type, boundaries, grid);
  Run how{.coefficients = {given.coefficients, stencil.coefficients.size()},
          .place = {{given.origin[0], given.origin[1], given.origin[2]}, given.step},
          .points = {.sources = given.sources,
                     .source_cells = cells_of(given.source_cells, given.source_cell_count),
                     .receivers = given.receivers,
                     .receiver_cells = cells_of(given.receiver_cells, given.receiver_cell_count),
                     .every = given.every},
          .series = given.series,
          .records = given.records};
  check_points(stages.front(), how.points);
  if (given.fields == nullptr) return;
  if (given.steps >= 0) {
    require_next_step(make_problem(stencil, type, stages.front().boundaries, grid, 0, 1, kWholeStep));
  }
  Fields fields;
  for (std::size_t field = 0; field < stencil.fields.size(); ++field) {
    const double* const first = given.fields[field];
    const std::int64_t cells = cells_given(stages.front(), static_cast<int>(field), given);
    fields.emplace_back(first, first + cells);
    fields.back().resize(at(std::max(cells, grid.cells())));  // so the evaluator takes profiles
  }
  run_steps(stages, how, given.steps, fields);
  for (std::size_t field = 0; field < fields.size(); ++field) {
    if (is_profile(stencil, static_cast<int>(field))) continue;
    std::copy_n(fields[field].begin(), grid.cells(), given.fields[field]);
  }
}

}  // namespace
}  // namespace stencil_tune

/// Returns 0, or 1 with a message.
extern "C" __attribute__((visibility("default"))) int stencil_tune_reference_run(
    const stencil_tune::ReferenceCall* given, char* message, std::size_t message_size) {
  try {
    stencil_tune::run(*given);
    return 0;
  } catch (const std::exception& error) {
    std::snprintf(message, message_size, "%s", error.what());
    return 1;
  }
}
