#include "generator/user_kernel/words.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace stencil_tune {
namespace {

struct CellTypeRow {
  CellType type;
  std::string_view name;
  std::size_t bytes;
  bool is_floating;
  std::string_view c_name;
};

/// In the order of the enum.
constexpr std::array<CellTypeRow, 9> kCellTypes{{{CellType::f32, "f32", 4, true, "float"},
                                                 {CellType::f64, "f64", 8, true, "double"},
                                                 {CellType::f16, "f16", 2, true, "unsigned short"},
                                                 {CellType::bf16, "bf16", 2, true, "unsigned short"},
                                                 {CellType::i32, "i32", 4, false, "int"},
                                                 {CellType::u32, "u32", 4, false, "unsigned"},
                                                 {CellType::i64, "i64", 8, false, "long long"},
                                                 {CellType::u64, "u64", 8, false, "unsigned long long"},
                                                 {CellType::u8, "u8", 1, false, "unsigned char"}}};

constexpr std::array<std::pair<Fill, std::string_view>, 4> kFills{
    {{Fill::random, "random"}, {Fill::integers, "integers"}, {Fill::zeros, "zeros"}, {Fill::index, "index"}}};

const CellTypeRow& row(CellType type) { return kCellTypes[static_cast<std::size_t>(type)]; }

}  // namespace

std::string_view name(CellType type) noexcept { return row(type).name; }
std::size_t size_of(CellType type) noexcept { return row(type).bytes; }
bool is_floating(CellType type) noexcept { return row(type).is_floating; }
std::string_view c_name(CellType type) noexcept { return row(type).c_name; }

std::optional<CellType> find_cell_type(std::string_view word) {
  for (const CellTypeRow& each : kCellTypes) {
    if (each.name == word) return each.type;
  }
  return std::nullopt;
}

std::vector<std::string> cell_type_names() {
  std::vector<std::string> names;
  for (const CellTypeRow& each : kCellTypes) names.emplace_back(each.name);
  return names;
}

std::optional<Fill> find_fill(std::string_view word) {
  for (const auto& [fill, name] : kFills) {
    if (name == word) return fill;
  }
  return std::nullopt;
}

std::vector<std::string> fill_names() {
  std::vector<std::string> names;
  for (const auto& [fill, name] : kFills) names.emplace_back(name);
  return names;
}

}  // namespace stencil_tune
