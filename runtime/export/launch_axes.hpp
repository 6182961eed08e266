// The grid as an exported launcher is called with it, along the kernel's own axes.
#pragma once

#include "generator/candidates/shape.hpp"
#include "runtime/export/text.hpp"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace stencil_tune {

/// One of the kernel's axes in the launcher's words.
struct AxisText {
  std::string extent = "1";
  std::string stride = "0";
  bool there = false;  ///< the grid has this axis
  HeldLayers held{};   ///< never written
  std::int64_t origin = 0;
};

using AxisTexts = std::array<AxisText, kMaxRank>;

/// The grid's parameters as the kernel's axes.
AxisTexts axis_texts(const Candidate& candidate);

/// `text` of each axis that the grid has, joined.
template <class Text>
std::string of_axes(const AxisTexts& axes, std::string_view between, Text&& text) {
  std::string all;
  for (const AxisText& axis : axes) {
    if (axis.there) all += (all.empty() ? std::string() : std::string(between)) + text(axis);
  }
  return all;
}

/// The grid's axes that must be longer than so many cells, for no read to go round one: those that are periodic or
/// reflect, where the kernel turns or reflects an index once.
struct LongerAxis {
  char name;
  int cells;
};
std::vector<LongerAxis> longer_axes(const KernelShape& shape);

/// Lines that refuse grids whose indices would not fit the kernel's: fits_32_bits() in the launcher's words.
std::string index_check(const Candidate& candidate, const AxisTexts& axes);

/// Lines that refuse grids in which the tiles cannot lie inside: smaller than one, or of rows that end off a multiple.
std::string size_check(const Candidate& candidate, const AxisTexts& axes);

/// The kernel's arguments but coefficients and tensor maps, member by member, as generator/kernel_source/launch.cpp
/// packs them for one grid. `detail` is the namespace of the templates.
std::string argument_lines(const Candidate& candidate, const ExportSignature& signature, const AxisTexts& axes,
                           const std::string& detail);

}  // namespace stencil_tune
