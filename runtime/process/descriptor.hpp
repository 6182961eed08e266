// Owns an open file descriptor.
#pragma once

#include <utility>

#include <unistd.h>

namespace stencil_tune {

class Descriptor {
 public:
  explicit Descriptor(int descriptor = -1) noexcept : descriptor_(descriptor) {}
  ~Descriptor() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Descriptor(Descriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }

  /// Negative: nothing is open.
  int get() const noexcept { return descriptor_; }

 private:
  int descriptor_;
};

}  // namespace stencil_tune
