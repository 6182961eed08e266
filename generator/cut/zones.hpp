// A grid with layers, cut into zones: where a layer's fields do not exist, the update is simpler. Inside all layers it
// is the bare equation.
//
//     along one axis:     | low        | inside                        | high       |
//     its layers:         |========....|                               |....========|
//     a zone's problem:   |<------------->|                         what low's cells read is part of its problem
//                                  |<-------------------------------->|
//
// The dots are cells in no layer whose values depend, some steps on, on what the layer's update does. All zones start
// from the same state, so that none waits for another.
#pragma once

#include "generator/stencil/problem.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stencil_tune {

struct Zone {
  std::string name;         ///< "inside", "x", "xz": the axes in whose layers it lies
  Problem problem;          ///< its cells and what they read around them, with the grid's pitch and plane
  std::vector<int> fields;  ///< for each field of the problem's stencil: its number in the grid's
  std::array<std::int64_t, kMaxRank> origin{0, 0, 0};  ///< the problem's first cell, in the grid
  Box box;                                             ///< the cells that it makes, among the problem's
};

/// The zones of a whole step's grid, each of which makes so many steps in one launch; they cover updated_box(step),
/// those of most cells first.
/// Nothing where no update asks for layers, or where the grid is too small to have cells inside.
std::vector<Zone> zones(const Problem& step, int steps);

/// In place of a number of steps: one step, stage by stage. Then zones see the cells around them that the stage reads,
/// and no more.
inline constexpr int kByStages = 0;

/// The zones of each launch that makes so many steps, or of each stage; one launch begins when the one before is done.
/// Nothing where there are no zones, or the only stage is asked for alone.
std::vector<std::vector<Zone>> zone_passes(const Problem& step, int steps);

/// What is left of the stencil in a zone at the low end of its layers, where that has this key: winners of zones are
/// stored under the whole stencil's name.
struct ZoneStencil {
  std::string name;  ///< Zone::name
  Stencil stencil;
};
std::optional<ZoneStencil> zone_stencil(const Stencil& stencil, std::string_view key);

/// The most steps that zones make at once.
inline constexpr int kMostStepsInZones = 8;

/// A zone whose rate nobody knows is taken to need so many times as long for a cell as the others do.
inline constexpr double kUnknownZoneSlowdown = 6;

/// Share of a grid's cells below which that estimate is good enough for a zone.
inline constexpr double kSmallZone = 0.004;

/// What is to be tuned for them: each problem once, those of most cells first. Dense in planes.
std::vector<Problem> zone_problems(const std::vector<Zone>& zones);

}  // namespace stencil_tune
