// Memory that lies against pages which no one may touch.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stencil_tune {

/// Bytes between two inaccessible pages. What does not fill whole pages leaves slack on one side, which holds the
/// poison byte and is checked afterwards. All bytes of poison are a NaN in every element type.
class GuardedArray {
 public:
  enum class Placement {
    against_end,    ///< the first byte past the array faults
    against_start,  ///< the last byte before the array faults
  };

  static constexpr unsigned char kPoison = 0xFF;

  /// `alignment`: a power of two; against_end leaves up to alignment - 1 bytes of slack past the end to keep it.
  GuardedArray(std::size_t bytes, std::size_t alignment, Placement placement);
  ~GuardedArray();
  GuardedArray(GuardedArray&& other) noexcept;
  GuardedArray& operator=(GuardedArray&& other) noexcept;

  std::byte* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return bytes_; }
  std::uint64_t address() const noexcept { return reinterpret_cast<std::uint64_t>(data_); }

  void poison() noexcept;  ///< fills the array
  bool slack_intact() const noexcept;
  void make_read_only() noexcept;  ///< from now on, writes fault

  /// Whether the address lies in the array, its slack or its guard pages.
  bool encloses(std::uintptr_t address) const noexcept;

 private:
  void release() noexcept;

  std::byte* mapping_ = nullptr;
  std::size_t mapped_ = 0;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace stencil_tune
