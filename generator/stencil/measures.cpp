#include "generator/stencil/measures.hpp"

#include "generator/stencil/layer_arrays.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <utility>

namespace stencil_tune {

std::vector<std::string> measure_names(const Stencil& stencil) {
  std::vector<std::string> names;
  if (!stencil.measures) return names;
  const Stencil& measured = stencil.measures->stencil;
  for (const Update& update : measured.stages.front().updates) {
    names.push_back(measured.fields[static_cast<std::size_t>(update.output)]);
  }
  return names;
}

std::string_view name(Reduction reduction) noexcept {
  switch (reduction) {
    case Reduction::sum:
      return "sum";
    case Reduction::minimum:
      return "min";
    case Reduction::maximum:
      return "max";
  }
  return {};
}

Stencil measured_stencil(const Stencil& stencil) {
  if (!stencil.measures) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("stencil '{}' measures nothing: its definition needs [measure] with lines such as residual "
                            "= \"max(abs(u_next - u))\"",
                            stencil.name));
  }
  Stencil measured = stencil.measures->stencil;
  measured.layers = stencil.layers;
  measured.coefficients = stencil.coefficients;
  return measured;
}

Boundaries measured_boundaries(const Stencil& measured, Boundaries boundaries) {
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    if (measured.boundary[axis]) boundaries[axis] = *measured.boundary[axis];
  }
  return boundaries;
}

Problem measured_problem(const Problem& step) {
  Stencil measured = measured_stencil(step.stencil);
  const Boundaries boundaries = measured_boundaries(measured, step.boundaries);
  return with_slabs_of(step, make_problem(std::move(measured), step.type, boundaries, step.extents, step.pitch));
}

}  // namespace stencil_tune
