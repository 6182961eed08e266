#include "simulation.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

namespace examples {

namespace st = stencil_tune;

namespace {

st::DeviceContext open_gpu() {
  try {
    return st::DeviceContext(0);
  } catch (const st::Error& error) {
    const bool none = error.code() == st::ErrorCode::no_device || error.code() == st::ErrorCode::missing_library;
    if (none) throw NoGpu(error.code(), error.what());
    throw;
  }
}

std::vector<st::DeviceField> make_fields(const st::Stencil& stencil, const Grid& grid) {
  std::vector<st::DeviceField> fields;
  for (std::size_t i = 0; i < stencil.fields.size(); ++i) fields.emplace_back(grid.extents, grid.type);
  return fields;
}

/// With `steps` of a run the library also looks for a kernel that makes several of them in one pass over memory.
st::Request request_for(const st::Stencil& stencil, const Grid& grid, std::int64_t pitch, int steps) {
  return {.stencil = stencil,
          .type = grid.type,
          .extents = grid.extents,
          .boundaries = {grid.boundary, grid.boundary, grid.boundary},
          .pitch = pitch,
          .steps = steps};
}

/// Calls a function that queues `count` repetitions, more and more until the clock can see them: the median of some
/// batches, in seconds a repetition.
template <typename Repeat>
double seconds_each(st::DeviceContext& context, Repeat repeat) {
  using Clock = std::chrono::steady_clock;
  constexpr double kBatchSeconds = 0.05;
  constexpr int kBatches = 7;
  const auto batch = [&](std::int64_t count) {
    context.synchronize();
    const Clock::time_point start = Clock::now();
    repeat(count);
    context.synchronize();
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  std::int64_t count = 2;  // even, so that buffers that take turns stand where they stood
  while (batch(count) < kBatchSeconds) count *= 2;
  std::vector<double> seconds;
  for (int i = 0; i < kBatches; ++i) seconds.push_back(batch(count));
  std::sort(seconds.begin(), seconds.end());
  return seconds[kBatches / 2] / static_cast<double>(count);
}

/// Copies `parts` rows at once, so that each thread has that many loads under way.
st::Stencil copy_stencil(int parts) {
  st::StencilBuilder builder("copy", 1);
  for (int part = 0; part < parts; ++part) {
    const int in = builder.field("in" + std::to_string(part));
    const int out = builder.field("out" + std::to_string(part));
    builder.update(out, builder.read(in, {0, 0, 0}));
    builder.rotate(out, in);
  }
  return std::move(builder).build();
}

}  // namespace

Simulation::Simulation(const st::Stencil& stencil, const Grid& grid, int steps, const std::string& database)
    : stencil_(stencil),
      grid_(grid),
      steps_(steps),
      context_(open_gpu()),
      library_({.database = database}),
      storage_(make_fields(stencil, grid)),
      kernel_(library_.lookup(request_for(stencil, grid, storage_.front().pitch(), steps))) {
  for (const st::DeviceField& field : storage_) fields_.push_back(field.data());
  kernel_.prepare();
}

st::DeviceField& Simulation::owner(void* address) const {
  return *std::find_if(storage_.begin(), storage_.end(),
                       [&](const st::DeviceField& field) { return field.data() == address; });
}

void Simulation::set(std::size_t field, std::span<const double> cells) {
  st::DeviceField& to = owner(fields_[field]);
  if (grid_.type == st::ElementType::f64) return to.copy_from(std::as_bytes(cells));
  const std::vector<float> rounded(cells.begin(), cells.end());
  to.copy_from(std::as_bytes(std::span(rounded)));
}

std::vector<double> Simulation::get(std::size_t field) const {
  const st::DeviceField& from = owner(fields_[field]);
  std::vector<double> cells(static_cast<std::size_t>(grid_.extents.cells()));
  if (grid_.type == st::ElementType::f64) {
    from.copy_to(std::as_writable_bytes(std::span(cells)));
    return cells;
  }
  std::vector<float> narrow(cells.size());
  from.copy_to(std::as_writable_bytes(std::span(narrow)));
  std::copy(narrow.begin(), narrow.end(), cells.begin());
  return cells;
}

void Simulation::advance(std::int64_t steps) { kernel_.advance(nullptr, fields_, steps, coefficients_); }

Rate Simulation::measure_rate() {
  Rate rate;
  rate.gstencils = measure_gstencils(kernel_, steps_);
  rate.fused_steps = kernel_.fused_steps();
  rate.one_step = rate.gstencils;
  if (rate.fused_steps > 1) {
    st::Kernel single = library_.lookup(request_for(stencil_, grid_, storage_.front().pitch(), 1));
    single.prepare();
    rate.one_step = measure_gstencils(single, steps_);
  }
  rate.copy_gbps = measure_copy_gbps();
  const auto bytes_a_cell = static_cast<double>(st::minimal_bytes(st::analyse(stencil_, 0), grid_.type));
  rate.share = rate.gstencils * bytes_a_cell / rate.copy_gbps;
  return rate;
}

double Simulation::measure_gstencils(const st::Kernel& kernel, int steps) {
  const double run = seconds_each(context_, [&](std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) kernel.advance(nullptr, fields_, steps, coefficients_);
  });
  return static_cast<double>(kernel.updated_box().cells()) * steps / run / 1e9;
}

double Simulation::measure_copy_gbps() {
  // The two fields as one row each of the widest cells, cut in parts. How many copy fastest differs between GPUs.
  constexpr std::int64_t kAligned = 256 / sizeof(double);
  const auto cells = static_cast<std::int64_t>(storage_.front().bytes() / sizeof(double));
  double best = 0;
  for (const int parts : {1, 2, 4, 8}) {
    const std::int64_t each = cells / parts / kAligned * kAligned;
    if (each == 0) break;
    const Grid row{{.rank = 1, .n = {each, 1, 1}}, st::ElementType::f64, st::Boundary::zero};
    st::Kernel copy = library_.lookup(request_for(copy_stencil(parts), row, 0, 1));
    copy.prepare();
    std::vector<void*> rows;
    for (int part = 0; part < parts; ++part) {
      for (void* field : {fields_.front(), fields_.back()}) rows.push_back(static_cast<double*>(field) + part * each);
    }
    const double seconds = seconds_each(context_, [&](std::int64_t count) { copy.advance(nullptr, rows, count); });
    best = std::max(best, 2.0 * sizeof(double) * static_cast<double>(each * parts) / seconds / 1e9);
  }
  return best;
}

}  // namespace examples
