#include "tests/kernels/random/edge_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>

namespace stencil_tune::edge_words {
namespace {

constexpr std::array kNames{"u", "v", "u_next", "between", "d"};
constexpr int kReach = 3;

std::string place_text(const Index& offset, int rank) {
  std::string text;
  for (int axis = 0; axis < rank; ++axis) {
    const std::int64_t by = offset[static_cast<std::size_t>(axis)];
    if (by != 0) text += fmt::format("{}{}{:+}", text.empty() ? "" : ", ", "xyz"[axis], by);
  }
  return text.empty() ? "" : "[" + text + "]";
}

std::string said_text(const Said& said) {
  return said.text.empty() ? text_of(said.word) : fmt::format("{}({})", text_of(said.word), said.text);
}

std::string term_text(const Term& term, int rank) {
  const char axis = "xyz"[term.axis];
  std::string text =
      fmt::format("{}*{}{}", term.weight, kNames[static_cast<std::size_t>(term.field)], place_text(term.offset, rank));
  const std::string second = place_text(term.second, rank);
  switch (term.factor) {
    case Term::Factor::none:
      return text;
    case Term::Factor::field:
      return text + "*v" + second;
    case Term::Factor::profile:
      return text + "*d" + second;
    case Term::Factor::before:
      return text + fmt::format("*{}_before{}", axis, second);
    case Term::Factor::after:
      return text + fmt::format("*{}_after{}", axis, second);
    case Term::Factor::coordinate:
      return text + fmt::format("*{}{}", axis, second);
  }
  return text;
}

std::int64_t mirrored(std::int64_t i, std::int64_t n) {
  while (i < 0 || i >= n) {
    if (n == 1) return 0;
    i = i < 0 ? -i : 2 * (n - 1) - i;
  }
  return i;
}

bool is_mirror(Word word) { return word >= Word::reflect; }

}  // namespace

std::string text_of(Word word) {
  constexpr std::array kTexts{"hold", "zero", "clamp", "periodic", "reflect", "odd", "neumann", "dirichlet", "robin"};
  return kTexts[static_cast<std::size_t>(word)];
}

std::string Case::definition() const {
  std::string text = fmt::format("rank = {}\nfields = [\"u\", \"v\", \"u_next\"", rank);
  if (stages.size() > 1) text += ", \"between\"";
  if (reads_profile) text += fmt::format(", \"d({})\"", "xyz"[rank - 1]);
  text += "]\n[coefficients]\nq = 0.5\n";
  for (const std::vector<Update>& stage : stages) {
    text += "[[stage]]\n";
    for (const Update& update : stage) {
      text += fmt::format("{} = \"q*v", kNames[static_cast<std::size_t>(update.output)]);
      for (const Term& term : update.terms) text += " + " + term_text(term, rank);
      text += "\"\n";
    }
  }
  text += "[rotate]\nu_next = \"u\"\n[boundary]\n";
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (!spoken[axis]) continue;
    text += fmt::format("{0}.low = \"{1}\"\n{0}.high = \"{2}\"\n", "xyz"[axis], said_text(sides[axis][0]),
                        said_text(sides[axis][1]));
  }
  for (const auto& [where, said] : of_fields) {
    text += fmt::format("{}.{}.{} = \"{}\"\n", kNames[static_cast<std::size_t>(where[0])], "xyz"[where[1]],
                        where[2] == 0 ? "low" : "high", said_text(said));
  }
  return text;
}

const Said& Case::said(int field, std::size_t axis, bool high) const {
  const auto found = of_fields.find({field, static_cast<int>(axis), high ? 1 : 0});
  return found != of_fields.end() ? found->second : sides[axis][high ? 1 : 0];
}

double Case::value(const std::vector<Cells>& cells, int field, Index index) const {
  return beyond(cells, field, index, 0);
}

