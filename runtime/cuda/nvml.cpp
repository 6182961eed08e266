#include "runtime/cuda/nvml.hpp"

#include <array>
#include <utility>

namespace stencil_tune {

namespace {

// The part of nvml.h that is used here; its C interface is stable and the header is often not installed.
using Status = int;
constexpr Status kSuccess = 0;
constexpr unsigned kClockSm = 1;
constexpr unsigned kClockMemory = 2;
constexpr unsigned kTemperatureGpu = 0;

struct Reason {
  unsigned long long bit;
  const char* words;
};
constexpr std::array kReasons{
    Reason{0x004, "power cap"},
    Reason{0x008, "hardware slowdown"},
    Reason{0x010, "sync boost"},
    Reason{0x020, "software thermal slowdown"},
    Reason{0x040, "hardware thermal slowdown"},
    Reason{0x080, "power brake"},
};

template <class... Parameters>
bool call(const SharedLibrary& library, const char* symbol, Parameters... parameters) {
  const auto function = reinterpret_cast<Status (*)(Parameters...)>(library.find(symbol));
  return function != nullptr && function(parameters...) == kSuccess;
}

}  // namespace

std::string throttle_reasons(unsigned long long mask) {
  std::string text;
  for (const Reason& reason : kReasons) {
    if ((mask & reason.bit) == 0) continue;
    if (!text.empty()) text += ", ";
    text += reason.words;
  }
  return text;
}

std::optional<Nvml> Nvml::open(const std::string& uuid) {
  auto library = SharedLibrary::open("libnvidia-ml.so.1");
  if (!library || !call(*library, "nvmlInit_v2")) return std::nullopt;
  Device* device = nullptr;
  if (!call(*library, "nvmlDeviceGetHandleByUUID", uuid.c_str(), &device)) {
    call(*library, "nvmlShutdown");
    return std::nullopt;
  }
  return Nvml(std::move(*library), device);
}

std::unique_ptr<GpuSensors> open_sensors(const std::string& uuid) {
  auto nvml = Nvml::open(uuid);
  return nvml ? std::make_unique<Nvml>(std::move(*nvml)) : nullptr;
}

const ClockReading& slower(const ClockReading& a, const ClockReading& b) {
  if (a.sm_clock_mhz == 0) return b;
  return b.sm_clock_mhz > 0 && b.sm_clock_mhz < a.sm_clock_mhz ? b : a;
}

Nvml::Nvml(Nvml&& other) noexcept
    : library_(std::move(other.library_)), device_(std::exchange(other.device_, nullptr)) {}

Nvml::~Nvml() {
  if (device_ != nullptr) call(library_, "nvmlShutdown");
}

ClockReading Nvml::read() const {
  ClockReading reading;
  unsigned value = 0;
  if (call(library_, "nvmlDeviceGetClockInfo", device_, kClockSm, &value))
    reading.sm_clock_mhz = static_cast<int>(value);
  if (call(library_, "nvmlDeviceGetClockInfo", device_, kClockMemory, &value)) {
    reading.memory_clock_mhz = static_cast<int>(value);
  }
  if (call(library_, "nvmlDeviceGetTemperature", device_, kTemperatureGpu, &value)) {
    reading.temperature_c = static_cast<int>(value);
  }
  if (call(library_, "nvmlDeviceGetPowerUsage", device_, &value)) reading.power_w = static_cast<int>(value / 1000);
  unsigned long long mask = 0;
  if (call(library_, "nvmlDeviceGetCurrentClocksThrottleReasons", device_, &mask)) {
    reading.throttle = throttle_reasons(mask);
  }
  return reading;
}

std::optional<double> Nvml::joules() const {
  unsigned long long millijoules = 0;
  if (!call(library_, "nvmlDeviceGetTotalEnergyConsumption", device_, &millijoules)) return std::nullopt;
  return static_cast<double>(millijoules) / 1e3;
}

}  // namespace stencil_tune
