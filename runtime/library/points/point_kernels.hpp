// The kernels that runs with points need beside those of runs without.
#pragma once

#include "generator/candidates/shape.hpp"
#include "runtime/library/launch/loaded_kernel.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace stencil_tune {

/// What templates/points/points_alone.cuh does.
enum class PointTask { step, sum };

/// The kernel of the task for an element type.
KernelSource point_kernel_source(PointTask task, ElementType type);

/// Thread-safe. Each kernel is made when it is first asked for, and kept.
class PointKernels {
 public:
  /// A candidate's kernel with points. plain: the same without, for the same GPU.
  std::shared_ptr<LoadedKernel> fused(const Candidate& candidate, const LoadedKernel& plain);

  /// plain: any kernel for the same GPU.
  std::shared_ptr<LoadedKernel> alone(PointTask task, ElementType type, const LoadedKernel& plain);

 private:
  std::shared_ptr<LoadedKernel> find_or_make(KernelSource source, const LoadedKernel& plain);

  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<LoadedKernel>> kernels_;  ///< by their source
};

}  // namespace stencil_tune
