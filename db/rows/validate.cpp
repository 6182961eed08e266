#include "db/rows/validate.hpp"

#include "db/rows/fields.hpp"
#include "generator/printable.hpp"
#include "generator/stencil/problem.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace stencil_tune {
namespace {

constexpr std::size_t kLongestText = 4096;
constexpr std::size_t kLongestMessage = 1 << 20;  // compiler logs

void require(bool holds, std::string_view field, std::string_view rule) {
  if (!holds) throw Error(ErrorCode::invalid_argument, fmt::format("trial: {} {}", field, rule));
}

void validate_extents(const ProblemKey& problem) {
  const Extents& extents = problem.extents;
  require(extents.rank >= 1 && extents.rank <= kMaxRank, "rank", "must be 1, 2 or 3");
  std::int64_t rows = 1;
  for (int axis = 0; axis < kMaxRank; ++axis) {
    const std::int64_t n = extents.n[static_cast<std::size_t>(axis)];
    require(n >= 1, "extents", "must be at least 1");
    require(axis < extents.rank || n == 1, "extents", "beyond the rank must be 1");
    if (axis == 0) continue;
    require(n <= std::numeric_limits<std::int64_t>::max() / rows, "extents", "must multiply to a 64-bit number");
    rows *= n;
  }
  const std::int64_t pitch = problem.pitch == 0 ? extents.n[0] : problem.pitch;
  require(pitch >= extents.n[0], "pitch", "must not be below nx");
  require(pitch <= std::numeric_limits<std::int64_t>::max() / rows, "extents", "must multiply to a 64-bit number");
}

void validate_timing(const TrialRecord& trial) {
  const Timing& timing = trial.timing;
  if (trial.outcome != Outcome::ok) return;
  require(timing.low_ms <= timing.median_ms && timing.median_ms <= timing.high_ms, "median_ms",
          "must lie within low_ms..high_ms");
  require(timing.median_ms > 0, "median_ms", "of an ok trial must be above 0");
  require(trial.rate > 0, "rate", "of an ok trial must be above 0");
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_key(std::string_view text) {
  return text.size() == 32 &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); });
}

}  // namespace

bool is_utc_time(std::string_view text) {
  constexpr std::string_view kShape = "0000-00-00T00:00:00";
  if (text.size() <= kShape.size() || text.back() != 'Z') return false;
  const auto fits = [](char shape, char c) { return shape == '0' ? is_digit(c) : shape == c; };
  if (!std::equal(kShape.begin(), kShape.end(), text.begin(), fits)) return false;
  const std::string_view fraction = text.substr(kShape.size(), text.size() - kShape.size() - 1);
  return fraction.empty() || (fraction[0] == '.' && fraction.size() >= 2 && fraction.size() <= 10 &&
                              std::all_of(fraction.begin() + 1, fraction.end(), is_digit));
}

void validate(const TrialRecord& trial) {
  require(!trial.problem.stencil_key.empty(), "stencil_key", "must not be empty");
  require(!trial.platform.gpu.empty(), "gpu", "must not be empty");
  require(!trial.code.empty(), "code", "must not be empty");
  require(trial.problem.steps >= 1, "steps", "must be at least 1");
  validate_extents(trial.problem);
  visit_trial(trial, [](std::string_view field, const auto& value) {
    using Value = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_same_v<Value, double>) {
      const bool unknown = field == "sharpness" && value == -1;
      require(unknown || (std::isfinite(value) && value >= 0), field, "must be finite and not negative");
    } else if constexpr (std::is_same_v<Value, std::string>) {
      const std::size_t longest = field == "message" ? kLongestMessage : kLongestText;
      require(value.size() <= longest, field, "is too long");
    } else if constexpr (std::is_integral_v<Value>) {
      const bool whole_step = field == "stage" && static_cast<long long>(value) == kWholeStep;
      require(whole_step || value >= Value{0}, field, "must not be negative");
    }
  });
  require(trial.occupancy <= 1, "occupancy", "must be at most 1");
  require(trial.sharpness <= 1, "sharpness", "must be at most 1");
  validate_timing(trial);
}

void validate_foreign(const TrialRecord& trial) {
  validate(trial);
  require(is_key(trial.problem.stencil_key), "stencil_key", "must be 32 hexadecimal digits");
  require(is_utc_time(trial.created_at), "created_at", "must be a UTC time like 2026-01-31T12:00:00Z");
  visit_trial(trial, [](std::string_view field, const auto& value) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, std::string>) {
      require(field == "message" || printable(value) == value, field, "must not hold control characters");
    }
  });
}

}  // namespace stencil_tune
