#include "eigenmode.hpp"

#include "stencil_tune/error.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <string>

namespace examples {

namespace st = stencil_tune;

namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

double wave_number_of(std::int64_t n, st::Boundary boundary, double wavelength) {
  const bool periodic = boundary == st::Boundary::periodic;
  const double length = static_cast<double>(periodic ? n : n - 1);
  const double period = periodic ? 2 * std::numbers::pi : std::numbers::pi;
  const double count = std::round(length / wavelength * (2 * std::numbers::pi / period));
  return std::max(1.0, count) * period / length;
}

/// Calls visit(index, y-z factor, row) for the first cell of each row.
template <typename Visit>
void for_each_row(const Eigenmode& mode, Visit visit) {
  std::size_t first = 0;
  for (const double z : mode.along[2]) {
    for (const double y : mode.along[1]) {
      visit(first, y * z);
      first += mode.along[0].size();
    }
  }
}

}  // namespace

Eigenmode make_eigenmode(const st::Extents& extents, st::Boundary boundary, Trigonometric function, double wavelength) {
  if (!(wavelength >= 4)) {
    throw st::Error(st::ErrorCode::invalid_argument, "a wavelength is 4 cells or more");
  }
  Eigenmode mode;
  mode.extents = extents;
  mode.along.fill({1});
  for (std::size_t axis = 0; axis < at(extents.rank); ++axis) {
    const std::int64_t n = extents.n[axis];
    if (n < 3) {
      throw st::Error(st::ErrorCode::invalid_argument,
                      "a grid of " + st::to_string(extents) + ": each axis needs 3 cells or more");
    }
    const double k = wave_number_of(n, boundary, wavelength);
    std::vector<double>& factors = mode.along[axis];
    factors.resize(at(n));
    for (std::size_t i = 0; i < factors.size(); ++i) {
      const double angle = k * static_cast<double>(i);
      factors[i] = function == Trigonometric::sine ? std::sin(angle) : std::cos(angle);
    }
    if (function == Trigonometric::sine && boundary == st::Boundary::hold) factors.back() = 0;  // not sin(pi)'s 1e-16
    mode.wave_number[axis] = k;
  }
  return mode;
}

std::vector<double> Eigenmode::values(double amplitude) const {
  std::vector<double> cells(at(extents.cells()));
  for_each_row(*this, [&](std::size_t first, double factor) {
    for (std::size_t x = 0; x < along[0].size(); ++x) cells[first + x] = amplitude * factor * along[0][x];
  });
  return cells;
}

Projection project(std::span<const double> field, const Eigenmode& mode) {
  double norm = 1;
  for (const std::vector<double>& factors : mode.along) {
    norm *= std::inner_product(factors.begin(), factors.end(), factors.begin(), 0.0);
  }
  Projection projection;
  for_each_row(mode, [&](std::size_t first, double factor) {
    double row = 0;
    for (std::size_t x = 0; x < mode.along[0].size(); ++x) row += mode.along[0][x] * field[first + x];
    projection.amplitude += factor * row / norm;
  });
  for_each_row(mode, [&](std::size_t first, double factor) {
    for (std::size_t x = 0; x < mode.along[0].size(); ++x) {
      const double difference = std::fabs(field[first + x] - projection.amplitude * factor * mode.along[0][x]);
      if (!(difference <= projection.residual)) projection.residual = difference;  // a NaN stays
    }
  });
  return projection;
}

std::span<const double> strongest_plane(std::span<const double> field, const Eigenmode& mode) {
  const std::vector<double>& factors = mode.along[2];
  const auto larger = [](double a, double b) { return std::fabs(a) < std::fabs(b); };
  const auto strongest = std::max_element(factors.begin(), factors.end(), larger) - factors.begin();
  const std::size_t cells = mode.along[0].size() * mode.along[1].size();
  return field.subspan(at(strongest) * cells, cells);
}

}  // namespace examples
