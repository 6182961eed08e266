// The C interface on any thread: the kernel's GPU is made current for a call, and the kernel prepared there.
#include "runtime/bindings/c_call.hpp"
#include "runtime/bindings/c_handles.hpp"
#include "runtime/bindings/on_gpu.hpp"
#include "runtime/library/kernel_run.hpp"
#include "runtime/library/launch/stage_launch.hpp"

namespace stencil_tune {

namespace {

/// While it lives, a context on the kernel's GPU is current.
class OnDevice {
 public:
  explicit OnDevice(stencil_tune_kernel& kernel) : kernel_(kernel), state_(kernel.kernel.state()) {
    if (state_.driver == nullptr) return;  // the call says so
    // Where the kernel was prepared a context is on its GPU, and stays there.
    context_ = state_.driver->current_context_id();
    if (is_prepared()) return;
    gpu_.emplace(*state_.driver, state_.device, kernel.primary);
    context_ = state_.driver->current_context_id();
  }

  /// Says so where no GPU can run the kernel. Returns the id of the context.
  std::uint64_t prepare() const {
    if (is_prepared()) return context_;
    kernel_.kernel.prepare();
    kernel_.prepared_in = context_;
    return context_;
  }

  /// With the stream's spare buffers, where runs take any.
  void prepare(CUstream_st* stream) const {
    prepare();
    if (kernel_.kernel.workspace_bytes() > 0) kernel_.kernel.prepare(stream);
  }

 private:
  bool is_prepared() const { return context_ != 0 && kernel_.prepared_in == context_; }

  stencil_tune_kernel& kernel_;
  const Kernel::State& state_;
  std::optional<OnGpu> gpu_;
  std::uint64_t context_ = 0;
};

}  // namespace

}  // namespace stencil_tune

using namespace stencil_tune;

