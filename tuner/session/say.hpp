// Writes what people read beside the results.
#pragma once

#include <cstdio>
#include <string_view>

namespace stencil_tune {

/// Writes the text at once. A stream that takes nothing more (a full disk, a terminal that is gone) ends no work:
/// std::ferror(out) tells afterwards.
void say(std::FILE* out, std::string_view text) noexcept;

}  // namespace stencil_tune
