#include "distributed/local_request.hpp"

#include "generator/cut/part_problem.hpp"
#include "stencil_tune/device_memory.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <utility>

namespace stencil_tune {
namespace {

bool is_chosen_here(const Cut& cut) { return cut == Cut{0, 0, 0}; }

void refuse_places(const Problem& whole, std::size_t axis) {
  throw Error(
      ErrorCode::invalid_argument,
      fmt::format("stencil '{0}' asks for the coordinate {1}, or for {1}_before or {1}_after, and {1} is periodic: "
                  "it cannot be cut along it; cut along another axis",
                  whole.stencil.name, "xyz"[axis]));
}

}  // namespace

Problem whole_problem(const Request& request) {
  if (request.pitch != 0) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("Request::pitch is {}; each rank pads its own rows: leave it 0", request.pitch));
  }
  if (!request.stencil.storages.empty()) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("stencil '{}' stores fields in types of their own: grids over several GPUs have cells of one "
                    "type",
                    request.stencil.name));
  }
  if (request.slabs) {
    throw Error(ErrorCode::invalid_argument,
                "grids over many GPUs have arrays of whole grids for fields in layers: leave Request::slabs false");
  }
  return make_problem(request.stencil, request.type, request.boundaries, request.extents, 0, 1, kWholeStep);
}

Decomposition decompose(const Problem& whole, int ranks, const Cut& cut, int steps) {
  const HaloLayers halo = halo_need(whole, steps).arrays;
  std::array<bool, kMaxRank> allowed{true, true, true};
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) allowed[axis] = may_cut(whole, axis, steps);
  if (is_chosen_here(cut)) return choose_decomposition(whole.extents, whole.boundaries, ranks, halo, allowed);
  Decomposition grid(whole.extents, whole.boundaries, cut, halo);
  if (grid.ranks() != ranks) {
    throw Error(ErrorCode::invalid_argument, fmt::format("a cut of {} has {} parts for {} ranks",
                                                         to_string(cut, whole.extents.rank), grid.ranks(), ranks));
  }
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    if (cut[axis] > 1 && !allowed[axis]) refuse_places(whole, axis);
  }
  return grid;
}

int feasible_steps(const Problem& whole, int ranks, const Cut& cut, int wanted) {
  for (int steps = wanted; steps > 1; --steps) {
    try {
      decompose(whole, ranks, cut, steps);
      return steps;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::invalid_argument) throw;
    }
  }
  return 1;
}

Request request_of_part(const Request& whole, const Decomposition& grid, const Box& cells, int steps) {
  Request request = whole;
  PartForm form = form_of_part(whole_problem(whole), grid.cut());
  request.stencil = std::move(form.stencil);
  request.boundaries = form.boundaries;
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) request.extents.n[axis] = cells.high[axis] - cells.low[axis];
  request.pitch = padded_pitch(request.extents.n[0], request.type);
  request.steps = steps;
  return request;
}

Kernel look_up_part(Library& library, const Request& whole, const Decomposition& grid, const Box& cells, int most) {
  Kernel kernel = library.lookup(request_of_part(whole, grid, cells, whole.steps));
  if (kernel.fused_steps() <= most) return kernel;
  return library.lookup(request_of_part(whole, grid, cells, most));
}

}  // namespace stencil_tune
