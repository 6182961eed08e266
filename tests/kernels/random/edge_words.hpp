// Random definitions whose fields have words beyond their edges, and what they come to, evaluated plainly: a field's
// value at an index, axis by axis, the first axis outermost. No code of the generator's is used.
#pragma once

#include "tests/kernels/random/random_draw.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace stencil_tune::edge_words {

enum class Word { hold, zero, clamp, periodic, reflect, odd, neumann, dirichlet, robin };
inline constexpr int kWords = 9;

std::string text_of(Word word);

using Index = std::array<std::int64_t, 3>;
using Cells = std::vector<double>;

struct Said {
  Word word = Word::hold;
  std::array<double, 3> terms{};  ///< what the word takes
  std::string text{};             ///< the same as text
};

/// weight * field[offset] * what else there is at `second`.
struct Term {
  enum class Factor { none, field, profile, before, after, coordinate };

  double weight = 0;
  int field = 0;
  Index offset{};
  Factor factor = Factor::none;
  int axis = 0;  ///< the factor's, where it is along one
  Index second{};
};

struct Update {
  int output = 0;
  std::vector<Term> terms;
};

/// Fields: u, v, u_next, between, then d, which is an array along the last axis.
enum Field : int { u, v, u_next, between, d };

struct Case {
  int rank = 1;
  Index n{1, 1, 1};
  std::array<bool, 3> spoken{};                  ///< by the definition; else the problem gives the word
  std::array<Word, 3> everywhere{};              ///< the word of an axis where nothing more is said
  std::array<std::array<Said, 2>, 3> sides;      ///< what is said of all fields
  std::map<std::array<int, 3>, Said> of_fields;  ///< by field, axis, side
  std::vector<std::vector<Update>> stages;
  bool reads_profile = false;

  std::string definition() const;

  /// The field's value there, which may lie beyond edges.
  double value(const std::vector<Cells>& cells, int field, Index index) const;

  /// Whether the stage writes the cell: none of its reads meets an edge that holds.
  bool writes(const std::vector<Update>& stage, const Index& cell) const;

  /// One stage; what it does not write stays as it is.
  void run(std::size_t stage, std::vector<Cells>& cells) const;

  std::int64_t place(const Index& index) const { return (index[2] * n[1] + index[1]) * n[0] + index[0]; }
  std::int64_t cells() const { return n[0] * n[1] * n[2]; }

 private:
  const Said& said(int field, std::size_t axis, bool high) const;
  double beyond(const std::vector<Cells>& cells, int field, Index index, std::size_t axis) const;
  double factor(const std::vector<Cells>& cells, const Term& term, const Index& cell) const;
  double profile_entry(const Cells& entries, std::int64_t index) const;
  bool mirrors_where_read(std::size_t axis) const;
};

struct Wishes {
  int stages = 0;               ///< 0: any
  bool advances_alone = false;  ///< u alone is read beside the cell
  std::int64_t wider = 0;       ///< cells that each axis has more
  int rank = 0;                 ///< 0: any
};

/// Case `number`: two of its axes have the pair of words whose turn it is, so that some hundreds have all of them.
Case draw_case(std::uint64_t number, const Wishes& wishes = {});

/// Random cells for each field.
std::vector<Cells> random_cells(const Case& drawn, Draw& draw);

}  // namespace stencil_tune::edge_words
