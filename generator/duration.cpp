#include "generator/duration.hpp"

#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace stencil_tune {

double parse_duration(std::string_view text) {
  struct Unit {
    std::string_view suffix;
    double seconds;
  };
  constexpr std::array<Unit, 5> kUnits{{{"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}, {"", 1}}};
  constexpr double kLongest = 366 * 24 * 3600.0;
  const auto reject = [&](std::string_view why) {
    throw Error(ErrorCode::invalid_argument, fmt::format("a budget of '{}' {}", text, why));
  };
  constexpr std::string_view kNoTime =
      "is no time to spend: give a number above 0 with ms, s, m or h, such as 60s or 1h30m";

  double total = 0;
  for (std::string_view rest = text; !rest.empty() || total == 0;) {
    double value = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    const std::string_view suffix = rest.substr(0, rest.find_first_not_of("abcdefghijklmnopqrstuvwxyz"));
    const auto unit = std::find_if(kUnits.begin(), kUnits.end(), [&](const Unit& u) { return u.suffix == suffix; });
    if (error == std::errc::result_out_of_range) reject("is longer than a year");
    if (error != std::errc{} || unit == kUnits.end() || !(value > 0)) reject(kNoTime);
    rest.remove_prefix(suffix.size());
    if (suffix.empty() && (total > 0 || !rest.empty())) reject(kNoTime);  // "1h30": thirty of what?
    total += value * unit->seconds;
  }
  if (!(total <= kLongest)) reject("is longer than a year: for a search without an end there is --effort exhaustive");
  return total;
}

}  // namespace stencil_tune
