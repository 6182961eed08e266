// A subject on one GPU: its memory, its candidates, and whether they are right.
#pragma once

#include "generator/candidates/limits.hpp"
#include "runtime/compile/compiled_kernel.hpp"
#include "runtime/cuda/module.hpp"
#include "tuner/verify/sharpness.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace stencil_tune {

/// A loaded kernel. Its subject must outlive it.
class CandidateOnDevice {
 public:
  virtual ~CandidateOnDevice() = default;

  /// Why this device cannot run it; nothing when it can. Comes before all others.
  virtual std::optional<std::string> exceeded_limit() = 0;

  /// Resident warps over the SM's maximum, 0..1.
  virtual double occupancy() const = 0;

  /// What is wrong, in a sentence; nothing when all is right. Throws Error when the kernel cannot be launched or breaks
  /// the context.
  virtual std::optional<std::string> verify() = 0;

  /// Which cells of a grid too large to compare all of for each candidate.
  enum class Cells { some, all };

  /// The same after so many launches: threads that race are not wrong every time.
  virtual std::optional<std::string> verify_launches(int launches, Cells cells) = 0;

  /// How sharp the checks are, right after they were made.
  virtual Sharpness sharpness() = 0;

  /// `count` launches one after the other, asynchronous; count is best a multiple of the period.
  virtual void launch(int count) = 0;
  virtual int period() { return 1; }
  virtual int sweeps() const { return 1; }  ///< sweeps that a launch makes
};

class SubjectOnDevice {
 public:
  virtual ~SubjectOnDevice() = default;

  /// Throws Error(launch_failed) where the driver refuses the binary.
  virtual std::unique_ptr<CandidateOnDevice> load(const std::string& code, const CompiledKernel& kernel) = 0;

  /// What the copy ceiling is measured with, before the first candidate.
  struct CopyBuffers {
    DevicePointer a = 0, b = 0;
    std::size_t bytes = 0;  ///< size of each buffer
  };
  virtual CopyBuffers copy_buffers() = 0;

  virtual void fill_for_timing() = 0;
};

/// How candidates find their exceeded_limit() and occupancy().
std::optional<std::string> exceeded_limit(Module& module, const LaunchGeometry& geometry);
double occupancy(const Module& module, const LaunchGeometry& geometry, const Limits& limits);

}  // namespace stencil_tune
