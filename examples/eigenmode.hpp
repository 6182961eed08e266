// Products of one sine or cosine an axis: what the heat and the wave equation scale and leave in shape.
#pragma once

#include "stencil_tune/grid.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace examples {

enum class Trigonometric { sine, cosine };

/// value(x, y, z) = f(k0 x) f(k1 y) f(k2 z), f the sine or the cosine.
struct Eigenmode {
  stencil_tune::Extents extents;
  std::array<double, stencil_tune::kMaxRank> wave_number{0, 0, 0};  ///< radians a cell; 0 beyond the rank
  std::array<std::vector<double>, stencil_tune::kMaxRank> along;    ///< factors; {1} beyond the rank

  /// All cells, x fastest, times the amplitude.
  std::vector<double> values(double amplitude) const;
};

/// The mode whose wavelength on each axis is the nearest to the given one, in cells, that the boundary allows:
/// periodic, or for walls at the first and last cell half wavelengths (sine: hold; cosine: reflect).
/// Throws Error(invalid_argument) for an axis of less than 3 cells, or a wavelength below 4 cells.
Eigenmode make_eigenmode(const stencil_tune::Extents& extents, stencil_tune::Boundary boundary, Trigonometric function,
                         double wavelength);

/// How much of the mode is in the field, and what else is.
struct Projection {
  double amplitude = 0;  ///< least squares
  double residual = 0;   ///< largest |field - amplitude * mode|
};

Projection project(std::span<const double> field, const Eigenmode& mode);

/// The x-y plane where the mode is largest.
std::span<const double> strongest_plane(std::span<const double> field, const Eigenmode& mode);

}  // namespace examples
