#include "tests/runtime/library/conserved.hpp"

#include "generator/definition/definition.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

namespace stencil_tune {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kPi = 3.14159265358979323846;
constexpr double kMagnetic = 0.4;  // ch of corpus/yee3d.toml

constexpr Boundaries kPeriodic{Boundary::periodic, Boundary::periodic, Boundary::periodic};
constexpr Boundaries kHold{Boundary::hold, Boundary::hold, Boundary::hold};

using Cells = std::vector<double>;
using Cell = std::array<std::int64_t, kMaxRank>;

/// Fields of corpus/yee3d.toml.
enum YeeField { kE = 0, kH = 3, kCa = 6 };

template <class Value>
Cells filled(const Extents& extents, const Value& value) {
  Cells cells;
  for (std::int64_t z = 0; z < extents.n[2]; ++z) {
    for (std::int64_t y = 0; y < extents.n[1]; ++y) {
      for (std::int64_t x = 0; x < extents.n[0]; ++x) cells.push_back(value(Cell{x, y, z}));
    }
  }
  return cells;
}

FieldValues zeros(const Stencil& stencil, const Extents& extents) {
  return FieldValues(stencil.fields.size(), Cells(static_cast<std::size_t>(extents.cells()), 0.0));
}

/// In more digits than the kernels have.
long double sum(const Cells& cells) { return std::accumulate(cells.begin(), cells.end(), 0.0L); }

// ---- shallow water --------------------------------------------------------------------------------------------------

FieldValues still_water_with_a_hill(const Stencil& stencil, const Extents& extents) {
  FieldValues fields = zeros(stencil, extents);
  const auto wave = [&](const Cell& cell, std::size_t axis) {
    return std::cos(2 * kPi * static_cast<double>(cell[axis]) / static_cast<double>(extents.n[axis]));
  };
  fields[0] = filled(extents, [&](const Cell& cell) { return 1 + 0.1 * wave(cell, 0) * wave(cell, 1); });
  fields[1] = filled(extents, [&](const Cell& cell) { return 0.05 * wave(cell, 1) + 0.02; });
  fields[2] = filled(extents, [&](const Cell& cell) { return 0.03 * wave(cell, 0) - 0.01; });
  return fields;
}

/// The largest change of the sums of depth and both momenta, relative to the mass.
double change_of_sums(const FieldValues& start, const FieldValues& now) {
  double most = 0;
  for (std::size_t field = 0; field < 3; ++field) {
    const auto change = static_cast<double>((sum(now[field]) - sum(start[field])) / sum(start[0]));
    most = std::max(most, std::fabs(change));
  }
  return most;
}

// ---- Maxwell's equations --------------------------------------------------------------------------------------------

/// Random waves; the layers that a side holds are zero, which is a box of perfect conductors.
FieldValues random_waves(const Stencil& stencil, const Boundaries& boundaries, const Extents& extents) {
  FieldValues fields = zeros(stencil, extents);
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const auto fill = [&](int first, bool at_low) {
    for (int component = 0; component < 3; ++component) {
      fields[static_cast<std::size_t>(first + component)] = filled(extents, [&](const Cell& cell) {
        const double value = uniform(random);
        for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
          const bool held = cell[axis] == (at_low ? 0 : extents.n[axis] - 1);
          if (boundaries[axis] == Boundary::hold && held) return 0.0;
        }
        return value;
      });
    }
  };
  fill(kE, true);
  fill(kH, false);
  fields[kCa] = filled(extents, [&](const Cell&) { return 0.4 + 0.2 * uniform(random); });
  return fields;
}

/// Component of the curl by forward differences; cells beyond the grid are those of the other end.
Cells forward_curl(const FieldValues& fields, std::size_t component, const Extents& extents) {
  const auto at = [&](std::size_t field, Cell cell) {
    for (std::size_t axis = 0; axis < kMaxRank; ++axis) cell[axis] %= extents.n[axis];
    return fields[field][static_cast<std::size_t>((cell[2] * extents.n[1] + cell[1]) * extents.n[0] + cell[0])];
  };
  const std::size_t next = (component + 1) % 3, last = (component + 2) % 3;
  return filled(extents, [&](const Cell& cell) {
    Cell after_next = cell, after_last = cell;
    ++after_next[next];
    ++after_last[last];
    return at(last, after_next) - at(last, cell) - (at(next, after_last) - at(next, cell));
  });
}

