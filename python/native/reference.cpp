// What the package's device="cpu" runs: the evaluator that kernels are verified against, one step at a time.
#include "tuner/verify/reference/reference.hpp"
#include "generator/stencil/derivatives/adjoint.hpp"
#include "generator/stencil/derivatives/tangent.hpp"
#include "generator/stencil/problem.hpp"
#include "runtime/library/launch/rotation.hpp"
#include "stencil_tune/definition.hpp"
#include "stencil_tune/error.hpp"
#include "stencil_tune/library.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stencil_tune {
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
/// coefficient, "s0" its first stage alone.
Stencil derive(const Stencil& stencil, char kind, int number) {
  switch (kind) {
    case 'a':
      return adjoint_of(stencil);
    case 'c':
      return coefficient_adjoint_of(stencil);
    case 't':
      return tangent_of(stencil, number);
    case 's':
      return stage_of(stencil, number);
    default:
      throw Error(ErrorCode::invalid_argument, std::string("no derivative ") + kind);
  }
}

/// `derivatives`: what was made of it, in order.
Stencil read_stencil(Source source, const char* text, int rank, std::string_view derivatives) {
  Stencil stencil = read_text(source, text, rank);
  for (std::size_t i = 0; i < derivatives.size();) {
    const char kind = derivatives[i++];
    int number = 0;
    for (; i < derivatives.size() && derivatives[i] >= '0' && derivatives[i] <= '9'; ++i) {
      number = 10 * number + (derivatives[i] - '0');
    }
    stencil = derive(stencil, kind, number);
  }
  return stencil;
}

/// Stage after stage, each rounded as it is stored. In a time loop outputs get the held layers that the step gives
/// them; in a single step they keep their own, unless they are between stages.
void make_step(const std::vector<Problem>& stages, std::span<const double> coefficients, bool in_loop, Fields& fields) {
  for (const Problem& stage : stages) {
    Fields inputs;
    for (const int field : kernel_inputs(stage, 1)) inputs.push_back(fields[static_cast<std::size_t>(field)]);
    const Fields before = fields;
    for (const ReferenceField& output : evaluate_reference(stage, inputs, coefficients)) {
      const auto number = static_cast<std::size_t>(output.field);
      const bool has_others = in_loop || find_intermediate(stage.step, output.field) != nullptr;
      const std::size_t layers = has_others ? static_cast<std::size_t>(stage.step.layers_at[number]) : number;
      std::vector<double> next = before[layers];
      for (std::size_t cell = 0; cell < next.size(); ++cell) {
        if (output.tolerance[cell] >= 0) next[cell] = round_to_storage(output.value[cell], stage.type);
      }
      fields[number] = std::move(next);
    }
  }
}

void run(const Stencil& stencil, const char* type, const char* boundary, const std::int64_t* extents,
         std::int64_t steps, std::span<const double> coefficients, Fields& fields) {
  Extents grid{.rank = stencil.rank};
  std::copy_n(extents, kMaxRank, grid.n.begin());
  const Boundaries boundaries = parse_boundaries(boundary, stencil.rank);
  std::vector<Problem> stages;
  for (std::size_t stage = 0; stage < stencil.stages.size(); ++stage) {
    const bool has_profiles = !stencil.profiles.empty();
    if (has_profiles || analyse(stencil, static_cast<int>(stage)).asks_place) {
      throw Error(ErrorCode::invalid_argument,
                  "the reference on the CPU has no coordinates, no number of the step and no arrays along one axis, "
                  "which stencil '" +
                      stencil.name + "' uses: run it on a GPU");
    }
    stages.push_back(make_problem(stencil, parse_element_type(type), boundaries, grid, 0, 1, static_cast<int>(stage)));
  }
  if (steps < 0) return make_step(stages, coefficients, false, fields);

  require_next_step(make_problem(stencil, parse_element_type(type), boundaries, grid, 0, 1, kWholeStep));
  const std::vector<int> next = buffer_rotation(stencil);
  for (; steps > 0; --steps) {
    make_step(stages, coefficients, true, fields);
    Fields rotated(fields.size());
    for (std::size_t field = 0; field < fields.size(); ++field) {
      rotated[field] = std::move(fields[static_cast<std::size_t>(next[field])]);
    }
    fields = std::move(rotated);
  }
}

}  // namespace
}  // namespace stencil_tune

/// steps: as stencil_tune_advance() counts; -1: one step without a change of places, as stencil_tune_launch(). fields:
/// one dense array an entry of the stencil's fields, already rounded to the type, overwritten by what each holds then.
/// Returns 0, or 1 with a message.
extern "C" __attribute__((visibility("default"))) int stencil_tune_reference_run(
    int source, const char* text, int rank, const char* derivatives, const char* type, const char* boundary,
    const std::int64_t* extents, std::int64_t steps, const double* coefficients, double* const* fields, char* message,
    std::size_t message_size) {
  using namespace stencil_tune;
  try {
    const Stencil stencil = read_stencil(static_cast<Source>(source), text, rank, derivatives);
    const auto cells = static_cast<std::size_t>(extents[0] * extents[1] * extents[2]);
    Fields values;
    for (std::size_t field = 0; field < stencil.fields.size(); ++field) {
      values.emplace_back(fields[field], fields[field] + cells);
    }
    run(stencil, type, boundary, extents, steps, {coefficients, stencil.coefficients.size()}, values);
    for (std::size_t field = 0; field < values.size(); ++field) {
      std::copy(values[field].begin(), values[field].end(), fields[field]);
    }
    return 0;
  } catch (const std::exception& error) {
    std::snprintf(message, message_size, "%s", error.what());
    return 1;
  }
}
