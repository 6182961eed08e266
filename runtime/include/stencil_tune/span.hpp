// Elements that lie in a row, seen but not owned: what std::span is, for callers in C++17 too.
#pragma once

#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>

namespace stencil_tune {

/// A pointer and a count. Made of an array, a std::vector, std::array or std::span, or anything else with data() and
/// size(), whose elements must outlive it. Goes where a std::span is expected.
template <class T>
class Span {
  template <class Range>
  using ElementOf = std::remove_pointer_t<decltype(std::data(std::declval<Range&>()))>;

 public:
  constexpr Span() noexcept = default;                                              ///< empty
  constexpr Span(T* data, std::size_t size) noexcept : data_(data), size_(size) {}  ///< `size` elements
  template <class Range, class = std::enable_if_t<std::is_convertible_v<ElementOf<Range> (*)[], T (*)[]>>>
  constexpr Span(Range&& range) noexcept : data_(std::data(range)), size_(std::size(range)) {}  ///< all of a container

  constexpr T* data() const noexcept { return data_; }                        ///< the first element
  constexpr std::size_t size() const noexcept { return size_; }               ///< how many
  constexpr bool empty() const noexcept { return size_ == 0; }                ///< whether there are none
  constexpr T* begin() const noexcept { return data_; }                       ///< for loops
  constexpr T* end() const noexcept { return data_ + size_; }                 ///< one beyond the last
  constexpr T& operator[](std::size_t i) const noexcept { return data_[i]; }  ///< unchecked

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// The elements of a vector or array as raw bytes: for DeviceField::copy_from().
template <class Range>
Span<const std::byte> as_bytes(const Range& elements) {
  return {reinterpret_cast<const std::byte*>(std::data(elements)), std::size(elements) * sizeof(*std::data(elements))};
}

/// The same to write to: for DeviceField::copy_to().
template <class Range>
Span<std::byte> as_writable_bytes(Range& elements) {
  return {reinterpret_cast<std::byte*>(std::data(elements)), std::size(elements) * sizeof(*std::data(elements))};
}

}  // namespace stencil_tune
