#include "runtime/library/points/point_kernels.hpp"

#include "generator/kernel_source/source.hpp"
#include "generator/kernel_source/stage_text.hpp"

#include <fmt/format.h>

#include <utility>

namespace stencil_tune {

KernelSource point_kernel_source(PointTask task, ElementType type) {
  const bool sums = task == PointTask::sum;
  const std::string_view value = type == ElementType::f64 ? "double" : "float";
  const std::string parameter =
      sums ? fmt::format("SumArguments<{}>", value) : fmt::format("StepPoints<{}, {}>", storage_type(type), value);
  return {.text = fmt::format(R"(#include "stencil_tune/points/points_alone.cuh"

STENCIL_KERNEL void __launch_bounds__(stencil_tune::kPointThreads)
stencil_points(const __grid_constant__ stencil_tune::{} arguments) {{
  stencil_tune::{}(arguments);
}}
)",
                              parameter, sums ? "sum_captured" : "step_points"),
          .entry = "stencil_points"};
}

std::shared_ptr<LoadedKernel> PointKernels::fused(const Candidate& candidate, const LoadedKernel& plain) {
  return find_or_make(generate_with_points(candidate), plain);
}

std::shared_ptr<LoadedKernel> PointKernels::alone(PointTask task, ElementType type, const LoadedKernel& plain) {
  return find_or_make(point_kernel_source(task, type), plain);
}

std::shared_ptr<LoadedKernel> PointKernels::find_or_make(KernelSource source, const LoadedKernel& plain) {
  const std::scoped_lock lock(mutex_);
  auto& kernel = kernels_[source.text];
  if (!kernel) kernel = plain.beside(std::move(source));
  return kernel;
}

}  // namespace stencil_tune
