// Stencils from text. docs/stencils.md describes the language.
#pragma once

#include "stencil_tune/stencil.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace stencil_tune {

/// A stencil from a one-liner: "u_next = u + alpha * laplacian(u); alpha = 0.1", or the right side alone.
/// A clause whose right side is made of numbers alone declares a coefficient; the others are the outputs of one stage.
/// Names that are declared nowhere are fields. A kernel takes arrays along axes or time first, then other fields that
/// are read, in the order of the text, then those that are written: here u, then u_next. rank: axes, 1 to 3. Throws
/// Error(malformed_definition) that shows the place, Error(invalid_argument) for another rank.
Stencil parse_stencil(std::string_view text, int rank = kMaxRank);

/// A stencil from the text of a TOML definition. `source` names the text in messages; it is also the stencil's name
/// where the text gives none.
/// Throws Error(malformed_definition) with line and column, the line itself, and where it can a suggestion.
Stencil parse_definition(std::string_view text, std::string_view source);

/// A stencil by name: a built-in, else an equation of the corpus: "heat3d", "star3d2r", "yee3d", "gray_scott2d".
/// Throws Error(unknown_name) with the nearest name.
Stencil find_stencil(std::string_view name);
/// Names of the corpus's equations in alphabetical order, without those that are built-ins too.
std::vector<std::string> equation_names();

}  // namespace stencil_tune
