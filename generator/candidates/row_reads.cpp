#include "generator/candidates/row_reads.hpp"

#include "generator/stencil/rewriting/sum_parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace stencil_tune {
namespace {

/// x offsets; empty when low > high.
struct Range {
  int low = 1;
  int high = 0;

  bool is_empty() const { return low > high; }
  void add(int x) { *this = is_empty() ? Range{x, x} : Range{std::min(low, x), std::max(high, x)}; }
};

struct RowUse {
  int left = 0;
  bool body = false;
  int right = 0;
  int at = 0;

  bool is_used() const { return body || left > 0 || right > 0; }
};

RowUse larger(const RowUse& a, const RowUse& b) {
  return {std::max(a.left, b.left), a.body || b.body, std::max(a.right, b.right)};
}

/// While a thread walks, part of a row is loaded at one plane of the reach and read for the last time at another.
struct Lifetime {
  int newest = -1;
  int oldest = 0;

  void extend_down_to(int p) {
    if (newest < 0) newest = p;
    oldest = p;
  }
};

/// Entries of an array, as many on a line as fit. Those of a row of the table stay together where a line has room.
std::string lines_of(const std::vector<std::string>& entries, std::size_t in_row) {
  constexpr std::size_t kWidth = 120, kIndent = 10;
  std::string text, line;
  const auto add = [&](std::string_view part) {
    const bool fits = kIndent + line.size() + 1 + part.size() <= kWidth;
    if (!fits) text += std::string(kIndent, ' ') + std::exchange(line, {}) + "\n";
    line += (line.empty() ? "" : " ") + std::string(part);
  };
  for (std::size_t row = 0; row < entries.size(); row += in_row) {
    const auto end = entries.begin() + static_cast<std::ptrdiff_t>(std::min(row + in_row, entries.size()));
    const auto begin = entries.begin() + static_cast<std::ptrdiff_t>(row);
    const std::string whole = fmt::format("{},", fmt::join(begin, end, ", "));
    if (kIndent + whole.size() <= kWidth) {
      add(whole);
    } else {
      for (auto each = begin; each != end; ++each) add(*each + ",");
    }
  }
  return text + std::string(kIndent, ' ') + line + "\n";
}

/// Statements of a function's body, as many on a line as fit.
std::string statement_lines(const std::vector<std::string>& statements, std::size_t indent = 6) {
  constexpr std::size_t kWidth = 120;
  std::string text, line;
  for (const std::string& each : statements) {
    if (!line.empty() && line.size() + 1 + each.size() > kWidth) text += std::exchange(line, {}) + "\n";
    line += (line.empty() ? std::string(indent, ' ') : " ") + each;
  }
  return line.empty() ? text : text + line + "\n";
}

constexpr std::size_t kMostEntriesOfTable = 128;

class RowTable {
 public:
  /// planes: how many the reach has. `add` then says what is read.
  RowTable(const StageFacts& facts, const KernelAxes& axes, const ThreadTile& tile, int planes)
      : facts_(facts),
        axes_(axes),
        tile_(tile),
        inputs_(static_cast<int>(facts_.inputs.size())),
        planes_(planes),
        rows_(tile.y + axes_.reach_width(1)),
        ranges_(static_cast<std::size_t>(inputs_ * planes_ * rows_)) {}

  int inputs() const { return inputs_; }
  int rows() const { return rows_; }
  const StageFacts& facts() const { return facts_; }
  const KernelAxes& axes() const { return axes_; }
  int input_of(const Tap& tap) const {
    return static_cast<int>(std::find(facts_.inputs.begin(), facts_.inputs.end(), tap.field) - facts_.inputs.begin());
  }

  /// The tap, of all outputs of a plane of the tile, in plane p.
  void add(const Tap& tap, int p) {
    const int first_row = axes_.offset(tap, 1) - axes_.reach[1].low;
    for (int j = 0; j < tile_.y; ++j) ranges_[place(input_of(tap), p, first_row + j)].add(axes_.offset(tap, 0));
  }

  /// After all taps.
  void settle() {
    for (const Range& range : ranges_) {
      RowUse use;
      if (!range.is_empty()) {
        use = {std::max(0, -range.low), tile_.body_for_halo || (range.low < tile_.x && range.high > -tile_.x),
               std::max(0, range.high)};
      }
      uses_.push_back(use);
    }
  }

