// Stencils from text: definition files (TOML) and one-liners. docs/stencils.md describes the language.
//
// Text is parsed into a Stencil and goes no further: kernel source is generated from the expression graph alone.
#pragma once

#include "stencil_tune/definition.hpp"

#include <cstddef>
#include <string>

namespace stencil_tune {

/// What a definition may be at most. A definition beyond a limit is rejected, whatever it says.
struct DefinitionLimits {
  std::size_t bytes = 64U << 10;    ///< length of a file or one-liner
  int nesting = 64;                 ///< parentheses, brackets and calls within each other
  std::size_t nodes = 20000;        ///< size of the expression graph; four times as many before anything is simplified
  std::size_t shifted = 2'000'000;  ///< nodes visited to evaluate operators at neighbouring cells; likewise
  int fields = 128;
  int coefficients = 256;
  int stages = 16;
  int offset = 16;    ///< cells on each axis
  int accuracy = 16;  ///< accuracy order of difference operators
  int exponent = 16;
};

inline constexpr DefinitionLimits kDefinitionLimits{};

/// A stencil from a definition file. Throws Error(file_io) too.
Stencil load_definition(const std::string& path);

}  // namespace stencil_tune
