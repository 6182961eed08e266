#include "generator/kernel_source/signature.hpp"

#include "generator/trim/tokens.hpp"

namespace stencil_tune {
namespace {

/// Walks over C++ text token by token.
class Stripper {
 public:
  explicit Stripper(std::string_view text) : rest_(text) {}

  std::string strip() && {
    while (!rest_.empty()) {
      if (!skip_gap()) append(rest_.substr(0, token_length(rest_)));
    }
    end_directive();
    return std::move(result_);
  }

 private:
  bool skip_gap() {
    const std::size_t length = gap_length(rest_);
    if (length == 0) return false;
    if (rest_.front() == '\n') end_directive();
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
    return in_directive_ || is_word_character(result_.back()) == is_word_character(token.front());
  }

  void end_directive() {
    if (in_directive_) result_ += '\n';
    in_directive_ = false;
    at_line_start_ = true;
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