/// The axes before this one are settled.
double Case::beyond(const std::vector<Cells>& cells, int field, Index index, std::size_t axis) const {
  if (axis == 3) return cells[static_cast<std::size_t>(field)][static_cast<std::size_t>(place(index))];
  std::int64_t& i = index[axis];
  const std::int64_t last = n[axis] - 1;
  const std::int64_t far = i < 0 ? -i : i - last;
  if (i >= 0 && i <= last) return beyond(cells, field, index, axis + 1);
  const Said& edge = said(field, axis, i > last);
  switch (edge.word) {
    case Word::hold:
      throw std::logic_error("a cell that is written reads beyond an edge that holds");
    case Word::zero:
      return 0;
    case Word::clamp:
      i = i < 0 ? 0 : last;
      return beyond(cells, field, index, axis + 1);
    case Word::periodic:
      i = ((i % n[axis]) + n[axis]) % n[axis];
      return beyond(cells, field, index, axis + 1);
    case Word::reflect:
      i = mirrored(i, n[axis]);
      return beyond(cells, field, index, axis + 1);
    case Word::odd:
      i = mirrored(i, n[axis]);
      return -beyond(cells, field, index, axis + 1);
    case Word::neumann:
      i = mirrored(i, n[axis]);
      return beyond(cells, field, index, axis + 1) + 2 * static_cast<double>(far) * edge.terms[0];
    case Word::dirichlet:
      i = mirrored(i, n[axis]);
      return 2 * edge.terms[0] - beyond(cells, field, index, axis + 1);
    case Word::robin: {  // a (ghost + inner) / 2 + b (ghost - inner) / (2 k) = g
      i = mirrored(i, n[axis]);
      const double inner = beyond(cells, field, index, axis + 1), half = 0.5 / static_cast<double>(far);
      const auto [a, b, g] = edge.terms;
      return (g - (a / 2 - b * half) * inner) / (a / 2 + b * half);
    }
  }
  return 0;
}

/// As kernels answer on the axis: mirrored where any field is that is read beyond its edges.
double Case::profile_entry(const Cells& entries, std::int64_t index) const {
  const auto axis = static_cast<std::size_t>(rank) - 1;
  std::set<Word> words;
  for (const auto& stage : stages) {
    for (const Update& update : stage) {
      for (const Term& term : update.terms) {
        const auto add = [&](int field, const Index& offset) {
          if (offset[axis] != 0) words.insert(said(field, axis, offset[axis] > 0).word);
        };
        add(term.field, term.offset);
        if (term.factor == Term::Factor::field) add(v, term.second);
      }
    }
  }
  if (words.empty()) words = {everywhere[axis]};
  const std::int64_t last = n[axis] - 1;
  if (index >= 0 && index <= last) return entries[static_cast<std::size_t>(index)];
  const bool mirror = std::any_of(words.begin(), words.end(), is_mirror);
  if (mirror) return entries[static_cast<std::size_t>(mirrored(index, n[axis]))];
  if (words == std::set<Word>{Word::zero}) return 0;
  if (words.contains(Word::periodic)) {
    return entries[static_cast<std::size_t>(((index % n[axis]) + n[axis]) % n[axis])];
  }
  return entries[static_cast<std::size_t>(index < 0 ? 0 : last)];
}

double Case::factor(const std::vector<Cells>& cells, const Term& term, const Index& cell) const {
  constexpr std::array<std::int64_t, 3> kOrigin{3, 11, 5};  // where the reference's coordinates begin
  const auto axis = static_cast<std::size_t>(term.axis);
  const std::int64_t along = cell[axis] + term.second[axis];
  switch (term.factor) {
    case Term::Factor::none:
      return 1;
    case Term::Factor::field:
      return value(cells, v, {cell[0] + term.second[0], cell[1] + term.second[1], cell[2] + term.second[2]});
    case Term::Factor::profile:
      return profile_entry(cells[d], along);
    case Term::Factor::before:
      return static_cast<double>(std::max<std::int64_t>(0, -along));
    case Term::Factor::after:
      return static_cast<double>(std::max<std::int64_t>(0, along - (n[axis] - 1)));
    case Term::Factor::coordinate:
      return static_cast<double>(kOrigin[axis] + along);
  }
  return 1;
}

bool Case::writes(const std::vector<Update>& stage, const Index& cell) const {
  const auto inside = [&](const Index& offset) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::int64_t i = cell[axis] + offset[axis];
      if (everywhere[axis] == Word::hold && (i < 0 || i >= n[axis])) return false;
    }
    return true;
  };
  for (const Update& update : stage) {
    for (const Term& term : update.terms) {
      if (!inside(term.offset) || (term.factor == Term::Factor::field && !inside(term.second))) return false;
    }
  }
  return true;
}

