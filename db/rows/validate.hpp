// What a trial must be like to be stored.
#pragma once

#include "db/records.hpp"

#include <string_view>

namespace stencil_tune {

/// Throws Error(invalid_argument) naming the field: extents that fit the rank, a pitch that fits the row, finite and
/// ordered times, finite rates, shares of a whole, texts of sane length.
void validate(const TrialRecord& trial);

/// For trials from elsewhere also: a stencil key, a UTC time, printable texts.
void validate_foreign(const TrialRecord& trial);

/// "2026-01-31T12:00:00Z", with up to nine digits of a second after a dot.
bool is_utc_time(std::string_view text);

}  // namespace stencil_tune