  RowUse& use(int f, int p, int r) { return uses_[place(f, p, r)]; }

  /// Gives all rows their places; the number of cells.
  int place_cells() {
    int cells = 0;
    for (RowUse& use : uses_) {
      if (!use.is_used()) continue;
      use.at = cells + use.left;
      cells += use.left + tile_.x + use.right;
    }
    return cells;
  }

  /// For templates that ask how much of a row is read (RowUse).
  std::string uses_text(std::string_view name) {
    const int cells = place_cells();
    std::vector<std::string> entries, used;
    for (const RowUse& use : uses_) {
      if (use.is_used()) used.push_back(std::to_string(entries.size()));
      entries.push_back(use.is_used()
                            ? fmt::format("{{{}, {}, {}, {}}}", use.left, use.body ? tile_.x : 0, use.right, use.at)
                            : "{}");
    }
    return fmt::format(
        R"(  // Of each row that a thread reads: cells left of its own, its own, right of them; where its own stand in its window.
  struct {name} {{
    static constexpr int kPlanes = {planes}, kRows = {rows}, kCells = {cells};
    // Places in the table of the rows that are read.
    using Used = stencil_tune::Indices<{used}>;
    STENCIL_DEVICE static constexpr stencil_tune::RowUse row(int f, int{p}, int r) {{
{table}
    }}
    STENCIL_DEVICE static constexpr int at(int f, int p, int r) {{ return row(f, p, r).at; }}
  }};
)",
        fmt::arg("name", name), fmt::arg("planes", planes_), fmt::arg("rows", rows_), fmt::arg("cells", cells),
        fmt::arg("used", fmt::join(used, ", ")), fmt::arg("p", planes_ > 1 ? " p" : ""),
        fmt::arg("table", entries.size() > kMostEntriesOfTable ? cases(entries)
                                                               : table("stencil_tune::RowUse", "kUse", entries)));
  }

  /// For templates that load what the statements `more` say. place_cells() has been called.
  std::string places_text(int cells, const std::string& more) const {
    std::vector<std::string> entries;
    for (const RowUse& use : uses_) entries.push_back(std::to_string(use.at));
    return fmt::format(
        R"(  // The rows that a thread reads, in registers.
  struct Reads {{
    static constexpr int kPlanes = {planes}, kRows = {rows}, kCells = {cells};
    // Where its own cells of a row stand; those left and right of them stand beside them.
    STENCIL_DEVICE static constexpr int at(int f, int{p}, int r) {{
{table}
    }}
{more}  }};
)",
        fmt::arg("planes", planes_), fmt::arg("rows", rows_), fmt::arg("cells", cells),
        fmt::arg("p", planes_ > 1 ? " p" : ""), fmt::arg("table", table("int", "kAt", entries)),
        fmt::arg("more", more));
  }

  /// All rows at once.
  std::string load_text() {
    const int cells = place_cells();
    std::vector<std::string> loads;
    for (int f = 0; f < inputs_; ++f) {
      for (int p = 0; p < planes_; ++p) {
        for (int r = 0; r < rows_; ++r) {
          const RowUse& row = use(f, p, r);
          if (!row.is_used()) continue;
          loads.push_back(fmt::format("in.template load_row<{}, {}, {}>({}, {}, {}, cells + {});", row.left, row.body,
                                      row.right, f, p, r, row.at));
        }
      }
    }
    return places_text(cells,
                       fmt::format(
                           R"(    // Of input f row r of plane p: cells left of its own, whether its own, right of them.
    template <class Source, class Value>
    STENCIL_DEVICE static void load([[maybe_unused]] const Source& in, [[maybe_unused]] Value* cells) {{
{}    }}
)",
                           statement_lines(loads)));
  }

 private:
  /// Statements that look a row up which is read, where a table would be large: each cell that is read would make a
  /// copy of it, and a compiler sees through hundreds of them in minutes.
  std::string cases(const std::vector<std::string>& entries) const {
    std::vector<std::string> each;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (uses_[i].is_used()) each.push_back(fmt::format("case {}: return {};", i, entries[i]));
    }
    return fmt::format("      switch ({}) {{\n{}        default: return {{}};\n      }}", place_text(),
                       statement_lines(each, 8));
  }

  /// Statements that look row r of plane p up.
  std::string table(std::string_view type, std::string_view name, const std::vector<std::string>& entries) const {
    const std::string line =
        fmt::format("      constexpr {} {}[{}] = {{{}}};", type, name, entries.size(), fmt::join(entries, ", "));
    const std::string lines = fmt::format("      constexpr {} {}[{}] = {{\n{}      }};", type, name, entries.size(),
                                          lines_of(entries, static_cast<std::size_t>(rows_)));
    constexpr std::size_t kWidth = 120;
    return fmt::format("{}\n      return {}[{}];", line.size() <= kWidth ? line : lines, name, place_text());
  }

  std::string place_text() const { return fmt::format("{} * kRows + r", planes_ > 1 ? "(f * kPlanes + p)" : "f"); }

  std::size_t place(int f, int p, int r) const { return static_cast<std::size_t>((f * planes_ + p) * rows_ + r); }

  const StageFacts& facts_;
  const KernelAxes axes_;
  ThreadTile tile_;
  int inputs_, planes_, rows_;
  std::vector<Range> ranges_;
  std::vector<RowUse> uses_;
};

