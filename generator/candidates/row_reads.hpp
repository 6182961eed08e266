// Which rows of the input a thread of a kernel reads, and where their cells stand in its registers: tables and
// statements that templates are compiled with (T::Reads).
//
// A thread computes x * y * z outputs. Seen from the first of them it reads row r of plane p, both counted from the
// lowest in reach: some cells before its own x, its own ("body"), some after them.
#pragma once

#include "generator/candidates/shape.hpp"

#include <string>
#include <string_view>

namespace stencil_tune {

/// What a thread holds.
struct ThreadTile {
  int x = 1, y = 1, z = 1;     ///< outputs along the kernel's axes
  bool body_for_halo = false;  ///< lanes hand their own cells over as a neighbour's halo: a row with a halo needs them
};

/// `struct Reads`: the rows of a tile of outputs, and how they are loaded.
std::string tile_reads(const Candidate& candidate, const ThreadTile& tile);

/// The rows of any stage as a table of what is read of each row. axes: its reach among them.
std::string tile_uses(const StageFacts& facts, const KernelAxes& axes, const ThreadTile& tile);

/// `kReadsAhead`: whether registers take all cells of those rows; others are read where they are used.
std::string reads_ahead(const Candidate& candidate, const ThreadTile& tile);

/// `struct Reads` of a thread that walks along z with one plane of outputs at a time, and how long it keeps what it
/// reads. ahead: planes by which everything is loaded before its first use. own_rows: it has its own cells of every
/// plane.
std::string walk_reads(const Candidate& candidate, const ThreadTile& tile, int ahead, bool own_rows = false);

/// `struct Reads`: the rows of one plane that add to sums, as if all taps at first .. last along z lay in that plane.
/// Without inputs that are late.
std::string plane_reads(const Candidate& candidate, const ThreadTile& tile, int first, int last);

/// `struct NAME`: the same as a table.
std::string plane_uses(std::string_view name, const Candidate& candidate, const ThreadTile& tile, int first, int last);

}  // namespace stencil_tune
