// The problem's reference after several sweeps, for kernels that fuse steps.
#pragma once

#include "tuner/verify/device_reference.hpp"

#include <map>

namespace stencil_tune {

/// Keeps as many of them as memory allows: each is computed from the one a sweep before it.
class SweepReferences {
 public:
  /// `cells`: of the problem's updated box.
  SweepReferences(const CheckKernels& kernels, const Problem& problem, const FieldSet& fields, const CheckCase& how,
                  std::int64_t cells);

  const CheckCase& how() const noexcept { return how_; }

  /// The only output after that many sweeps. The fields' inputs must be as the case says.
  /// Throws Error(exceeds_device_memory).
  const DeviceReference& after(int sweeps);

 private:
  void make_room(int kept);

  const CheckKernels& kernels_;
  const Problem& problem_;
  const FieldSet& fields_;
  const CheckCase& how_;
  std::int64_t cells_;
  std::map<int, DeviceReference> known_;  ///< by sweeps
};

}  // namespace stencil_tune