void Case::run(std::size_t stage, std::vector<Cells>& cells) const {
  std::vector<Cells> after = cells;
  for (Index cell{0, 0, 0}; cell[2] < n[2]; ++cell[2]) {
    for (cell[1] = 0; cell[1] < n[1]; ++cell[1]) {
      for (cell[0] = 0; cell[0] < n[0]; ++cell[0]) {
        if (!writes(stages[stage], cell)) continue;
        for (const Update& update : stages[stage]) {
          double sum = 0.5 * value(cells, v, cell);
          for (const Term& term : update.terms) {
            const Index read{cell[0] + term.offset[0], cell[1] + term.offset[1], cell[2] + term.offset[2]};
            sum += term.weight * value(cells, term.field, read) * factor(cells, term, cell);
          }
          after[static_cast<std::size_t>(update.output)][static_cast<std::size_t>(place(cell))] = sum;
        }
      }
    }
  }
  cells = std::move(after);
}

namespace {

class CaseDraw {
 public:
  CaseDraw(std::uint64_t number, const Wishes& wishes) : draw_(number), wishes_(wishes) {
    case_.rank = wishes.rank > 0 ? wishes.rank : number % 8 == 7 ? 1 : number % 8 < 3 ? 2 : 3;
    draw_words(number);
  }

  Case run() && {
    const int stages = wishes_.stages > 0 ? wishes_.stages : holds() ? 1 : draw_.between(1, 2);
    if (stages == 1) {
      std::erase_if(case_.of_fields, [](const auto& each) { return each.first[0] == between; });
      case_.stages = {{update(u_next, {u, v})}};
    } else {
      case_.stages = {{update(between, {u, v})}, {update(u_next, {between, u})}};
    }
    draw_extents();
    return std::move(case_);
  }

 private:
  bool holds() const {
    const auto end = case_.everywhere.begin() + case_.rank;
    return std::find(case_.everywhere.begin(), end, Word::hold) != end;
  }

  Said said(Word word) {
    Said said{word};
    const std::size_t terms = word == Word::robin ? 3 : word == Word::neumann || word == Word::dirichlet ? 1 : 0;
    for (std::size_t i = 0; i < terms; ++i) {
      // The first two of robin have one sign: their sum is no 0.
      said.terms[i] = terms == 3 && i < 2 ? draw_.one_of({0.25, 0.5, 1.5}) : draw_.one_of({0.25, -0.375, 1.5});
      const bool of_coefficient = draw_.one_in(2);  // q is 0.5
      said.text += fmt::format("{}{}{}", i > 0 ? ", " : "", (of_coefficient ? 2 : 1) * said.terms[i],
                               of_coefficient ? "*q" : "");
    }
    return said;
  }

  /// One that goes with the word on one axis.
  Word companion(Word word) {
    if (is_mirror(word)) {
      return draw_.one_of({Word::zero, Word::reflect, Word::odd, Word::neumann, Word::dirichlet, Word::robin});
    }
    if (word == Word::clamp) return draw_.one_of({Word::zero, Word::clamp});
    return word;
  }

  void draw_words(std::uint64_t number) {
    const auto pair = static_cast<int>(number % (kWords * kWords));
    std::array<Word, 3> words{static_cast<Word>(draw_.between(0, kWords - 1)),
                              static_cast<Word>(draw_.between(0, kWords - 1)),
                              static_cast<Word>(draw_.between(0, kWords - 1))};
    const std::size_t skipped = case_.rank == 3 ? draw_.between(0, 2) : 2;
    words[skipped == 0 ? 1 : 0] = static_cast<Word>(pair / kWords);
    words[skipped == 2 ? 1 : 2] = static_cast<Word>(pair % kWords);
    if (wishes_.stages > 1) {
      for (Word& word : words) word = word == Word::hold ? Word::zero : word;
    }
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(case_.rank); ++axis) draw_axis(axis, words[axis]);
  }

