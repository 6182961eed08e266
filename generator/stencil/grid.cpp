#include "stencil_tune/grid.hpp"

#include "generator/stencil/axis_names.hpp"
#include "generator/suggest.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <span>
#include <system_error>
#include <vector>

namespace stencil_tune {
namespace {

constexpr std::array kElementTypes{ElementType::f64, ElementType::f32, ElementType::f16, ElementType::bf16};
constexpr std::array kStorageTypes{ElementType::f64,  ElementType::f32, ElementType::f16,
                                   ElementType::bf16, ElementType::u8,  ElementType::i8,
                                   ElementType::u16,  ElementType::i16, ElementType::i32};
constexpr std::array kBoundaries{Boundary::hold, Boundary::zero, Boundary::clamp, Boundary::periodic,
                                 Boundary::reflect};
constexpr std::size_t kLongestShown = 60;  // characters of the user's text in a message

std::string shown(std::string_view text) {
  return fmt::format("{}{}", text.substr(0, kLongestShown), text.size() > kLongestShown ? "..." : "");
}

/// What others call it, and what it is called here.
struct Elsewhere {
  std::string_view name;
  std::string_view here;
};

constexpr std::array<Elsewhere, 16> kTypesElsewhere{{{"float", "f32"},
                                                     {"single", "f32"},
                                                     {"float32", "f32"},
                                                     {"fp32", "f32"},
                                                     {"real", "f32"},
                                                     {"real32", "f32"},
                                                     {"double", "f64"},
                                                     {"float64", "f64"},
                                                     {"fp64", "f64"},
                                                     {"real64", "f64"},
                                                     {"half", "f16"},
                                                     {"float16", "f16"},
                                                     {"fp16", "f16"},
                                                     {"bfloat16", "bf16"},
                                                     {"bfloat", "bf16"},
                                                     {"nv_bfloat16", "bf16"}}};
constexpr std::array<Elsewhere, 6> kStorageElsewhere{
    {{"float", "f32"}, {"double", "f64"}, {"half", "f16"}, {"uint8", "u8"}, {"int16", "i16"}, {"int32", "i32"}}};
constexpr std::string_view kFixed =
    "hold, which keeps the outermost layers as they are, or zero, where all cells outside are 0; dirichlet(v) is a "
    "word of "
    "a definition's [boundary]";
constexpr std::string_view kFlat =
    "clamp, which repeats the edge cell, or reflect, which mirrors at it; neumann(q) is a word of a definition's "
    "[boundary]";
constexpr std::array<Elsewhere, 14> kBoundariesElsewhere{{{"dirichlet", kFixed},
                                                          {"Dirichlet", kFixed},
                                                          {"fixed", kFixed},
                                                          {"constant", kFixed},
                                                          {"neumann", kFlat},
                                                          {"Neumann", kFlat},
                                                          {"symmetric", kFlat},
                                                          {"mirror", "reflect"},
                                                          {"wrap", "periodic"},
                                                          {"circular", "periodic"},
                                                          {"cyclic", "periodic"},
                                                          {"nearest", "clamp"},
                                                          {"edge", "clamp"},
                                                          {"replicate", "clamp"}}};

/// The enumerator whose name is `text`; throws unknown_name with the nearest.
template <typename Enum, std::size_t Count>
Enum parse_enumerator(std::string_view text, const std::array<Enum, Count>& values, std::string_view what,
                      std::span<const Elsewhere> elsewhere) {
  std::vector<std::string> names;
  for (const Enum value : values) {
    if (text == name(value)) return value;
    names.emplace_back(name(value));
  }
  const auto known =
      std::find_if(elsewhere.begin(), elsewhere.end(), [&](const Elsewhere& each) { return each.name == text; });
  const std::string hint =
      known != elsewhere.end() ? fmt::format("; here it is {}", known->here) : did_you_mean(text, names);
  throw Error(ErrorCode::unknown_name,
              fmt::format("unknown {} '{}' (known: {}){}", what, shown(text), fmt::join(names, ", "), hint));
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

[[noreturn]] void reject_dims(std::string_view text, const std::string& why) {
  throw Error(ErrorCode::invalid_argument,
              fmt::format("dims '{}': {}; write NX, NXxNY or NXxNYxNZ, such as 512 or 512x512x512", shown(text), why));
}

std::int64_t parse_extent(std::string_view part, std::string_view text) {
  if (part.empty()) reject_dims(text, "a number is missing");
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
  if (error == std::errc::result_out_of_range) reject_dims(text, fmt::format("'{}' is too large", shown(part)));
  if (error != std::errc() || end != part.data() + part.size()) {
    reject_dims(text, fmt::format("'{}' is not a whole number", shown(part)));
  }
  if (value == 0) reject_dims(text, "an extent of zero leaves no cells");
  if (value < 0) reject_dims(text, fmt::format("an extent cannot be negative ({})", value));
  return value;
}

void check_cells(const Extents& extents, std::string_view text) {
  // Room for 8-byte cells, so that byte counts fit in 64 bits too.
  constexpr std::int64_t kMaxCells = std::numeric_limits<std::int64_t>::max() / 16;
  std::int64_t cells = 1;
  for (const std::int64_t n : extents.n) {
    if (n > kMaxCells / cells) reject_dims(text, "the number of cells does not fit in 64 bits");
    cells *= n;
  }
}

std::size_t axis_of(std::string_view what, std::string_view text, int rank) {
  if (text.size() == 1) {
    const std::size_t axis = kAxisNames.find(text[0]);
    if (axis < static_cast<std::size_t>(rank)) return axis;
  }
  throw Error(ErrorCode::unknown_name,
              fmt::format("{}: '{}' is not an axis of a grid of rank {} (axes: {})", what, shown(text), rank,
                          kAxisNames.substr(0, static_cast<std::size_t>(rank))));
}

[[noreturn]] void reject_layer(std::string_view text, const std::string& why) {
  throw Error(ErrorCode::invalid_argument,
              fmt::format("layer '{}': {}; write 20, 20:0 (cells at the low and the high end) or x=20,y=20,z=0:20",
                          shown(text), why));
}

std::int64_t parse_width(std::string_view part, std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
  if (error != std::errc() || end != part.data() + part.size() || value < 0) {
    reject_layer(text, fmt::format("'{}' is no number of cells", shown(part)));
  }
  return value;
}

/// "20" or "20:0".
void set_widths(LayerWidths& widths, std::size_t axis, std::string_view part, std::string_view text) {
  const std::size_t colon = part.find(':');
  widths.low[axis] = parse_width(part.substr(0, colon), text);
  widths.high[axis] = colon == std::string_view::npos ? widths.low[axis] : parse_width(part.substr(colon + 1), text);
}

}  // namespace

std::int64_t Box::cells() const noexcept {
  std::int64_t cells = 1;
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) cells *= std::max<std::int64_t>(0, high[axis] - low[axis]);
  return cells;
}

std::size_t size_of(ElementType type) noexcept {
  switch (type) {
    case ElementType::f64:
      return 8;
    case ElementType::f32:
    case ElementType::i32:
      return 4;
    case ElementType::f16:
    case ElementType::bf16:
    case ElementType::u16:
    case ElementType::i16:
      return 2;
    case ElementType::u8:
    case ElementType::i8:
      return 1;
  }
  return 0;
}

bool is_half(ElementType type) noexcept { return type == ElementType::f16 || type == ElementType::bf16; }

bool is_whole(ElementType type) noexcept { return type >= ElementType::u8; }

WholeRange range_of(ElementType whole) noexcept {
  const bool is_signed = whole != ElementType::u8 && whole != ElementType::u16;
  const double numbers = std::exp2(8.0 * static_cast<double>(size_of(whole)));
  return is_signed ? WholeRange{-numbers / 2, numbers / 2 - 1} : WholeRange{0, numbers - 1};
}

std::string_view name(ElementType type) noexcept {
  switch (type) {
    case ElementType::f64:
      return "f64";
    case ElementType::f32:
      return "f32";
    case ElementType::f16:
      return "f16";
    case ElementType::bf16:
      return "bf16";
    case ElementType::u8:
      return "u8";
    case ElementType::i8:
      return "i8";
    case ElementType::u16:
      return "u16";
    case ElementType::i16:
      return "i16";
    case ElementType::i32:
      return "i32";
  }
  return "?";
}

std::string_view name(Boundary boundary) noexcept {
  switch (boundary) {
    case Boundary::hold:
      return "hold";
    case Boundary::zero:
      return "zero";
    case Boundary::clamp:
      return "clamp";
    case Boundary::periodic:
      return "periodic";
    case Boundary::reflect:
      return "reflect";
  }
  return "?";
}

std::string_view name(Objective objective) noexcept {
  switch (objective) {
    case Objective::time:
      return "time";
    case Objective::burst:
      return "burst";
    case Objective::energy:
      return "energy";
  }
  return "?";
}

std::string to_string(const Extents& extents) {
  return fmt::format("{}", fmt::join(extents.n.begin(), extents.n.begin() + extents.rank, "x"));
}

std::string to_string(const Boundaries& b, int rank) {
  bool same = true;
  std::string text;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(rank); ++axis) {
    same = same && b[axis] == b[0];
    text += fmt::format("{}{}={}", axis == 0 ? "" : ",", kAxisNames[axis], name(b[axis]));
  }
  return same ? std::string(name(b[0])) : text;
}

