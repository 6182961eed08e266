#include "tuner/executor/guarded_array.hpp"

#include "stencil_tune/error.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>
#include <algorithm>
#include <cstring>
#include <utility>

namespace stencil_tune {
namespace {

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

std::size_t round_up(std::size_t value, std::size_t multiple) { return (value + multiple - 1) / multiple * multiple; }

// Wide enough that a kernel which is off by a few rows lands in the guard, not in a neighbour.
constexpr std::size_t kGuardPages = 16;

}  // namespace

GuardedArray::GuardedArray(std::size_t bytes, std::size_t alignment, Placement placement) : bytes_(bytes) {
  const std::size_t guard = kGuardPages * page_bytes();
  const std::size_t usable = round_up(std::max<std::size_t>(bytes, 1), page_bytes());
  mapped_ = usable + 2 * guard;
  void* mapping = ::mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) {
    throw Error(ErrorCode::invalid_argument, fmt::format("cannot map {} bytes for a guarded array", mapped_));
  }
  mapping_ = static_cast<std::byte*>(mapping);
  std::byte* first = mapping_ + guard;
  if (::mprotect(first, usable, PROT_READ | PROT_WRITE) != 0) {
    release();
    throw Error(ErrorCode::internal, "cannot open the pages of a guarded array");
  }
  std::memset(first, kPoison, usable);
  data_ = placement == Placement::against_start ? first : first + usable - round_up(bytes, alignment);
}

GuardedArray::~GuardedArray() { release(); }

GuardedArray::GuardedArray(GuardedArray&& other) noexcept
    : mapping_(std::exchange(other.mapping_, nullptr)),
      mapped_(std::exchange(other.mapped_, 0)),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)) {}

GuardedArray& GuardedArray::operator=(GuardedArray&& other) noexcept {
  GuardedArray taken(std::move(other));
  std::swap(mapping_, taken.mapping_);
  std::swap(mapped_, taken.mapped_);
  std::swap(data_, taken.data_);
  std::swap(bytes_, taken.bytes_);
  return *this;
}

void GuardedArray::release() noexcept {
  if (mapping_) ::munmap(mapping_, mapped_);
  mapping_ = nullptr;
}

void GuardedArray::poison() noexcept { std::memset(data_, kPoison, bytes_); }

bool GuardedArray::slack_intact() const noexcept {
  const std::size_t guard = kGuardPages * page_bytes();
  const auto is_poison = [](std::byte value) { return value == std::byte{kPoison}; };
  return std::all_of(mapping_ + guard, data_, is_poison) &&
         std::all_of(data_ + bytes_, mapping_ + mapped_ - guard, is_poison);
}

void GuardedArray::make_read_only() noexcept {
  const std::size_t guard = kGuardPages * page_bytes();
  ::mprotect(mapping_ + guard, mapped_ - 2 * guard, PROT_READ);
}

bool GuardedArray::encloses(std::uintptr_t address) const noexcept {
  const auto first = reinterpret_cast<std::uintptr_t>(mapping_);
  return address >= first && address < first + mapped_;
}

}  // namespace stencil_tune
