// The problem's reference after one sweep and after several, for kernels that fuse steps.
#pragma once

#include "tuner/verify/device_reference.hpp"

#include <map>

namespace stencil_tune {

/// Keeps as many of them as memory allows: each is computed from the one a sweep before it.
class SweepReferences {
 public:
  /// `first`: all outputs after one sweep, output after output from cell 0 on; must outlive this.
  SweepReferences(const CheckKernels& kernels, const Problem& problem, const FieldSet& fields, const CheckCase& how,
                  const DeviceReference& first);

  /// The only output after that many sweeps. The fields' inputs must be as the case says.
  /// Throws Error(exceeds_device_memory).
  const DeviceReference& after(int sweeps);

 private:
  void make_room(int kept);

  const CheckKernels& kernels_;
  const Problem& problem_;
  const FieldSet& fields_;
  const CheckCase& how_;
  const DeviceReference& first_;
  std::map<int, DeviceReference> later_;  ///< by sweeps, from 2 on
};

}  // namespace stencil_tune
