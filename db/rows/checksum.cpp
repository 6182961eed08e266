#include "db/rows/checksum.hpp"

#include <xxhash.h>

#include <bit>

namespace stencil_tune {

void Checksum::add(std::string_view value) {
  add(static_cast<std::int64_t>(value.size()));
  bytes_ += value;
}

void Checksum::add(std::int64_t value) {
  // Little-endian on every machine: the file may travel.
  const auto bits = static_cast<std::uint64_t>(value);
  for (int shift = 0; shift < 64; shift += 8) bytes_ += static_cast<char>((bits >> shift) & 0xff);
}

void Checksum::add(double value) {
  // SQLite stores -0.0 as 0.0; adding 0.0 does the same here.
  add(std::bit_cast<std::int64_t>(value + 0.0));
}

std::int64_t Checksum::value() const noexcept {
  return static_cast<std::int64_t>(XXH3_64bits(bytes_.data(), bytes_.size()));
}

}  // namespace stencil_tune
