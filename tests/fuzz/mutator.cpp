#include "tests/fuzz/mutator.hpp"

#include <algorithm>
#include <array>

namespace stencil_tune {
namespace {

constexpr std::size_t kMostChanges = 6;
constexpr std::size_t kLongestCut = 20;
constexpr std::size_t kLongestSplice = 30;

}  // namespace

std::string Mutator::mutate(std::string text, const std::string& other) {
  for (std::size_t i = 1 + below(kMostChanges); i > 0; --i) change(text, other);
  return text;
}

void Mutator::change(std::string& text, const std::string& other) {
  static const std::array<std::string, 20> words{
      "(",  ")",           "[",  "]", "\"", "\"\"\"",   "^2",  "laplacian(", "u",           "1e999",
      "\n", "[[stage]]\n", "= ", "-", "\\", "\xc3\xa9", "let", "select(",    "accuracy=16", "x+16"};
  if (text.empty()) text = "u";
  const std::size_t at = below(text.size());
  const std::size_t length = 1 + below(std::min(kLongestCut, text.size() - at));
  switch (below(6)) {
    case 0:
      text.erase(at, length);
      break;
    case 1:
      text[at] = static_cast<char>(below(256));
      break;
    case 2:
      text.insert(at, words[below(words.size())]);
      break;
    case 3:
      text.insert(at, text.substr(at, length));
      break;
    case 4:
      text.replace(at, length, words[below(words.size())]);
      break;
    default:
      if (!other.empty()) text.insert(at, other.substr(below(other.size()), 1 + below(kLongestSplice)));
      break;
  }
}

}  // namespace stencil_tune
