#include "generator/suggest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace stencil_tune {
namespace {

constexpr std::size_t kLongestCompared = 64;  // longer texts are cut: no name here is that long

std::string folded(std::string_view text) {
  std::string result(text.substr(0, kLongestCompared));
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  const std::string from = folded(a);
  const std::string to = folded(b);
  std::vector<std::size_t> before_last(to.size() + 1);
  std::vector<std::size_t> last(to.size() + 1);
  std::vector<std::size_t> row(to.size() + 1);
  for (std::size_t j = 0; j <= to.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= from.size(); ++i) {
    before_last.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t substitution = last[j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
      row[j] = std::min({substitution, last[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[to.size()];
}

std::string nearest_name(std::string_view text, const std::vector<std::string>& names) {
  const std::size_t tolerance = std::max<std::size_t>(1, std::min(text.size(), kLongestCompared) / 3);
  std::string best;
  std::size_t best_distance = tolerance + 1;
  for (const std::string& name : names) {
    const std::size_t distance = edit_distance(text, name);
    if (distance < best_distance) {
      best = name;
      best_distance = distance;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view text, const std::vector<std::string>& names) {
  constexpr std::size_t kLeastBeginning = 3, kMostShown = 4;
  const std::string name = nearest_name(text, names);
  if (!name.empty()) return "; did you mean '" + name + "'?";
  std::vector<std::string> longer;
  for (const std::string& each : names) {
    if (text.size() >= kLeastBeginning && folded(each).starts_with(folded(text))) longer.push_back(each);
  }
  if (longer.empty()) return {};
  const bool more = longer.size() > kMostShown;
  longer.resize(std::min(longer.size(), kMostShown));
  return fmt::format("; did you mean {}{}?", fmt::join(longer, ", "), more ? " ..." : "");
}

}  // namespace stencil_tune
