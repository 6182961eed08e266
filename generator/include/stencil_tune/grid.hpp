// The grid a stencil runs on: extents, element type, boundaries.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace stencil_tune {

inline constexpr int kMaxRank = 3;  ///< axes of a grid at most

/// What a cell holds in memory. The first four are types of problems too: 16-bit types compute in f32 and round when
/// stored. Whole numbers are types of single fields (FieldStorage) and are computed in the problem's.
enum class ElementType { f64, f32, f16, bf16, u8, i8, u16, i16, i32 };

/// How reads beyond an edge are answered, axis by axis.
///  - hold     cells whose update would read beyond the edge are never written (Dirichlet layers kept by the
///             caller): on each side as many layers as the stage reads to that side, of whatever field it reads
///             furthest there
///  - zero     cells outside are 0
///  - clamp    the edge cell
///  - periodic wraps, as often as needed
///  - reflect  mirrored without repeating the edge cell (numpy's "reflect")
enum class Boundary { hold, zero, clamp, periodic, reflect };

/// One boundary an axis: x, y, z.
using Boundaries = std::array<Boundary, kMaxRank>;

/// What makes a kernel the winner (docs/measuring.md). Each objective has winners of its own.
///  - time    of a run its rate under continuous load, of one sweep its rate in bursts
///  - burst   the rate after a rest
///  - energy  the least energy of an update, under continuous load
enum class Objective { time, burst, energy };
/// All of them.
inline constexpr std::array kObjectives{Objective::time, Objective::burst, Objective::energy};

/// Cells along each axis; x is fastest in memory. Axes beyond the rank have extent 1.
struct Extents {
  int rank = 3;                                   ///< axes: 1 to 3
  std::array<std::int64_t, kMaxRank> n{1, 1, 1};  ///< x, y, z

  std::int64_t cells() const noexcept { return n[0] * n[1] * n[2]; }  ///< all cells of the grid

  friend bool operator==(const Extents& a, const Extents& b) { return a.rank == b.rank && a.n == b.n; }
  friend bool operator!=(const Extents& a, const Extents& b) { return !(a == b); }
};

/// Cells of a grid: low[a] <= i < high[a] along each axis.
struct Box {
  std::array<std::int64_t, kMaxRank> low{0, 0, 0};   ///< the first cell on each axis
  std::array<std::int64_t, kMaxRank> high{1, 1, 1};  ///< one beyond the last

  std::int64_t cells() const noexcept;  ///< 0 when empty

  friend bool operator==(const Box& a, const Box& b) { return a.low == b.low && a.high == b.high; }
  friend bool operator!=(const Box& a, const Box& b) { return !(a == b); }
};

/// Cells at the two ends of each axis that are its layers: where waves are absorbed, say. 0: there is none. On a
/// short axis they may overlap.
struct LayerWidths {
  std::array<std::int64_t, kMaxRank> low{0, 0, 0};   ///< from the first cell on
  std::array<std::int64_t, kMaxRank> high{0, 0, 0};  ///< up to the last cell

  friend bool operator==(const LayerWidths& a, const LayerWidths& b) { return a.low == b.low && a.high == b.high; }
};

/// How an array holds a field: cell (x, y, z) of the array stands at z * plane + y * row + x.
struct ArrayLayout {
  std::array<std::int64_t, kMaxRank> n{1, 1, 1};  ///< cells along each axis
  std::int64_t row = 1;                           ///< cells from one row to the next
  std::int64_t plane = 1;                         ///< cells from one plane to the next

  std::int64_t cells() const noexcept { return plane * n[2]; }  ///< in memory, row padding included
};

/// Where a grid lies in a larger domain, and when: what the coordinates and the step's number of a definition count
/// from. Parts of one domain that are given their own origins compute what the whole would.
struct Place {
  std::array<std::int64_t, kMaxRank> origin{0, 0, 0};  ///< coordinates of the grid's first cell
  std::int64_t step = 0;                               ///< number of the first step that is made
};

std::size_t size_of(ElementType type) noexcept;  ///< bytes in memory
bool is_half(ElementType type) noexcept;         ///< f16 or bf16
bool is_whole(ElementType type) noexcept;        ///< u8 to i32

/// The least and the largest number of a type of whole numbers.
struct WholeRange {
  double least = 0;
  double largest = 0;
};
WholeRange range_of(ElementType whole) noexcept;  ///< whole: u8 to i32

std::string_view name(ElementType type) noexcept;      ///< "f32"
std::string_view name(Boundary boundary) noexcept;     ///< "hold"
std::string_view name(Objective objective) noexcept;   ///< "time"
std::string to_string(const Extents& extents);         ///< "512x512x512"
std::string to_string(const Boundaries& b, int rank);  ///< "hold" or "x=periodic,y=hold,z=zero"

/// Parse what the functions above print. Throw Error: unknown_name (with the nearest name) or invalid_argument.
ElementType parse_element_type(std::string_view text);         ///< a problem's
ElementType parse_storage_type(std::string_view text);         ///< a field's
Boundary parse_boundary(std::string_view text);                ///< the same for a boundary
Objective parse_objective(std::string_view text);              ///< the same for an objective
Boundaries parse_boundaries(std::string_view text, int rank);  ///< and for those of all axes

/// "20" (both ends of every axis), "20:0" (low and high end), or axis by axis: "x=20,y=20,z=0:20", where the axes that
/// are left out have none. Throws Error: invalid_argument, unknown_name.
LayerWidths parse_layer_widths(std::string_view text, int rank);
std::string to_string(const LayerWidths& widths, int rank);  ///< "20" or "x=20,y=20,z=0:20"

/// "NX", "NXxNY" or "NXxNYxNZ". One number with rank_if_single > 1 means that number on each axis.
/// Throws Error(invalid_argument) for zero, negative, non-numeric, or more than three numbers.
Extents parse_extents(std::string_view text, int rank_if_single);

}  // namespace stencil_tune
