// Would a check notice a wrong kernel? A check that would not is none.
#pragma once

#include "db/records.hpp"
#include "tuner/verify/check_numbers.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stencil_tune {

/// How well a check tells a right kernel from three wrong ones: one that makes a sweep too few, one that stores zeros,
/// and one whose results stand one cell off, along each axis that the stencil reads along.
/// A candidate whose check has a smaller share than kSharp has not been verified, and cannot win.
struct Sharpness {
  double share = -1;  ///< told apart, of the cells that differ by more than rounding: the least of all; -1: not known
  std::string note;   ///< what mathematics makes equal, how many cells may hold anything, what is never decided
};

/// Why a check of so many sweeps that is so sharp is none; nothing when it is one.
std::optional<std::string> why_not_sharp(const Sharpness& sharpness, int sweeps);

/// One of the wrong kernels against the reference, in cells.
struct Comparison {
  std::string both;         ///< what is compared: "15 and 16 sweeps", "results and zeros", "neighbours in x"
  std::int64_t cells = 0;   ///< compared; those that may hold anything are not
  std::int64_t differ = 0;  ///< by more than rounding
  std::int64_t told_apart = 0;
};

/// All comparisons of a check with these numbers on the problem's grid, by the reference alone: for each field that a
/// kernel of so many steps stores.
struct Comparisons {
  std::vector<Comparison> all;
  std::int64_t cells = 0;      ///< updated ones of all outputs
  std::int64_t unbounded = 0;  ///< those among them that may hold anything

  /// Cells that the least sharp comparison tells apart, of all cells.
  double strength() const;
  Sharpness sharpness() const;
};

Comparisons compare_wrong_kernels(const Problem& problem, const CheckNumbers& numbers, int sweeps,
                                  std::uint64_t seed = 1);

/// The numbers to check so many sweeps of the problem's stencil with, and how sharp they are on a small grid: random
/// ones where these are sharp and stand on both sides of what the stencil decides by (min, select, comparisons), else
/// the best of others that were tried.
struct SharpNumbers {
  CheckNumbers numbers;
  Sharpness sharpness;
};
SharpNumbers sharp_numbers(const Problem& problem, int sweeps);

}  // namespace stencil_tune
