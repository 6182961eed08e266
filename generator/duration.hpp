// Times as people write them.
#pragma once

#include <string_view>

namespace stencil_tune {

/// "60", "60s", "500ms", "2m", "1h30m" in seconds. Throws Error(invalid_argument) for zero, what is no time, and more
/// than a year.
double parse_duration(std::string_view text);

}  // namespace stencil_tune
