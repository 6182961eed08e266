// How sharp the checks of all stencils are: a table, and failure where one is not sharp and should be.
//
//   sharpness_table [BOUNDARY...] [--table FILE]
//
// Of these boundaries (all). Rows go to the end of FILE, and those that it has are not made again: what was interrupted
// goes on, and processes share the work, each with boundaries and a file of its own.
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

struct Asked {
  std::vector<Boundary> boundaries;
  std::string table;  ///< a file; empty: standard output
};

Asked parse(int count, char** words) {
  Asked asked;
  for (int i = 1; i < count; ++i) {
    if (std::string_view(words[i]) != "--table") {
      asked.boundaries.push_back(parse_boundary(words[i]));
    } else if (++i < count) {
      asked.table = words[i];
    } else {
      throw std::invalid_argument("--table names a file");
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
  int made = 0, blunt = 0;
  for (const Boundary boundary : asked.boundaries) {
    for (const SharpnessCase& one : sharpness_cases(kHighestOrder, {1, 2, 4, 8, 12, 16, 32})) {
      const std::string row = fmt::format("{:8} {}", name(boundary), title(one));
      if (has_row(table.rows, row)) continue;
      const Sharpness sharpness = sharpness_of(one, boundary);
      const bool is_bad = is_blunt(one, sharpness);
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