/// E E / ca + H- H+ / ch: H is known half a step before E, and half a step after it is H - ch curl E. The scheme keeps
/// this sum, since its two curls are each other's transposed. Held layers of zero cut both alike: products with what a
/// periodic curl would read beyond them are with zeros.
double energy(const FieldValues& fields, const Extents& extents) {
  long double total = 0;
  for (std::size_t component = 0; component < 3; ++component) {
    const Cells curl = forward_curl(fields, component, extents);
    for (std::size_t i = 0; i < curl.size(); ++i) {
      const long double electric = fields[kE + component][i], magnetic = fields[kH + component][i];
      total += electric * electric / fields[kCa][i] + magnetic * (magnetic / kMagnetic - curl[i]);
    }
  }
  return static_cast<double>(total);
}

constexpr double kElectric = 0.5;  // ca of the plane wave's medium
constexpr int kWaves = 3;          // along x

/// A wave along x of the discrete equations: sin(omega/2) = sqrt(ca ch) sin(k/2). `half_steps`: since E's start.
double wave(const Extents& extents, double x, int half_steps) {
  const double k = 2 * kPi * kWaves / static_cast<double>(extents.n[0]);
  const double omega = 2 * std::asin(std::sqrt(kElectric * kMagnetic) * std::sin(k / 2));
  return std::cos(k * x - omega * half_steps / 2);
}

FieldValues plane_wave(const Stencil& stencil, const Extents& extents, int steps) {
  FieldValues fields = zeros(stencil, extents);
  fields[kE + 1] =
      filled(extents, [&](const Cell& cell) { return wave(extents, static_cast<double>(cell[0]), 2 * steps); });
  fields[kH + 2] = filled(extents, [&](const Cell& cell) {
    return std::sqrt(kMagnetic / kElectric) * wave(extents, static_cast<double>(cell[0]) + 0.5, 2 * steps - 1);
  });
  fields[kCa] = filled(extents, [](const Cell&) { return kElectric; });
  return fields;
}

double farthest_apart(const FieldValues& a, const FieldValues& b, std::size_t fields) {
  double most = 0;
  for (std::size_t field = 0; field < fields; ++field) {
    for (std::size_t i = 0; i < a[field].size(); ++i) most = std::max(most, std::fabs(a[field][i] - b[field][i]));
  }
  return most;
}

ConservedCase energy_case(std::string name, const Stencil& yee, const Boundaries& boundaries) {
  return {std::move(name), yee, boundaries,
          [=](const Extents& extents) { return random_waves(yee, boundaries, extents); },
          [](const FieldValues& start, const FieldValues& now, const Extents& extents, int) {
            return std::fabs(energy(now, extents) / energy(start, extents) - 1);
          }};
}

}  // namespace

std::vector<ConservedCase> conserved_cases() {
  const Stencil shallow = load_definition("corpus/shallow2d.toml");
  const Stencil yee = load_definition("corpus/yee3d.toml");
  return {{"shallow water", shallow, kPeriodic,
           [=](const Extents& extents) { return still_water_with_a_hill(shallow, extents); },
           [](const FieldValues& start, const FieldValues& now, const Extents&, int) {
             return change_of_sums(start, now);
           }},
          energy_case("periodic waves", yee, kPeriodic),
          energy_case("waves in a box", yee, kHold),
          {"plane wave", yee, kPeriodic, [=](const Extents& extents) { return plane_wave(yee, extents, 0); },
           [=](const FieldValues&, const FieldValues& now, const Extents& extents, int steps) {
             return farthest_apart(now, plane_wave(yee, extents, steps), kCa);
           }}};
}

std::vector<int> partners(const Stencil& stencil) {
  std::vector<int> partner(stencil.fields.size());
  std::iota(partner.begin(), partner.end(), 0);
  for (const Rotation& rotation : stencil.rotations) {
    std::swap(partner[static_cast<std::size_t>(rotation.from)], partner[static_cast<std::size_t>(rotation.to)]);
  }
  return partner;
}

void expect_conserved(const ConservedCase& each, const FieldValues& start, const FieldValues& fused,
                      const FieldValues& stepped, const Extents& extents, int steps) {
  SCOPED_TRACE(each.name);
  const double roundings = 16 * steps * kEpsilon;
  EXPECT_LT(each.error(start, fused, extents, steps), roundings) << "fused";
  EXPECT_LT(each.error(start, stepped, extents, steps), roundings) << "stage by stage";
  EXPECT_GT(farthest_apart(start, fused, 3), 1e-3) << "nothing has changed";
  EXPECT_LT(farthest_apart(fused, stepped, 3), 16 * roundings);
}

}  // namespace stencil_tune
