// A tuning parameter as a row of a family's table: how it is named, coded, ranged, explained, and handed to the kernel.
#pragma once

#include "generator/candidates/limits.hpp"
#include "generator/candidates/shape.hpp"
#include "generator/candidates/tuning.hpp"
#include "generator/stencil/problem.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace stencil_tune {

/// What a problem leaves of a parameter's values, whatever the other parameters are.
using PossibleValues =
    std::function<std::vector<int>(std::vector<int>, const Problem&, const Limits&, const KernelAxes&)>;

struct Parameter {
  std::string_view name;                        ///< "coarsening depth"
  std::string_view meaning;                     ///< one phrase
  std::string_view prefix;                      ///< "cz" for numbers; empty where the value is a word
  std::vector<std::string_view> words;          ///< word of value i, for enumerations
  std::vector<std::string_view> word_meanings;  ///< meaning of value i
  std::vector<int> values;                      ///< what the search may choose from
  int default_value;
  std::function<int(const Tuning&)> get;
  std::function<void(Tuning&, int)> set;

  bool always_coded = false;  ///< written in every code of its family; others only when not at their default
  bool drawn = true;  ///< random candidates take any value; otherwise only the search's neighbours leave the default
  int nearby = 1;     ///< values on each side of a number that count as neighbours
  bool of_launch = false;      ///< an argument of the launch: candidates that differ in it alone have one binary ...
  bool default_apart = false;  ///< ... but for the default, which is another kernel
  std::function<bool(const Tuning&)> used;  ///< whether a candidate has it, by its other values; empty: all
  PossibleValues possible;                  ///< empty: all

  std::string_view constant_type;           ///< type of the kernel's constant; empty: the template needs none
  std::string_view constant;                ///< "kDepth"
  std::vector<std::string_view> constants;  ///< what value i is there, for enumerations

  bool is_word() const { return !words.empty(); }
  bool used_by(const Tuning& tuning) const { return !used || used(tuning); }

  // For tables: a row that says one thing more.
  Parameter coded_always() &&;
  Parameter found_by_neighbours_alone() &&;
  Parameter with_neighbours(int on_each_side) &&;
  Parameter where(std::function<bool(const Tuning&)> is_used) &&;
  Parameter within(PossibleValues rule) &&;
  Parameter as(std::string_view type, std::string_view its_name, std::vector<std::string_view> of_values) &&;
  Parameter without_constant() &&;
  Parameter given_at_launch() &&;
  /// All values are given at the launch but the default, which is another kernel.
  Parameter given_at_launch_unless_default() &&;
};

/// A number: its constant in the kernel is an int.
Parameter number(std::string_view name, std::string_view prefix, int TuningValues::*member, std::string_view constant,
                 std::vector<int> values, std::string_view meaning);

struct Word {
  int value;
  std::string_view word;
  std::string_view meaning;
};

/// One of several words, the first of which is the default; the search may choose from `searched`, or from all.
Parameter choice(std::string_view name, std::function<int(const Tuning&)> get, std::function<void(Tuning&, int)> set,
                 const std::vector<Word>& words, int default_value, std::string_view meaning);

template <class Enum>
struct EnumWord {
  Enum value;
  std::string_view word;
  std::string_view meaning;
};

/// A choice among an enumeration's words, whose values count up from 0; the first one given is the default.
template <class Enum>
Parameter word(std::string_view name, Enum TuningValues::*member, const std::vector<EnumWord<Enum>>& choices,
               std::string_view meaning) {
  std::vector<Word> words(choices.size());
  for (const EnumWord<Enum>& each : choices) {
    const int value = static_cast<int>(each.value);
    words.at(static_cast<std::size_t>(value)) = {value, each.word, each.meaning};
  }
  return choice(
      name, [member](const Tuning& tuning) { return static_cast<int>(tuning.*member); },
      [member](Tuning& tuning, int value) { tuning.*member = static_cast<Enum>(value); }, words,
      static_cast<int>(choices.front().value), meaning);
}

/// One value as the code spells it: "bx32", "regs".
std::string part(const Parameter& parameter, int value);

/// A value as the kernel's constant: "  static constexpr int kDepth = 4;\n"; empty without one.
std::string constant_text(const Parameter& parameter, int value);

// Rows that several families have.

Parameter threads_in_x(std::vector<int> values);
Parameter threads_in_y(std::vector<int> values = {1, 2, 4, 8, 12, 16});
Parameter threads_in_z();
Parameter register_tile_in_x(std::vector<int> values);
Parameter register_tile_in_y(std::vector<int> values = {1, 2, 4, 8});
Parameter register_tile_in_z();
Parameter vector_of_cells();
Parameter cluster_of_blocks();
Parameter block_rasterization();
Parameter load_hint();
Parameter store_hint();
Parameter neighbours_in_x();
Parameter kept_between_planes();
Parameter prefetch_distance(std::vector<int> values);
Parameter unrolled_iterations(std::vector<int> values);
Parameter covered_tile();
Parameter blocks_per_sm();

}  // namespace stencil_tune