extern "C" {

stencil_tune_status stencil_tune_prepare_on_device(stencil_tune_kernel* kernel, CUstream_st* stream) {
  return guarded([&] {
    require(kernel, "kernel");
    const OnDevice here(*kernel);
    here.prepare(stream);
  });
}

stencil_tune_status stencil_tune_launch_at_on_device(stencil_tune_kernel* kernel, const int64_t* origin, int64_t step,
                                                     CUstream_st* stream, void* const* fields, int32_t field_count,
                                                     const double* coefficients, int32_t coefficient_count,
                                                     const int64_t* low, const int64_t* high) {
  return guarded([&] {
    require(kernel, "kernel");
    require(fields, "fields");
    const OnDevice here(*kernel);
    launch_step(kernel->kernel.state(), here.prepare(), to_place(origin, step), stream,
                span_of(fields, field_count, "fields"), span_of(coefficients, coefficient_count, "coefficients"),
                to_box(low, high));
  });
}

stencil_tune_status stencil_tune_launch_on_device(stencil_tune_kernel* kernel, CUstream_st* stream, void* const* fields,
                                                  int32_t field_count, const double* coefficients,
                                                  int32_t coefficient_count, const int64_t* low, const int64_t* high) {
  return stencil_tune_launch_at_on_device(kernel, nullptr, 0, stream, fields, field_count, coefficients,
                                          coefficient_count, low, high);
}

stencil_tune_status stencil_tune_step_on_device(stencil_tune_kernel* kernel, CUstream_st* stream, void* const* fields) {
  return stencil_tune_launch_on_device(kernel, stream, fields, kernel == nullptr ? 0 : kernel->fields, nullptr, 0,
                                       nullptr, nullptr);
}

stencil_tune_status stencil_tune_step_into_new_on_device(stencil_tune_kernel* kernel, CUstream_st* stream,
                                                         void* const* fields, const double* coefficients,
                                                         int32_t coefficient_count) {
  return guarded([&] {
    require(kernel, "kernel");
    require(fields, "fields");
    const OnDevice here(*kernel);
    launch_step_into_new(kernel->kernel.state(), here.prepare(), stream, span_of(fields, kernel->fields, "fields"),
                         span_of(coefficients, coefficient_count, "coefficients"));
  });
}

stencil_tune_status stencil_tune_launch_boxes_on_device(stencil_tune_kernel* kernel, CUstream_st* stream,
                                                        void* const* fields, int32_t field_count,
                                                        const double* coefficients, int32_t coefficient_count,
                                                        const int64_t* boxes, int32_t box_count) {
  return guarded([&] {
    require(kernel, "kernel");
    require(fields, "fields");
    require(boxes, "boxes");
    if (box_count < 0) throw Error(ErrorCode::invalid_argument, "a negative number of boxes");
    const OnDevice here(*kernel);
    const std::uint64_t context = here.prepare();
    const std::int64_t* const end = boxes + std::ptrdiff_t{2} * kMaxRank * box_count;
    for (const std::int64_t* box = boxes; box != end; box += 2 * kMaxRank) {
      launch_step(kernel->kernel.state(), context, {}, stream, span_of(fields, field_count, "fields"),
                  span_of(coefficients, coefficient_count, "coefficients"), to_box(box, box + kMaxRank));
    }
  });
}

stencil_tune_status stencil_tune_advance_at_on_device(stencil_tune_kernel* kernel, const int64_t* origin, int64_t step,
                                                      CUstream_st* stream, void** fields, int32_t field_count,
                                                      int64_t steps, const double* coefficients,
                                                      int32_t coefficient_count) {
  return guarded([&] {
    require(kernel, "kernel");
    require(fields, "fields");
    const OnDevice here(*kernel);
    here.prepare(stream);
    kernel->kernel.advance_at(to_place(origin, step), stream, span_of(fields, field_count, "fields"), steps,
                              span_of(coefficients, coefficient_count, "coefficients"));
  });
}

stencil_tune_status stencil_tune_advance_with_histories_on_device(
    stencil_tune_kernel* kernel, const stencil_tune_history* histories, int32_t history_count,
    const stencil_tune_points* points, const void* series, void* records, const int64_t* origin, int64_t step,
    CUstream_st* stream, void** fields, int32_t field_count, int64_t steps, const double* coefficients,
    int32_t coefficient_count) {
  return guarded([&] {
    require(kernel, "kernel");
    require(fields, "fields");
    const OnDevice here(*kernel);
    here.prepare(stream);
    std::vector<History> given;
    for (const stencil_tune_history& history : span_of(histories, history_count, "histories")) {
      given.push_back({.field = history.field, .bytes = history.bytes});
    }
    kernel->kernel.advance_with_histories(given, points == nullptr ? nullptr : &points->points, {series, records},
                                          stream, span_of(fields, field_count, "fields"), steps,
                                          span_of(coefficients, coefficient_count, "coefficients"),
                                          to_place(origin, step));
  });
}

stencil_tune_status stencil_tune_advance_on_device(stencil_tune_kernel* kernel, CUstream_st* stream, void** fields,
                                                   int32_t field_count, int64_t steps, const double* coefficients,
                                                   int32_t coefficient_count) {
  return stencil_tune_advance_at_on_device(kernel, nullptr, 0, stream, fields, field_count, steps, coefficients,
                                           coefficient_count);
}

stencil_tune_status stencil_tune_advance_until_on_device(stencil_tune_kernel* kernel, const int64_t* origin,
                                                         int64_t step, CUstream_st* stream, void** fields,
                                                         int32_t field_count, int64_t steps, const double* coefficients,
                                                         int32_t coefficient_count, int64_t every,
                                                         stencil_tune_stop stop, void* user, int64_t* made) {
  return guarded([&] {
    require(kernel, "kernel");
    require(fields, "fields");
    require(made, "made");
    if (stop == nullptr) throw Error(ErrorCode::invalid_argument, "stop must not be null");
    const OnDevice here(*kernel);
    here.prepare(stream);
    const Until until{every, [&](std::int64_t steps_made, Span<const double> numbers) {
                        return stop(user, steps_made, numbers.data(), static_cast<int32_t>(numbers.size())) != 0;
                      }};
    *made =
        kernel->kernel.advance_until(until, stream, span_of(fields, field_count, "fields"), steps,
                                     span_of(coefficients, coefficient_count, "coefficients"), to_place(origin, step));
  });
}

stencil_tune_status stencil_tune_advance_again_on_device(stencil_tune_kernel* kernel, const int64_t* origin,
                                                         int64_t step, CUstream_st* stream, void** fields,
                                                         int32_t field_count, int64_t steps, const double* coefficients,
                                                         int32_t coefficient_count) {
  return guarded([&] {
    require(kernel, "kernel");
    require(fields, "fields");
    const OnDevice here(*kernel);
    here.prepare(stream);
    advance_fields(kernel->kernel.state(), RunLayers::alike, to_place(origin, step), stream,
                   span_of(fields, field_count, "fields"), steps,
                   span_of(coefficients, coefficient_count, "coefficients"));
  });
}

stencil_tune_status stencil_tune_place_points_on_device(stencil_tune_kernel* kernel,
                                                        const stencil_tune_point_list* list,
                                                        stencil_tune_points** points) {
  return guarded([&] {
    require(points, "points");
    *points = nullptr;
    require(kernel, "kernel");
    require(list, "list");
    const OnDevice here(*kernel);
    *points = place_c_points(*kernel, *list);
  });
}

stencil_tune_status stencil_tune_release_points_on_device(stencil_tune_kernel* kernel, stencil_tune_points* points) {
  return guarded([&] {
    require(kernel, "kernel");
    const OnDevice here(*kernel);
    delete points;
  });
}

stencil_tune_status stencil_tune_advance_with_points_on_device(stencil_tune_kernel* kernel,
                                                               const stencil_tune_points* points, const void* series,
                                                               void* records, const int64_t* origin, int64_t step,
                                                               CUstream_st* stream, void** fields, int32_t field_count,
                                                               int64_t steps, const double* coefficients,
                                                               int32_t coefficient_count) {
  return guarded([&] {
    require(kernel, "kernel");
    require(points, "points");
    require(fields, "fields");
    const OnDevice here(*kernel);
    here.prepare(stream);
    kernel->kernel.advance_with_points(
        points->points, {series, records}, stream, span_of(fields, field_count, "fields"), steps,
        span_of(coefficients, coefficient_count, "coefficients"), to_place(origin, step));
  });
}

stencil_tune_status stencil_tune_copy_field_on_device(stencil_tune_kernel* kernel, CUstream_st* stream, void* to,
                                                      const void* from) {
  return guarded([&] {
    require(kernel, "kernel");
    require(to, "to");
    require(from, "from");
    const OnDevice here(*kernel);
    here.prepare();
    kernel->kernel.state().driver->copy_on_device(reinterpret_cast<std::uintptr_t>(to),
                                                  reinterpret_cast<std::uintptr_t>(from), kernel->kernel.field_bytes(),
                                                  stream);
  });
}

stencil_tune_status stencil_tune_read_array_on_device(stencil_tune_kernel* kernel, CUstream_st* stream, void* to,
                                                      const void* from, size_t bytes) {
  return guarded([&] {
    require(kernel, "kernel");
    require(to, "to");
    require(from, "from");
    Driver& driver = driver_of(kernel->kernel.state());
    const OnDevice here(*kernel);
    driver.copy_to_host(to, reinterpret_cast<std::uintptr_t>(from), bytes, stream);
    driver.synchronize_stream(stream);
  });
}

stencil_tune_status stencil_tune_write_array_on_device(stencil_tune_kernel* kernel, CUstream_st* stream, void* to,
                                                       const void* from, size_t bytes) {
  return guarded([&] {
    require(kernel, "kernel");
    require(to, "to");
    require(from, "from");
    Driver& driver = driver_of(kernel->kernel.state());
    const OnDevice here(*kernel);
    driver.copy_to_device(reinterpret_cast<std::uintptr_t>(to), from, bytes, stream);
    driver.synchronize_stream(stream);
  });
}

}  // extern "C"