RowTable rows_of_tile(const StageFacts& facts, const KernelAxes& axes, const ThreadTile& tile, int ahead) {
  RowTable table(facts, axes, tile, tile.z + axes.reach_width(2) + ahead);
  for (const Tap& tap : table.facts().taps) {
    const int first_plane = table.axes().offset(tap, 2) - table.axes().reach[2].low;
    for (int k = 0; k < tile.z; ++k) table.add(tap, first_plane + k);
  }
  table.settle();
  return table;
}

RowTable rows_of_tile(const Candidate& candidate, const ThreadTile& tile, int ahead) {
  return rows_of_tile(candidate.problem().facts, candidate.shape().axes, tile, ahead);
}

/// What is read at two planes is kept at all planes between them, at each as wide as at the widest. It is also there in
/// the planes above them, since it is loaded `ahead` planes before its first use.
void keep_between(RowTable& table, int planes, int ahead, int f, int r) {
  for (int p = 0; p < planes; ++p) {
    RowUse below, above;
    for (int q = 0; q <= p; ++q) below = larger(below, table.use(f, q, r));
    for (int q = p; q < planes; ++q) above = larger(above, table.use(f, q, r));
    const RowUse widest = larger(below, above);
    table.use(f, p, r) = {below.left > 0 && above.left > 0 ? widest.left : 0, below.body && above.body,
                          below.right > 0 && above.right > 0 ? widest.right : 0};
  }
  for (int p = planes - 1; p > 0; --p) {
    for (int q = 1; q <= ahead && q <= p; ++q) table.use(f, p, r) = larger(table.use(f, p, r), table.use(f, p - q, r));
  }
}

/// Part of a row, while a thread walks: loaded at the newest plane that reads it, kept down to the oldest.
struct KeptPart {
  int f, r;
  Lifetime life;
  int first;         ///< cell, seen from the thread's first own one
  int cells;         ///< how many are kept
  std::string load;  ///< cells on the left, own ones or not, cells on the right
};

std::vector<KeptPart> kept_parts(RowTable& table, int planes, int own_cells, int f, int r) {
  Lifetime body, left, right;
  int left_cells = 0, right_cells = 0;
  for (int p = planes - 1; p >= 0; --p) {
    const RowUse& use = table.use(f, p, r);
    if (use.body) body.extend_down_to(p);
    if (use.left > 0) left.extend_down_to(p);
    if (use.right > 0) right.extend_down_to(p);
    left_cells = std::max(left_cells, use.left);
    right_cells = std::max(right_cells, use.right);
  }
  std::vector<KeptPart> parts{{f, r, body, 0, own_cells, "0, true, 0"},
                              {f, r, left, -left_cells, left_cells, fmt::format("{}, false, 0", left_cells)},
                              {f, r, right, own_cells, right_cells, fmt::format("0, false, {}", right_cells)}};
  std::erase_if(parts, [](const KeptPart& part) { return part.life.newest < 0; });
  return parts;
}

