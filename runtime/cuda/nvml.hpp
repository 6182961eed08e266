// Clocks and throttle reasons while measuring, from NVIDIA's management library where it is installed.
#pragma once

#include "runtime/cuda/shared_library.hpp"

#include <optional>
#include <string>

namespace stencil_tune {

struct ClockReading {
  int sm_clock_mhz = 0;      ///< 0: unknown
  int memory_clock_mhz = 0;  ///< 0: unknown
  int temperature_c = 0;     ///< 0: unknown
  int power_w = 0;           ///< 0: unknown
  std::string throttle;      ///< "power cap, thermal slowdown"; empty when none or unknown
};

/// The library, opened for one GPU.
class Nvml {
 public:
  /// Nothing where the library or the GPU is not there: it is optional everywhere. uuid: "GPU-...".
  static std::optional<Nvml> open(const std::string& uuid);

  Nvml(Nvml&& other) noexcept;
  Nvml& operator=(Nvml&&) = delete;
  ~Nvml();

  ClockReading read() const;

 private:
  struct Device;
  Nvml(SharedLibrary library, Device* device) : library_(std::move(library)), device_(device) {}

  SharedLibrary library_;
  Device* device_;
};

/// The driver's bit mask of throttle reasons in words; idle clocks and application settings are not throttling.
std::string throttle_reasons(unsigned long long mask);

}  // namespace stencil_tune