  void draw_axis(std::size_t axis, Word word) {
    case_.everywhere[axis] = word;
    const bool kernels_own = word <= Word::reflect;
    case_.spoken[axis] = !kernels_own || draw_.one_in(2);
    case_.sides[axis] = {said(word), said(word)};
    if (!case_.spoken[axis]) return;
    if (draw_.one_in(3)) case_.sides[axis][draw_.between(std::size_t{0}, 1)] = said(companion(word));
    for (const int field : {u, v, between}) {
      const int side = draw_.between(0, 1);
      if (draw_.one_in(4)) case_.of_fields[{field, static_cast<int>(axis), side}] = said(companion(word));
    }
  }

  std::int64_t by() { return draw_.one_in(5) ? draw_.between(-kReach, kReach) : draw_.between(-1, 1); }

  Index offset() {
    Index offset{0, 0, 0};
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(case_.rank); ++axis) offset[axis] = by();
    return offset;
  }

  Update update(int output, const std::vector<int>& fields) {
    constexpr std::array kWeights{0.125, -0.25, 0.0625, 0.1875, -0.09375, 0.15625};
    Update update{output, {}};
    const int count = draw_.between(2, 5);
    for (int i = 0; i < count; ++i) {
      Term term{.weight = kWeights[static_cast<std::size_t>(i)], .field = draw_.one_of(fields), .offset = offset()};
      if (i == 0) term.field = fields.front();
      if (wishes_.advances_alone && term.field != u) term.offset = {0, 0, 0};
      if (draw_.one_in(4)) add_factor(term);
      update.terms.push_back(term);
    }
    return update;
  }

  void add_factor(Term& term) {
    using enum Term::Factor;
    term.factor = draw_.one_of({field, profile, before, after, coordinate});
    term.axis = term.factor == profile ? case_.rank - 1 : draw_.between(0, case_.rank - 1);
    if (term.factor == field) {
      term.second = wishes_.advances_alone ? Index{0, 0, 0} : offset();
    } else {
      term.second[static_cast<std::size_t>(term.axis)] = by();
    }
    if (term.factor == coordinate) term.weight /= 16;
    case_.reads_profile = case_.reads_profile || term.factor == profile;
  }

  /// As few cells as the words allow, or some more.
  void draw_extents() {
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(case_.rank); ++axis) {
      std::int64_t low = 0, high = 0;
      for (const auto& stage : case_.stages) {
        for (const Update& update : stage) {
          for (const Term& term : update.terms) {
            for (const std::int64_t by : {term.offset[axis], term.second[axis]}) {
              low = std::min(low, by);
              high = std::max(high, by);
            }
          }
        }
      }
      const std::int64_t least = case_.everywhere[axis] == Word::hold ? high - low + 1 : std::max(-low, high) + 1;
      case_.n[axis] = least + draw_.between(0, 3) + wishes_.wider;
      const bool plain = !case_.spoken[axis] && case_.everywhere[axis] != Word::hold && !asks_edge(axis);
      if (plain && wishes_.wider == 0 && draw_.one_in(3)) case_.n[axis] = draw_.between(1, 3);
    }
  }

  bool asks_edge(std::size_t axis) const {
    for (const auto& stage : case_.stages) {
      for (const Update& update : stage) {
        for (const Term& term : update.terms) {
          const bool asks = term.factor == Term::Factor::before || term.factor == Term::Factor::after;
          if (asks && static_cast<std::size_t>(term.axis) == axis) return true;
        }
      }
    }
    return false;
  }

  Draw draw_;
  Wishes wishes_;
  Case case_;
};

}  // namespace

Case draw_case(std::uint64_t number, const Wishes& wishes) { return CaseDraw(number, wishes).run(); }

std::vector<Cells> random_cells(const Case& drawn, Draw& draw) {
  std::vector<Cells> fields;
  for (int field = u; field <= d; ++field) {
    Cells cells(
        static_cast<std::size_t>(field == d ? drawn.n[static_cast<std::size_t>(drawn.rank) - 1] : drawn.cells()));
    for (double& cell : cells) cell = draw.between(-64, 64) / 64.0;
    fields.push_back(std::move(cells));
  }
  return fields;
}

}  // namespace stencil_tune::edge_words