/// What a thread does with the rows of its window while it walks.
std::string walk_text(RowTable& table, const std::vector<KeptPart>& parts) {
  std::vector<std::string> fill, advance, shift;
  for (const KeptPart& part : parts) {
    const auto& [newest, oldest] = part.life;
    advance.push_back(fmt::format("in.template load_row<{}>({}, {}, {}, cells + {});", part.load, part.f, newest,
                                  part.r, table.use(part.f, newest, part.r).at));
    if (newest == oldest) continue;
    fill.push_back(fmt::format(
        "if constexpr ({0} <= kP && kP < {1}) in.template load_row<{2}>({3}, kP, {4}, cells + at({3}, kP, {4}));",
        oldest, newest, part.load, part.f, part.r));
    shift.push_back(fmt::format("window.template shift_down<{}, {}, {}, {}, {}, {}>();", part.f, part.r, part.first,
                                part.cells, oldest, newest));
  }
  return fmt::format(
      R"(    // Before the first step, of plane kP: what earlier steps would have loaded.
    template <int kP, class Source, class Value>
    STENCIL_DEVICE static void fill([[maybe_unused]] const Source& in, [[maybe_unused]] Value* cells) {{
{}    }}
    // What comes into reach: cells left of its own, whether its own, right of them, of input f row r of plane p.
    template <class Source, class Value>
    STENCIL_DEVICE static void advance(const Source& in, Value* cells) {{
{}    }}
    // One plane down.
    template <class Window>
    STENCIL_DEVICE static void shift([[maybe_unused]] Window& window) {{
{}    }}
)",
      statement_lines(fill), statement_lines(advance), statement_lines(shift));
}

}  // namespace

std::string tile_reads(const Candidate& candidate, const ThreadTile& tile) {
  return rows_of_tile(candidate, tile, 0).load_text();
}

std::string tile_uses(const StageFacts& facts, const KernelAxes& axes, const ThreadTile& tile) {
  return rows_of_tile(facts, axes, tile, 0).uses_text("Reads");
}

std::string reads_ahead(const Candidate& candidate, const ThreadTile& tile) {
  constexpr int kMostCells = 160;  // more would not fit the registers
  const bool fits = rows_of_tile(candidate, tile, 0).place_cells() <= kMostCells;
  return fmt::format("  static constexpr bool kReadsAhead = {};\n", fits);
}

std::string walk_reads(const Candidate& candidate, const ThreadTile& tile, int ahead, bool own_rows) {
  RowTable table = rows_of_tile(candidate, tile, ahead);
  const int planes = 1 + table.axes().reach_width(2) + ahead;
  std::vector<KeptPart> parts;
  for (int f = 0; f < table.inputs(); ++f) {
    for (int r = 0; r < table.rows(); ++r) {
      keep_between(table, planes, ahead, f, r);
      const bool own = r + table.axes().reach[1].low >= 0 && r + table.axes().reach[1].low < tile.y;
      for (int p = 0; own_rows && own && p < planes; ++p) table.use(f, p, r).body = true;
      for (KeptPart& part : kept_parts(table, planes, tile.x, f, r)) parts.push_back(std::move(part));
    }
  }
  if (own_rows) return table.load_text();
  const int cells = table.place_cells();
  return table.places_text(cells, walk_text(table, parts));
}

namespace {

RowTable rows_of_plane(const Candidate& candidate, const ThreadTile& tile, int first, int last) {
  RowTable table(candidate.problem().facts, candidate.shape().axes, tile, 1);
  for (const Tap& tap : table.facts().taps) {
    const int dz = table.axes().offset(tap, 2);
    const bool late = is_late(table.facts(), static_cast<std::size_t>(table.input_of(tap)));
    if (dz >= first && dz <= last && !late) table.add(tap, 0);
  }
  table.settle();
  return table;
}

}  // namespace

std::string plane_reads(const Candidate& candidate, const ThreadTile& tile, int first, int last) {
  return rows_of_plane(candidate, tile, first, last).load_text();
}

std::string plane_uses(std::string_view name, const Candidate& candidate, const ThreadTile& tile, int first, int last) {
  return rows_of_plane(candidate, tile, first, last).uses_text(name);
}

}  // namespace stencil_tune
