#include "generator/kernel/signature.hpp"

#include <algorithm>
#include <cctype>

namespace stencil_tune {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_blank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

/// Walks over C++ text token by token.
class Stripper {
 public:
  explicit Stripper(std::string_view text) : rest_(text) {}

  std::string strip() && {
    while (!rest_.empty()) {
      if (!skip_gap()) append(rest_.substr(0, token_length()));
    }
    end_directive();
    return std::move(result_);
  }

 private:
  /// Blank space, a comment, or the end of a continued line.
  bool skip_gap() {
    std::size_t length = 0;
    if (rest_.starts_with("//")) {
      length = std::min(rest_.find('\n'), rest_.size());
    } else if (rest_.starts_with("/*")) {
      const std::size_t end = rest_.find("*/", 2);
      length = end == std::string_view::npos ? rest_.size() : end + 2;
    } else if (rest_.starts_with("\\\n")) {
      length = 2;
    } else if (is_blank(rest_.front())) {
      length = 1;
      if (rest_.front() == '\n') end_directive();
    } else {
      return false;
    }
    gap_ = true;
    rest_.remove_prefix(length);
    return true;
  }

  void append(std::string_view token) {
    const bool starts_directive = token == "#" && at_line_start_;
    if (starts_directive && !result_.empty() && result_.back() != '\n') result_ += '\n';
    if (gap_ && needs_gap(token)) result_ += ' ';
    in_directive_ = in_directive_ || starts_directive;
    result_ += token;
    rest_.remove_prefix(token.size());
    gap_ = false;
    at_line_start_ = false;
  }

  /// Between tokens that would become one, and wherever there is a gap in a directive: `#define F (x)` is not `F(x)`.
  bool needs_gap(std::string_view token) const {
    if (result_.empty() || result_.back() == '\n') return false;
    return in_directive_ || is_word(result_.back()) == is_word(token.front());
  }

  void end_directive() {
    if (in_directive_) result_ += '\n';
    in_directive_ = false;
    at_line_start_ = true;
  }

  std::size_t token_length() const {
    const char first = rest_.front();
    if (first == '"' || first == '\'') return quoted_length(0);
    if (is_digit(first)) return number_length();
    if (!is_word(first)) return 1;
    std::size_t end = 1;
    while (end < rest_.size() && is_word(rest_[end])) ++end;
    if (end == rest_.size() || (rest_[end] != '"' && rest_[end] != '\'')) return end;
    return rest_[end] == '"' && rest_[end - 1] == 'R' ? raw_length(end) : quoted_length(end);
  }

  /// Up to the quote that ends the literal whose first quote stands at `quote`.
  std::size_t quoted_length(std::size_t quote) const {
    std::size_t end = quote + 1;
    while (end < rest_.size() && rest_[end] != rest_[quote]) end += rest_[end] == '\\' ? 2 : 1;
    return std::min(end + 1, rest_.size());
  }

  /// R"mark(...)mark"
  std::size_t raw_length(std::size_t quote) const {
    const std::size_t open = rest_.find('(', quote);
    if (open == std::string_view::npos) return rest_.size();
    const std::string close = ')' + std::string(rest_.substr(quote + 1, open - quote - 1)) + '"';
    const std::size_t end = rest_.find(close, open);
    return end == std::string_view::npos ? rest_.size() : end + close.size();
  }

  /// A quote inside a number separates digits.
  std::size_t number_length() const {
    std::size_t end = 1;
    while (end < rest_.size() && (is_word(rest_[end]) || rest_[end] == '.' ||
                                  (rest_[end] == '\'' && end + 1 < rest_.size() && is_word(rest_[end + 1])))) {
      ++end;
    }
    return end;
  }

  std::string_view rest_;
  std::string result_;
  bool gap_ = false;
  bool in_directive_ = false;
  bool at_line_start_ = true;
};

}  // namespace

std::string strip_comments(std::string_view text) { return Stripper(text).strip(); }

}  // namespace stencil_tune
