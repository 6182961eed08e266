// Kinds of kernels: candidates of one template, between which tuning parameters mean the same.
#pragma once

#include "generator/tuning.hpp"

#include <compare>

namespace stencil_tune {

/// What decides which template a candidate instantiates. From one kind to another all other parameters have other good
/// values, so that what trials teach of one says little about another, and their optima are many steps apart.
struct Kind {
  Family family;
  Planes planes;
  Keeps keeps;
  Copies copies;

  auto operator<=>(const Kind&) const = default;
};

inline Kind kind_of(const Tuning& tuning) { return {tuning.family, tuning.planes, tuning.keeps, tuning.copies}; }

}  // namespace stencil_tune
