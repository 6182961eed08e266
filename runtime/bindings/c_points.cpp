// The C interface: sources and receivers.
#include "runtime/bindings/c_call.hpp"
#include "runtime/bindings/c_handles.hpp"

#include <string>

namespace stencil_tune {

namespace {

PointCell to_cell(const stencil_tune_point_cell& from) {
  return {from.point, from.field, {from.cell[0], from.cell[1], from.cell[2]}, from.weight};
}

std::vector<PointCell> to_cells(const stencil_tune_point_cell* first, std::int64_t count, const char* what) {
  if (count < 0) throw Error(ErrorCode::invalid_argument, std::string("a negative number of ") + what);
  if (count > 0) require(first, what);
  std::vector<PointCell> cells;
  for (std::int64_t i = 0; i < count; ++i) cells.push_back(to_cell(first[i]));
  return cells;
}

std::string lines_of(const std::vector<std::string>& notes) {
  std::string lines;
  for (const std::string& note : notes) lines += (lines.empty() ? "" : "\n") + note;
  return lines;
}

}  // namespace

PointList to_point_list(const stencil_tune_point_list& given) {
  const stencil_tune_point_list defaults = STENCIL_TUNE_POINT_LIST_INIT;
  const stencil_tune_point_list from = whole(given, sizeof(stencil_tune_point_list), defaults,
                                             "stencil_tune_point_list", "STENCIL_TUNE_POINT_LIST_INIT");
  return {.sources = from.sources,
          .source_cells = to_cells(from.source_cells, from.source_cell_count, "source_cells"),
          .receivers = from.receivers,
          .receiver_cells = to_cells(from.receiver_cells, from.receiver_cell_count, "receiver_cells"),
          .every = from.every == 0 ? 1 : from.every};
}

stencil_tune_points* make_c_handle(Points points) {
  std::string notes = lines_of(points.notes());
  return new stencil_tune_points{std::move(points), std::move(notes)};
}

stencil_tune_points* place_c_points(stencil_tune_kernel& kernel, const stencil_tune_point_list& list) {
  return make_c_handle(kernel.kernel.place_points(to_point_list(list)));
}

}  // namespace stencil_tune

using namespace stencil_tune;

extern "C" {

int32_t stencil_tune_spread(int32_t point, int32_t field, const double* position, stencil_tune_point_cell* cells) {
  int32_t count = 0;
  guarded([&] {
    require(position, "position");
    require(cells, "cells");
    for (const PointCell& cell : spread(point, field, {position[0], position[1], position[2]})) {
      cells[count++] = {cell.point, cell.field, {cell.cell[0], cell.cell[1], cell.cell[2]}, cell.weight};
    }
  });
  return count;
}

stencil_tune_status stencil_tune_place_points(stencil_tune_kernel* kernel, const stencil_tune_point_list* list,
                                              stencil_tune_points** points) {
  return guarded([&] {
    require(points, "points");
    *points = nullptr;
    require(kernel, "kernel");
    require(list, "list");
    *points = place_c_points(*kernel, *list);
  });
}

void stencil_tune_release_points(stencil_tune_points* points) { delete points; }

int64_t stencil_tune_points_records(const stencil_tune_points* points, int64_t steps) {
  return points == nullptr ? 0 : points->points.records(steps);
}

int32_t stencil_tune_points_fused_steps(const stencil_tune_points* points) {
  return points == nullptr ? 0 : points->points.fused_steps();
}

const char* stencil_tune_points_notes(const stencil_tune_points* points) {
  return points == nullptr ? nullptr : points->notes.c_str();
}

stencil_tune_status stencil_tune_advance_with_points(const stencil_tune_kernel* kernel,
                                                     const stencil_tune_points* points, const void* series,
                                                     void* records, const int64_t* origin, int64_t step,
                                                     CUstream_st* stream, void** fields, int32_t field_count,
                                                     int64_t steps, const double* coefficients,
                                                     int32_t coefficient_count) {
  return guarded([&] {
    require(kernel, "kernel");
    require(points, "points");
    require(fields, "fields");
    kernel->kernel.advance_with_points(
        points->points, {series, records}, stream, span_of(fields, field_count, "fields"), steps,
        span_of(coefficients, coefficient_count, "coefficients"), to_place(origin, step));
  });
}

}  // extern "C"
