// Arrays that go to the device together, in one allocation.
#pragma once

#include "runtime/cuda/driver.hpp"

#include <cstddef>
#include <cstring>
#include <vector>

namespace stencil_tune {

class DeviceTables {
 public:
  /// Returns the bytes from the start of the allocation to the array's.
  template <class Type>
  std::size_t add(const std::vector<Type>& values) {
    const std::size_t at = reserve(0);
    bytes_.resize(at + values.size() * sizeof(Type));
    if (!values.empty()) std::memcpy(bytes_.data() + at, values.data(), values.size() * sizeof(Type));
    reserved_ = bytes_.size();
    return at;
  }

  /// The same for an array that is written on the device; comes after all that are added.
  std::size_t reserve(std::size_t bytes) {
    const std::size_t at = (reserved_ + kAlignment - 1) / kAlignment * kAlignment;
    reserved_ = at + bytes;
    return at;
  }

  std::size_t bytes() const { return reserved_; }

  /// To an allocation of bytes() bytes. Waits until it is done.
  void copy_to(Driver& driver, DevicePointer memory) const {
    if (bytes_.empty()) return;
    driver.copy_to_device(memory, bytes_.data(), bytes_.size(), nullptr);
    driver.synchronize_stream(nullptr);
  }

 private:
  static constexpr std::size_t kAlignment = 256;

  std::vector<std::byte> bytes_;
  std::size_t reserved_ = 0;
};

}  // namespace stencil_tune
