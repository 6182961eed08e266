// The launcher of an exported file, called without a GPU: what it would launch is compared with what the library would.
#pragma once

#include "generator/candidates/tuning.hpp"
#include "generator/stencil/problem.hpp"

#include <memory>
#include <string>

namespace stencil_tune {

/// Compiled by nvcc against launch_recorder.cpp and loaded into this process. Found from the repository's root.
class ExportedLauncher {
 public:
  /// Throws std::runtime_error with what nvcc says.
  ExportedLauncher(const Problem& problem, const Tuning& tuning);

  /// What is wrong with its answer for that grid, empty when all is right: one launch, with geometry, shared memory,
  /// arguments and tensor maps to the byte; none on a grid with nothing to update; an error and none where the
  /// candidate is not legal, or needs wider indices than it was exported with.
  std::string complaint(const Problem& grid) const;

 private:
  Tuning tuning_;
  bool wide_index_;
  std::shared_ptr<void> library_;
};

}  // namespace stencil_tune
