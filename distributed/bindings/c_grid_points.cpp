// The C interface to grids over many GPUs: sources and receivers.
#include "distributed/bindings/c_grid.hpp"

#include "runtime/bindings/c_call.hpp"
#include "runtime/bindings/c_handles.hpp"

#include <utility>

using namespace stencil_tune;

extern "C" {

stencil_tune_status stencil_tune_grid_place_points(stencil_tune_grid* grid, const stencil_tune_point_list* list,
                                                   stencil_tune_points** points) {
  return guarded([&] {
    require(points, "points");
    *points = nullptr;
    require(grid, "grid");
    require(list, "list");
    *points = make_c_handle(grid->kernel.place_points(to_point_list(*list)));
  });
}

stencil_tune_status stencil_tune_grid_advance_with_points(stencil_tune_grid* grid, const stencil_tune_points* points,
                                                          const void* series, void* records, int64_t steps,
                                                          const double* coefficients, int32_t coefficient_count,
                                                          const int64_t* origin, int64_t step) {
  return guarded([&] {
    require(grid, "grid");
    require(points, "points");
    grid->kernel.advance_with_points(points->points, {series, records}, grid->stream, grid->fields, steps,
                                     span_of(coefficients, coefficient_count, "coefficients"), to_place(origin, step));
  });
}

stencil_tune_status stencil_tune_grid_gather_records(const stencil_tune_grid* grid, const stencil_tune_points* points,
                                                     const void* records, int64_t steps, int32_t root, void* sums,
                                                     size_t bytes) {
  return guarded([&] {
    require(grid, "grid");
    require(points, "points");
    const Span<std::byte> room(static_cast<std::byte*>(sums), sums != nullptr ? bytes : 0);
    grid->kernel.gather_records(points->points, records, steps, root, room, grid->stream);
  });
}

}  // extern "C"