ElementType parse_element_type(std::string_view text) {
  return parse_enumerator(text, kElementTypes, "element type", kTypesElsewhere);
}

ElementType parse_storage_type(std::string_view text) {
  return parse_enumerator(text, kStorageTypes, "type of stored cells", kStorageElsewhere);
}

Boundary parse_boundary(std::string_view text) {
  return parse_enumerator(text, kBoundaries, "boundary", kBoundariesElsewhere);
}

Objective parse_objective(std::string_view text) { return parse_enumerator(text, kObjectives, "objective", {}); }

Boundaries parse_boundaries(std::string_view text, int rank) {
  Boundaries boundaries{Boundary::hold, Boundary::hold, Boundary::hold};
  if (text.find_first_of("=:,") == std::string_view::npos) {
    boundaries.fill(parse_boundary(text));
    return boundaries;
  }
  std::array<bool, kMaxRank> given{};
  for (const std::string_view part : split(text, ',')) {
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("boundary '{}': '{}' is not AXIS=KIND; write one for all axes, such as hold, or "
                              "x=periodic,y=hold,z=zero",
                              shown(text), shown(part)));
    }
    const std::size_t axis = axis_of("boundary", part.substr(0, equals), rank);
    if (given[axis]) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("boundary '{}': axis {} is given twice", shown(text), kAxisNames[axis]));
    }
    given[axis] = true;
    boundaries[axis] = parse_boundary(part.substr(equals + 1));
  }
  return boundaries;
}

