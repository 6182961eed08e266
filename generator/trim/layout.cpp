#include "generator/trim/layout.hpp"

#include "generator/trim/width.hpp"

#include <algorithm>
#include <initializer_list>
#include <utility>
#include <vector>

namespace stencil_tune {
namespace {

constexpr std::string_view kUnroll = "STENCIL_UNROLL";

std::string_view without_indent(std::string_view line) {
  return line.substr(std::min(line.find_first_not_of(' '), line.size()));
}

bool starts_with_any(std::string_view statement, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](auto word) { return statement.starts_with(word); });
}

/// `if (...) {` and its like, complete in this line.
bool opens_a_block(std::string_view line) {
  return starts_with_any(without_indent(line), {"if ", "for ", "while ", kUnroll}) && line.ends_with(") {") &&
         std::count(line.begin(), line.end(), '(') == std::count(line.begin(), line.end(), ')') &&
         line.find_first_of("\"'") == std::string_view::npos;
}

/// One statement that needs no braces.
bool is_simple(std::string_view line) {
  return !starts_with_any(without_indent(line), {"if ", "for ", "while ", "do ", "switch ", "case ", kUnroll}) &&
         line.ends_with(';') && std::count(line.begin(), line.end(), ';') == 1 &&
         line.find_first_of("{\"") == std::string_view::npos && line.find("//") == std::string_view::npos;
}

class Joiner {
 public:
  void add(std::string_view line) {
    lines_.emplace_back(line);
    while (join_loop() || join_statement() || join_branches() || join_nest()) {
    }
  }

  std::string text() const {
    std::string text;
    for (const std::string& line : lines_) (text += line) += '\n';
    text.pop_back();
    return text;
  }

 private:
  /// `STENCIL_UNROLL`, then its loop.
  bool join_loop() {
    if (lines_.size() < 2) return false;
    std::string& above = lines_.end()[-2];
    const std::string_view loop = without_indent(lines_.back());
    if (without_indent(above) != kUnroll || above.size() + 1 + loop.size() > kWidth) return false;
    (above += ' ') += loop;
    lines_.pop_back();
    return true;
  }

  /// `if (...) {`, a statement, `}`.
  bool join_statement() {
    if (lines_.size() < 3 || without_indent(lines_.back()) != "}") return false;
    std::string& head = lines_.end()[-3];
    const std::string_view statement = without_indent(lines_.end()[-2]);
    if (!opens_a_block(head) || !is_simple(statement) || head.size() - 1 + statement.size() > kWidth) return false;
    head.replace(head.size() - 1, 1, statement);
    lines_.resize(lines_.size() - 2);
    return true;
  }

  /// `if (...) {`, a statement, `} else {`, a statement, `}`.
  bool join_branches() {
    if (lines_.size() < 5 || without_indent(lines_.back()) != "}") return false;
    std::string& head = lines_.end()[-5];
    const std::string_view statement = without_indent(lines_.end()[-4]), other = without_indent(lines_.end()[-2]);
    const bool branches = opens_a_block(head) && without_indent(head).starts_with("if ") &&
                          without_indent(lines_.end()[-3]) == "} else {" && is_simple(statement) && is_simple(other);
    if (!branches || head.size() - 1 + statement.size() > kWidth) return false;
    std::string otherwise = head.substr(0, head.find_first_not_of(' ')) + "else " + std::string(other);
    head.replace(head.size() - 1, 1, statement);
    lines_.end()[-4] = std::move(otherwise);
    lines_.resize(lines_.size() - 3);
    return true;
  }

  /// Unrolled loops of which each has nothing but the next one need no braces.
  bool join_nest() {
    if (lines_.size() < 3 || without_indent(lines_.back()) != "}") return false;
    const auto is_loop = [](std::string_view line, char end) {
      return without_indent(line).starts_with("STENCIL_UNROLL for (") && line.ends_with(end) &&
             line.find("//") == std::string_view::npos;
    };
    std::size_t inner = lines_.size() - 2;
    if (!is_loop(lines_[inner], ';')) return false;
    while (inner > 0 && is_loop(lines_[inner - 1], ')')) --inner;
    if (inner == 0 || !is_loop(lines_[inner - 1], '{') || !opens_a_block(lines_[inner - 1])) return false;
    lines_[inner - 1].resize(lines_[inner - 1].size() - 2);
    lines_.pop_back();
    return true;
  }

  std::vector<std::string> lines_;
};

}  // namespace

std::string with_short_lines_joined(std::string_view text) {
  Joiner joiner;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    joiner.add(text.substr(at, end - at));
    at = end + 1;
  }
  return joiner.text();
}

}  // namespace stencil_tune
