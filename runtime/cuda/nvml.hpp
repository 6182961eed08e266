// Clocks, throttle reasons and energy while measuring, from NVIDIA's management library where it is installed.
#pragma once

#include "runtime/cuda/shared_library.hpp"

#include <memory>
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

/// What a GPU tells of itself, as a seam: tests make it up.
class GpuSensors {
 public:
  virtual ~GpuSensors() = default;
  virtual ClockReading read() const = 0;
  /// Energy used since some fixed moment; nothing where the GPU has no counter. It goes on in steps of up to 100 ms.
  virtual std::optional<double> joules() const = 0;
};

/// The library, opened for one GPU.
class Nvml : public GpuSensors {
 public:
  /// Nothing where the library or the GPU is not there: it is optional everywhere. uuid: "GPU-...".
  static std::optional<Nvml> open(const std::string& uuid);

  Nvml(Nvml&& other) noexcept;
  Nvml& operator=(Nvml&&) = delete;
  ~Nvml() override;

  ClockReading read() const override;
  std::optional<double> joules() const override;

 private:
  struct Device;
  Nvml(SharedLibrary library, Device* device) : library_(std::move(library)), device_(device) {}

  SharedLibrary library_;
  Device* device_;
};

/// Those of this machine's GPU; null where Nvml::open gives nothing.
std::unique_ptr<GpuSensors> open_sensors(const std::string& uuid);

/// The reading with the lower SM clock; one without a clock is none.
const ClockReading& slower(const ClockReading& a, const ClockReading& b);

/// The driver's bit mask of throttle reasons in words; idle clocks and application settings are not throttling.
std::string throttle_reasons(unsigned long long mask);

}  // namespace stencil_tune
