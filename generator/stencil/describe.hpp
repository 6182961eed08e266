// A stencil in words and a picture, for people.
#pragma once

#include "generator/stencil/problem.hpp"
#include "stencil_tune/stencil.hpp"

#include <cstddef>
#include <string>

namespace stencil_tune {

/// What was understood of a stencil: fields and coefficients in order, what each
/// coefficient weighs, and rotations; for each stage its fields, points,
/// radius, linearity, operations, bytes and the shape of every input that is read beyond its centre. Ends with a
/// newline.
std::string describe(const Stencil& stencil);

/// "after a step: u_next becomes u, u becomes u_prev"; empty where nothing becomes another.
std::string rotations_text(const Stencil& stencil);

/// minimal_bytes() of a stencil whose fields may be stored in types of their own.
std::size_t least_bytes(const Stencil& stencil, const StageFacts& facts, ElementType type);

/// As a definition declares the field: "u", or "dz(z)" for one that varies along z alone.
std::string declared_name(const Stencil& stencil, int field);

/// The shape of a stage's reads of one field, drawn with y upwards and x to the right:
/// 'O' the centre where it is read, '+' where it is not, 'o' another point, '.' none.
/// Rank 3 shows the planes side by side, those alike drawn once. Lines end with a newline.
std::string picture(const StageFacts& facts, int rank, int field);

/// The layers that boundary hold keeps: "1 at each end of x, 2 at the low end of y"; empty where it keeps none.
std::string held_text(const Problem& problem);

}  // namespace stencil_tune
