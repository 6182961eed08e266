// A stencil's problem on one GPU: its fields, and the verification of its kernels.
#pragma once

#include "runtime/cuda/device_facts.hpp"
#include "tuner/measure/launcher.hpp"
#include "tuner/subject/on_device.hpp"
#include "tuner/verify/field_set.hpp"
#include "tuner/verify/verification.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace stencil_tune {

class StencilOnDevice final : public SubjectOnDevice {
 public:
  /// The problem must outlive it. beside: see StencilSubject. Throws Error: exceeds_device_memory, nothing_to_update.
  StencilOnDevice(Driver& driver, const DeviceFacts& device, const Problem& problem, int beside, std::uint64_t seed,
                  CUstream_st* stream);

  std::unique_ptr<CandidateOnDevice> load(const std::string& code, const CompiledKernel& kernel) override;
  CopyBuffers copy_buffers() override;
  void fill_for_timing() override;

 private:
  class LoadedCandidate;

  /// A grid of the same problem. Its launches run beside those of the first one, which are on the session's stream.
  struct Beside {
    Stream stream;
    Event done;
    FieldSet fields;
  };

  Driver& driver_;
  Limits limits_;
  const Problem& problem_;
  CUstream_st* stream_;
  std::vector<double> coefficients_;
  FieldSet fields_;
  Verification verification_;
  Event begun_;
  std::vector<Beside> beside_;
};

}  // namespace stencil_tune
