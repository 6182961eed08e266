// A GPU's context on whatever thread a call comes from.
#pragma once

#include "runtime/cuda/driver.hpp"
#include "stencil_tune/error.hpp"

#include <atomic>

namespace stencil_tune {

/// While it lives, a context on the GPU is current: the one that is, or the GPU's primary one, which is kept in
/// `primary` until the process ends, as the CUDA runtime does.
class OnGpu {
 public:
  OnGpu(Driver& driver, int device, std::atomic<CUctx_st*>& primary)
      : driver_(driver), before_(driver.current_context()) {
    if (before_ != nullptr && driver.current_device() == device) return;
    CUctx_st* context = primary;
    if (context == nullptr) primary = context = driver.retain_primary_context(device);
    driver.set_current_context(context);
    changed_ = true;
  }
  OnGpu(const OnGpu&) = delete;
  OnGpu& operator=(const OnGpu&) = delete;
  ~OnGpu() {
    if (!changed_) return;
    try {
      driver_.set_current_context(before_);
    } catch (const Error&) {
      // The context that was current before is gone: whoever needs one has to make it.
    }
  }

 private:
  Driver& driver_;
  CUctx_st* before_;
  bool changed_ = false;
};

}  // namespace stencil_tune
