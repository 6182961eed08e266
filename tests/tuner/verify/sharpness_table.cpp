// How sharp the checks of all stencils are: a table, and failure where one is not sharp and should be.
//
//   sharpness_table [BOUNDARY...] [--part I/N] [--table FILE]
//
// Without a BOUNDARY it checks all. Rows go to the end of FILE, and those that it has are not made again: what was
// interrupted goes on. Processes share the work, each with a file of its own: with --part 2/8 every eighth row is made,
// from the second on.
#include "tests/tuner/verify/sharpness_cases.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <fstream>
#include <memory>
#include <set>
#include <stdexcept>
#include <string_view>

namespace stencil_tune {
namespace {

constexpr int kHighestOrder = 16;
constexpr std::string_view kNotSharp = "NOT SHARP: ";

struct Part {
  int number = 1;
  int of = 1;

  [[nodiscard]] bool has(int row) const { return row % of == number - 1; }
};

Part parse_part(const std::string& word) {
  Part part;
  int read = 0;
  if (std::sscanf(word.c_str(), "%d/%d%n", &part.number, &part.of, &read) != 2 || word.size() != std::size_t(read) ||
      part.number < 1 || part.number > part.of) {
    throw std::invalid_argument("--part is such as 2/8");
  }
  return part;
}

struct Asked {
  std::vector<Boundary> boundaries;
  Part part;
  std::string table;  ///< a file; empty: standard output
};

Asked parse(int count, char** words) {
  Asked asked;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    if (!word.starts_with("--")) {
      asked.boundaries.push_back(parse_boundary(words[i]));
    } else if (++i == count || (word != "--table" && word != "--part")) {
      throw std::invalid_argument("--table FILE and --part I/N are the options");
    } else if (word == "--table") {
      asked.table = words[i];
    } else {
      asked.part = parse_part(words[i]);
    }
  }
  if (!asked.boundaries.empty()) return asked;
  asked.boundaries = {Boundary::hold, Boundary::zero, Boundary::clamp, Boundary::periodic, Boundary::reflect};
  return asked;
}

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

/// A table that is added to. A row that was cut off is none.
struct Table {
  std::set<std::string> rows;
  std::unique_ptr<std::FILE, Close> file;
};

Table open_table(const std::string& path) {
  Table table;
  std::string line;
  for (std::ifstream text(path); std::getline(text, line) && !text.eof(); line.clear()) {
    if (line.starts_with(kNotSharp)) line.erase(0, kNotSharp.size());
    table.rows.insert(line);
  }
  table.file.reset(std::fopen(path.c_str(), "a"));
  if (!table.file) throw std::runtime_error("cannot write " + path);
  if (!line.empty()) fmt::print(table.file.get(), "\n");
  return table;
}

bool has_row(const std::set<std::string>& rows, const std::string& beginning) {
  const auto first = rows.lower_bound(beginning);
  return first != rows.end() && first->starts_with(beginning);
}

/// How many are not sharp of those that were made now.
int make_table(const Asked& asked) {
  const Table table = asked.table.empty() ? Table{} : open_table(asked.table);
  std::FILE* const out = table.file ? table.file.get() : stdout;
  int row_number = 0, made = 0, blunt = 0;
  for (const Boundary boundary : asked.boundaries) {
    for (const SharpnessCase& one : sharpness_cases(kHighestOrder, {1, 2, 4, 8, 12, 16, 32})) {
      if (!asked.part.has(row_number++)) continue;
      const std::string row = fmt::format("{:8} {}", name(boundary), title(one));
      if (has_row(table.rows, row)) continue;
      const Sharpness sharpness = sharpness_of(one, boundary);
      const bool is_bad = is_blunt(one, boundary, sharpness);
      fmt::print(out, "{}{}  {}\n", is_bad ? kNotSharp : "", row, to_text(sharpness));
      std::fflush(out);
      ++made;
      blunt += is_bad ? 1 : 0;
    }
  }
  fmt::print(stderr, "{} rows made, {} not sharp\n", made, blunt);
  return blunt;
}

}  // namespace
}  // namespace stencil_tune

int main(int count, char** words) {
  try {
    return stencil_tune::make_table(stencil_tune::parse(count, words)) == 0 ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "sharpness_table: {}\n", error.what());
    return 2;
  }
}
