// What runs over several GPUs start with: random cells that stay bounded, in any element type.
#pragma once

#include "stencil_tune/grid.hpp"
#include "stencil_tune/span.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench {

/// Which values a field may start with.
enum class Start {
  state,  ///< from -1 to 1
  known,  ///< from 0.25 to 0.375: a field that no step changes. heat3d, acoustic o2 to o8 and yee3d are stable with
          ///< these
};

/// So many cells of the type, other ones for each seed. About a nanosecond a cell.
std::vector<std::byte> starting_cells(std::int64_t cells, stencil_tune::ElementType type, Start start,
                                      std::uint64_t seed);

/// The values of cells that are raw bytes of the type.
std::vector<double> values_of(stencil_tune::Span<const std::byte> cells, stencil_tune::ElementType type);

/// The distance from 1 to the next number of the type.
double epsilon_of(stencil_tune::ElementType type);

}  // namespace bench
