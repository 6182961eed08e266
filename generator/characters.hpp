// ASCII, whatever the locale.
#pragma once

namespace stencil_tune {

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

}  // namespace stencil_tune
