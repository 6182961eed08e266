// The C interface to grids over many GPUs.
#include "distributed/bindings/c_grid.hpp"

#include "runtime/bindings/c_call.hpp"
#include "runtime/bindings/c_handles.hpp"

#include <algorithm>
#include <utility>

namespace stencil_tune {
namespace {

Span<const std::byte> bytes_of(const void* cells, std::size_t bytes) {
  return {static_cast<const std::byte*>(cells), cells != nullptr ? bytes : 0};
}

Span<std::byte> bytes_of(void* cells, std::size_t bytes) {
  return {static_cast<std::byte*>(cells), cells != nullptr ? bytes : 0};
}

}  // namespace

stencil_tune_cut whole_cut(const stencil_tune_cut* given) {
  const stencil_tune_cut defaults = STENCIL_TUNE_CUT_INIT;
  if (given == nullptr) return defaults;
  return whole(*given, sizeof(defaults), defaults, "stencil_tune_cut", "STENCIL_TUNE_CUT_INIT");
}

stencil_tune_grid* make_c_grid(Library& library, std::shared_ptr<Communicator> ranks,
                               const stencil_tune_request& request, const stencil_tune_cut& cut, CUstream_st* stream) {
  const DistributedOptions options{.cut = {cut.parts[0], cut.parts[1], cut.parts[2]},
                                   .overlap = cut.overlap != 0,
                                   .steps_per_exchange = cut.steps_per_exchange};
  DistributedKernel kernel(library, std::move(ranks), to_request(request), options);
  kernel.prepare(stream);
  DistributedFields fields(kernel);
  std::string evidence = kernel.kernel().run_evidence().sentence();
  return new stencil_tune_grid{std::move(kernel), std::move(fields), stream, std::move(evidence)};
}

}  // namespace stencil_tune

using namespace stencil_tune;

extern "C" {

stencil_tune_status stencil_tune_distribute(stencil_tune_library* library, ncclComm* communicator,
                                            const stencil_tune_request* request, const stencil_tune_cut* cut,
                                            CUstream_st* stream, stencil_tune_grid** grid) {
  return guarded([&] {
    require(grid, "grid");
    *grid = nullptr;
    require(library, "library");
    require(request, "request");
    const stencil_tune_cut asked = whole_cut(cut);
    auto ranks =
        asked.timeout_s > 0 ? nccl_communicator(communicator, asked.timeout_s) : nccl_communicator(communicator);
    *grid = make_c_grid(library->library, std::move(ranks), *request, asked, stream);
  });
}

void stencil_tune_grid_release(stencil_tune_grid* grid) { delete grid; }

void stencil_tune_grid_owned(const stencil_tune_grid* grid, int64_t* low, int64_t* high) {
  if (low == nullptr || high == nullptr) return;
  const Box box = grid == nullptr ? Box{{0, 0, 0}, {0, 0, 0}} : grid->kernel.owned();
  std::copy(box.low.begin(), box.low.end(), low);
  std::copy(box.high.begin(), box.high.end(), high);
}

int32_t stencil_tune_grid_steps_per_exchange(const stencil_tune_grid* grid) {
  return grid == nullptr ? 0 : grid->kernel.steps_per_exchange();
}

const char* stencil_tune_grid_evidence(const stencil_tune_grid* grid) {
  return grid == nullptr ? nullptr : grid->evidence.c_str();
}

stencil_tune_status stencil_tune_grid_write(stencil_tune_grid* grid, int32_t field, const void* cells, size_t bytes) {
  return guarded([&] {
    require(grid, "grid");
    grid->fields.write(field, bytes_of(cells, bytes), grid->stream);
  });
}

stencil_tune_status stencil_tune_grid_read(const stencil_tune_grid* grid, int32_t field, void* cells, size_t bytes) {
  return guarded([&] {
    require(grid, "grid");
    grid->fields.read(field, bytes_of(cells, bytes), grid->stream);
  });
}

stencil_tune_status stencil_tune_grid_scatter(stencil_tune_grid* grid, int32_t field, int32_t root, const void* cells,
                                              size_t bytes) {
  return guarded([&] {
    require(grid, "grid");
    grid->fields.scatter(field, root, bytes_of(cells, bytes), grid->stream);
  });
}

stencil_tune_status stencil_tune_grid_gather(const stencil_tune_grid* grid, int32_t field, int32_t root, void* cells,
                                             size_t bytes) {
  return guarded([&] {
    require(grid, "grid");
    grid->fields.gather(field, root, bytes_of(cells, bytes), grid->stream);
  });
}

stencil_tune_status stencil_tune_grid_advance(stencil_tune_grid* grid, int64_t steps, const double* coefficients,
                                              int32_t coefficient_count, const int64_t* origin, int64_t step) {
  return guarded([&] {
    require(grid, "grid");
    grid->kernel.advance(grid->stream, grid->fields, steps, span_of(coefficients, coefficient_count, "coefficients"),
                         to_place(origin, step));
  });
}

stencil_tune_status stencil_tune_grid_refresh(stencil_tune_grid* grid) {
  return guarded([&] {
    require(grid, "grid");
    grid->kernel.refresh(grid->stream, grid->fields);
  });
}

stencil_tune_status stencil_tune_grid_wait(stencil_tune_grid* grid) {
  return guarded([&] {
    require(grid, "grid");
    grid->kernel.wait(grid->stream);
  });
}

stencil_tune_status stencil_tune_grid_save(const stencil_tune_grid* grid, const char* path, int64_t steps) {
  return guarded([&] {
    require(grid, "grid");
    require(path, "path");
    grid->fields.save(path, steps, grid->stream);
  });
}

stencil_tune_status stencil_tune_grid_load(stencil_tune_grid* grid, const char* path, int64_t* steps) {
  return guarded([&] {
    require(grid, "grid");
    require(path, "path");
    require(steps, "steps");
    *steps = grid->fields.load(path, grid->stream);
  });
}

}  // extern "C"
