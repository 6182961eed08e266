// Time on the device, between two events on a stream.
#pragma once

#include "runtime/cuda/module.hpp"

namespace stencil_tune {

class Stopwatch {
 public:
  Stopwatch(Driver& driver, CUstream_st* stream) : stream_(stream), start_(driver), stop_(driver) {}

  /// Milliseconds that what `enqueue` puts on the stream takes; waits for it.
  template <class Enqueue>
  double time(const Enqueue& enqueue) const {
    start_.record(stream_);
    enqueue();
    stop_.record(stream_);
    stop_.synchronize();
    return stop_.elapsed_since(start_);
  }

 private:
  CUstream_st* stream_;
  Event start_;
  Event stop_;
};

}  // namespace stencil_tune
