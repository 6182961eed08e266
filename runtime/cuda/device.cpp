#include "runtime/cuda/device.hpp"

#include "runtime/cuda/device_facts.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <charconv>

namespace stencil_tune {

namespace {

std::string format_uuid(const std::array<std::uint8_t, 16>& bytes) {
  std::string text = "GPU-";
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", bytes[i]);
  }
  return text;
}

Limits read_limits(Driver& driver, int device) {
  const auto ask = [&](DeviceAttribute attribute) { return driver.attribute(device, attribute); };
  Limits limits;
  limits.compute_capability =
      10 * ask(DeviceAttribute::compute_capability_major) + ask(DeviceAttribute::compute_capability_minor);
  limits.max_threads_per_block = ask(DeviceAttribute::max_threads_per_block);
  limits.registers_per_sm = ask(DeviceAttribute::max_registers_per_multiprocessor);
  limits.max_threads_per_sm = ask(DeviceAttribute::max_threads_per_multiprocessor);
  limits.max_blocks_per_sm = ask(DeviceAttribute::max_blocks_per_multiprocessor);
  limits.multiprocessors = ask(DeviceAttribute::multiprocessors);
  limits.shared_per_block = static_cast<std::size_t>(ask(DeviceAttribute::max_shared_per_block_optin));
  limits.shared_per_sm = static_cast<std::size_t>(ask(DeviceAttribute::max_shared_per_multiprocessor));
  return limits;
}

std::string list_for_people(const std::vector<DeviceFacts>& devices) {
  std::string text;
  for (const DeviceFacts& device : devices)
    text += fmt::format("\n  {}  {}  {}", device.ordinal, device.name, device.uuid);
  return text;
}

}  // namespace

DeviceFacts read_device(Driver& driver, int device) {
  DeviceFacts facts;
  facts.ordinal = device;
  facts.name = driver.device_name(device);
  facts.uuid = format_uuid(driver.device_uuid(device));
  facts.limits = read_limits(driver, device);
  facts.architecture = fmt::format("sm_{}", facts.limits.compute_capability);
  facts.multiprocessors = driver.attribute(device, DeviceAttribute::multiprocessors);
  facts.memory_bytes = driver.device_memory(device);
  facts.l2_bytes = static_cast<std::size_t>(driver.attribute(device, DeviceAttribute::l2_bytes));
  facts.clock_khz = driver.attribute(device, DeviceAttribute::clock_khz);
  facts.memory_clock_khz = driver.attribute(device, DeviceAttribute::memory_clock_khz);
  facts.memory_bus_bits = driver.attribute(device, DeviceAttribute::memory_bus_bits);
  facts.driver = format_cuda_version(driver.version());
  return facts;
}

std::vector<DeviceFacts> list_devices(Driver& driver) {
  std::vector<DeviceFacts> devices;
  const int count = driver.device_count();
  for (int device = 0; device < count; ++device) devices.push_back(read_device(driver, device));
  return devices;
}

DeviceFacts find_device(Driver& driver, std::string_view ordinal_or_uuid) {
  const std::vector<DeviceFacts> devices = list_devices(driver);
  if (devices.empty()) {
    throw Error(ErrorCode::no_device, "the CUDA driver sees no GPU; check nvidia-smi and CUDA_VISIBLE_DEVICES");
  }

  int ordinal = -1;
  const char* end = ordinal_or_uuid.data() + ordinal_or_uuid.size();
  const auto parsed = std::from_chars(ordinal_or_uuid.data(), end, ordinal);
  const bool is_number = parsed.ec == std::errc() && parsed.ptr == end;

  const DeviceFacts* found = nullptr;
  for (const DeviceFacts& device : devices) {
    const bool matches =
        is_number ? device.ordinal == ordinal : !ordinal_or_uuid.empty() && device.uuid.starts_with(ordinal_or_uuid);
    if (!matches) continue;
    if (found != nullptr) {
      throw Error(ErrorCode::no_device, fmt::format("'{}' begins the UUID of more than one GPU; give more of it:{}",
                                                    ordinal_or_uuid, list_for_people(devices)));
    }
    found = &device;
  }
  if (found == nullptr) {
    throw Error(ErrorCode::no_device,
                fmt::format("no GPU '{}'; this process sees:{}", ordinal_or_uuid, list_for_people(devices)));
  }
  return *found;
}

std::string format_cuda_version(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

std::vector<DeviceFacts> list_devices() { return list_devices(cuda_driver()); }

DeviceFacts find_device(std::string_view ordinal_or_uuid) { return find_device(cuda_driver(), ordinal_or_uuid); }

}  // namespace stencil_tune
