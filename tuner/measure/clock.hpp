// Wall-clock time, as a seam: tests move it by hand.
#pragma once

#include <chrono>

namespace stencil_tune {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual double seconds() const = 0;  ///< since some fixed moment; never goes back
};

class SteadyClock : public Clock {
 public:
  double seconds() const override {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
};

}  // namespace stencil_tune
