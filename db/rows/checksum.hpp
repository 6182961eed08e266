// A checksum over the content of a row.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stencil_tune {

/// XXH3 over values in order; each is delimited, so that neighbours cannot trade bytes.
class Checksum {
 public:
  void add(std::string_view value);
  void add(std::int64_t value);
  void add(int value) { add(static_cast<std::int64_t>(value)); }
  void add(bool value) { add(static_cast<std::int64_t>(value)); }
  void add(double value);

  /// Signed, as SQLite's integers are.
  std::int64_t value() const noexcept;

 private:
  std::string bytes_;
};

}  // namespace stencil_tune
