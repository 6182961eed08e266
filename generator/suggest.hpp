// "Did you mean ...?": the nearest of a list of names.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace stencil_tune {

/// Insertions, deletions, substitutions and swaps of neighbours that turn one text into the other, case ignored.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The name nearest to `text`, or empty when none is near enough to be what was meant.
std::string nearest_name(std::string_view text, const std::vector<std::string>& names);

/// "; did you mean 'star3d1r'?", or empty: to be put at the end of a message.
std::string did_you_mean(std::string_view text, const std::vector<std::string>& names);

}  // namespace stencil_tune