LayerWidths parse_layer_widths(std::string_view text, int rank) {
  LayerWidths widths;
  if (text.find('=') == std::string_view::npos) {
    for (int axis = 0; axis < rank; ++axis) set_widths(widths, static_cast<std::size_t>(axis), text, text);
    return widths;
  }
  std::array<bool, kMaxRank> given{};
  for (const std::string_view part : split(text, ',')) {
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) reject_layer(text, fmt::format("'{}' names no axis", shown(part)));
    const std::size_t axis = axis_of("layer", part.substr(0, equals), rank);
    if (given[axis]) reject_layer(text, fmt::format("axis {} is given twice", kAxisNames[axis]));
    given[axis] = true;
    set_widths(widths, axis, part.substr(equals + 1), text);
  }
  return widths;
}

std::string to_string(const LayerWidths& widths, int rank) {
  std::string text;
  bool same = true;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(rank); ++axis) {
    const std::int64_t low = widths.low[axis], high = widths.high[axis];
    same = same && low == widths.low[0] && high == widths.low[0];
    const std::string both = low == high ? fmt::format("{}", low) : fmt::format("{}:{}", low, high);
    text += fmt::format("{}{}={}", axis == 0 ? "" : ",", kAxisNames[axis], both);
  }
  return same ? fmt::format("{}", widths.low[0]) : text;
}

Extents parse_extents(std::string_view text, int rank_if_single) {
  const std::vector<std::string_view> parts = split(text, 'x');
  if (parts.size() > kMaxRank) {
    reject_dims(text, fmt::format("{} numbers where a grid has at most {} axes", parts.size(), kMaxRank));
  }
  if (rank_if_single < 1 || rank_if_single > kMaxRank) {
    throw Error(ErrorCode::invalid_argument, fmt::format("rank {} is outside 1 to {}", rank_if_single, kMaxRank));
  }
  Extents extents;
  extents.rank = parts.size() == 1 ? rank_if_single : static_cast<int>(parts.size());
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(extents.rank); ++axis) {
    extents.n[axis] = parse_extent(parts.size() == 1 ? parts[0] : parts[axis], text);
  }
  check_cells(extents, text);
  return extents;
}

}  // namespace stencil_tune
