#include "generator/printable.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/replay/formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace stencil_tune {
namespace {

constexpr std::array<std::string_view, 3> kMeasured{"time_ms", "compile_ms", "benchmark_ms"};

/// Takes what stands before the mark, and the mark.
std::string_view take_until(std::string_view& text, char mark) {
  const std::string_view taken = text.substr(0, text.find(mark));
  text.remove_prefix(std::min(taken.size() + 1, text.size()));
  return taken;
}

std::string_view take_line(std::string_view& text) {
  std::string_view line = take_until(text, '\n');
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

constexpr std::size_t kMostCells = 1000;  // a line of nothing but commas would fill the memory

std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells;
  for (bool more = true; more && cells.size() <= kMostCells;) {
    more = line.find(',') != std::string_view::npos;
    cells.emplace_back(take_until(line, ','));
  }
  return cells;
}

}  // namespace

RecordedSpace read_csv_space(const std::string& name, std::string_view text) {
  const auto reject = [&](std::size_t line, const std::string& why) {
    throw Error(ErrorCode::invalid_argument, fmt::format("{}, line {}: {}", name, line, why));
  };
  const std::vector<std::string> header = cells_of(take_line(text));
  if (header.size() <= kMeasured.size() || !std::equal(kMeasured.begin(), kMeasured.end(), header.end() - 3)) {
    reject(1, "no recorded space: the header must name parameters, then time_ms,compile_ms,benchmark_ms");
  }
  const std::size_t parameters = header.size() - kMeasured.size();
  SpaceBuilder builder(name);
  for (std::size_t number = 2; !text.empty(); ++number) {
    const std::vector<std::string> cells = cells_of(take_line(text));
    if (cells.size() != header.size()) {
      reject(number, fmt::format("{} values where the header has {}", cells.size(), header.size()));
    }
    const auto milliseconds = [&](std::size_t column) {
      const std::string& cell = cells[column];
      double value = 0;
      const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
      if (error != std::errc{} || end != cell.data() + cell.size() || !(value >= 0) || !std::isfinite(value) ||
          (column == parameters && value == 0)) {
        reject(number, fmt::format("{} is '{}', which is no time", header[column], printable(cell)));
      }
      return value;
    };
    std::map<std::string, std::string> values;
    for (std::size_t i = 0; i < parameters; ++i) values.emplace(header[i], cells[i]);
    ConfigurationRecord evaluation;
    if (!cells[parameters].empty()) evaluation.time_ms = milliseconds(parameters);
    for (const std::size_t column : {parameters + 1, parameters + 2}) {
      if (!cells[column].empty()) evaluation.cost_ms += milliseconds(column);
    }
    builder.add(values, evaluation);
  }
  return builder.build();
}

}  // namespace stencil_tune
