#include "generator/trim/conditionals.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace stencil_tune {
namespace {

struct Range {
  std::size_t begin = 0;  ///< token
  std::size_t end = 0;    ///< one past the last
};

struct Replacement {
  Range range;
  std::string text;
};

/// One of two characters that make an operator, as in "::" or "<=".
bool is_beside(Tokens tokens, std::size_t at, std::initializer_list<std::string_view> others) {
  const bool before = at > 0 && tokens[at - 1].end() == tokens[at].begin && is_any(tokens[at - 1], others);
  const bool after =
      at + 1 < tokens.size() && tokens[at].end() == tokens[at + 1].begin && is_any(tokens[at + 1], others);
  return before || after;
}

bool is_colon(Tokens tokens, std::size_t at) { return tokens[at] == ":" && !is_beside(tokens, at, {":"}); }
bool is_assignment(Tokens tokens, std::size_t at) {
  return tokens[at] == "=" && !is_beside(tokens, at, {"=", "!", "<", ">"});
}

bool closes(const SourceToken& token) { return is_any(token, {")", "]", "}"}); }

/// What an expression with && and || ends at on either side, outside of brackets.
bool bounds(Tokens tokens, std::size_t at) {
  return is_any(tokens[at], {",", ";", "?", "return"}) || is_colon(tokens, at) || is_assignment(tokens, at);
}

/// The first token of the expression that ends before `end`.
std::size_t begin_of(Tokens tokens, std::size_t end) {
  int depth = 0;
  for (std::size_t i = end; i > 0; --i) {
    const SourceToken& token = tokens[i - 1];
    if (depth == 0 && (opens(token) || token == "}" || bounds(tokens, i - 1))) return i;
    if (closes(token)) ++depth;
    if (opens(token)) --depth;
  }
  return 0;
}

/// The token that ends the expression at `begin`: of `a ? b : c` the first colon ends b.
std::size_t end_of(Tokens tokens, std::size_t begin) {
  int choices = 0;
  for (std::size_t i = begin; i < tokens.size(); ++i) {
    if (opens(tokens[i])) {
      i = after_bracket(tokens, i) - 1;
    } else if (tokens[i] == "?") {
      ++choices;
    } else if (is_colon(tokens, i)) {
      if (choices-- == 0) return i;
    } else if (closes(tokens[i]) || is_any(tokens[i], {",", ";"})) {
      return i;
    }
  }
  return tokens.size();
}

std::string text_of(std::string_view text, Tokens tokens, Range range) {
  const std::size_t begin = tokens[range.begin].begin;
  return std::string(text.substr(begin, tokens[range.end - 1].end() - begin));
}

/// A name, a number or a call: needs no brackets around it.
bool is_primary(Tokens tokens, Range range) {
  const Tokens all = tokens.subspan(range.begin, range.end - range.begin);
  if (all.size() == 1) return true;
  if (!is_word(all[0]) || !(all.back() == ")")) return false;
  std::ptrdiff_t angles = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (opens(all[i])) i = after_bracket(all, i) - 1;
    if (all[i] == "<") ++angles;
    if (all[i] == ">") --angles;
    const bool plain = is_word(all[i]) || closes(all[i]) || is_any(all[i], {":", ".", "<", ">"});
    if (!plain) return false;
  }
  return angles == 0;
}

/// `+ 0` or `* 1` at the end of an expression.
bool is_idle(Tokens tokens, Range operand, std::string_view text) {
  const bool ends = operand.end < tokens.size() && is_any(tokens[operand.end], {")", ",", ";"});
  if (!ends || operand.begin < 2 || is_any(tokens[operand.begin - 2], {"+", "*"})) return false;
  const SourceToken& op = tokens[operand.begin - 1];
  return (text == "0" && op == "+") || (text == "1" && op == "*");
}

/// Whether an angle bracket closes in the range that has not opened there: the range ends among a template's arguments.
bool closes_an_angle(Tokens tokens, Range range) {
  int angles = 0;
  for (std::size_t i = range.begin; i < range.end; ++i) {
    if (opens(tokens[i])) i = after_bracket(tokens, i) - 1;
    if (is_beside(tokens, i, {"-", "=", "<", ">"})) continue;  // no bracket
    if (tokens[i] == "<") ++angles;
    if (tokens[i] == ">" && --angles < 0) return true;
  }
  return false;
}

/// The first choice that is known.
std::optional<Replacement> known_choice(std::string_view body, Tokens tokens, const KnownValue& value) {
  for (std::size_t i = 1; i < tokens.size(); ++i) {
    if (!(tokens[i] == "?")) continue;
    const std::size_t begin = begin_of(tokens, i);
    const std::size_t middle = end_of(tokens, i + 1);
    if (begin == i || middle >= tokens.size() || !(tokens[middle] == ":")) continue;
    const std::size_t end = end_of(tokens, middle + 1);
    const auto holds = value(tokens.subspan(begin, i - begin));
    if (!holds || end >= tokens.size()) continue;
    const Range branch = *holds != 0 ? Range{i + 1, middle} : Range{middle + 1, end};
    // A comma could stand between the arguments of a template.
    const auto is_angle = [](const SourceToken& token) { return token == "<"; };
    const bool unsure = tokens[end] == "," && std::any_of(tokens.begin() + static_cast<std::ptrdiff_t>(middle),
                                                          tokens.begin() + static_cast<std::ptrdiff_t>(end), is_angle);
    if (unsure || closes_an_angle(tokens, {middle + 1, end})) continue;
    Range whole{begin, end};
    const bool grouped = begin > 1 && tokens[begin - 1] == "(" && tokens[end] == ")" && !is_word(tokens[begin - 2]) &&
                         !is_any(tokens[begin - 2], {">", ")", "]"});
    if (grouped && is_primary(tokens, branch)) whole = {begin - 1, end + 1};
    const std::string text = text_of(body, tokens, branch);
    if (!is_idle(tokens, whole, text)) return Replacement{whole, text};
    return Replacement{{whole.begin - 1, whole.end}, {}};
  }
  return {};
}

/// Whether only the truth of the expression counts that begins there.
bool asks_for_truth(Tokens tokens, std::size_t begin) {
  if (begin == 0) return false;
  if (tokens[begin - 1] == "return" || is_assignment(tokens, begin - 1)) return true;
  return begin > 1 && tokens[begin - 1] == "(" &&
         is_any(tokens[begin - 2], {"if", "while", "constexpr", "|", "&", "!"});
}

/// Operands of `op` in an expression, outside of brackets.
std::vector<Range> operands(Tokens tokens, Range expression, std::string_view op) {
  std::vector<Range> all{{expression.begin, expression.end}};
  for (std::size_t i = expression.begin; i < expression.end; ++i) {
    if (opens(tokens[i])) i = after_bracket(tokens, i) - 1;
    if (i >= expression.end || !is_op(tokens, i, op)) continue;
    all.back().end = i;
    all.push_back({i + op.size(), expression.end});
    ++i;
  }
  return all;
}

/// The first && or || with an operand that is known and says nothing.
std::optional<Replacement> idle_operand(std::string_view body, Tokens tokens, const KnownValue& value) {
  for (std::size_t i = 1; i < tokens.size(); ++i) {
    if (!is_op(tokens, i, "&&") && !is_op(tokens, i, "||")) continue;
    const std::size_t begin = begin_of(tokens, i);
    const Range expression{begin, end_of(tokens, i)};
    if (!asks_for_truth(tokens, begin) || expression.end >= tokens.size()) continue;
    auto all = operands(tokens, expression, "||");
    const bool any_of = all.size() > 1;
    if (!any_of) all = operands(tokens, expression, "&&");
    const auto idle = std::find_if(all.begin(), all.end(), [&](const Range& each) {
      if (each.begin == each.end) return false;
      const auto known = value(tokens.subspan(each.begin, each.end - each.begin));
      return known && (*known != 0) != any_of;
    });
    if (all.size() < 2 || idle == all.end()) continue;
    const bool first = idle == all.begin();
    const Range removed{first ? idle->begin : std::prev(idle)->end, first ? std::next(idle)->begin : idle->end};
    all.erase(idle);
    std::string rest = all.size() > 1 ? std::string() : text_of(body, tokens, all[0]);
    if (all.size() > 1) return Replacement{removed, {}};
    const bool grouped = tokens[all[0].begin] == "(" && after_bracket(tokens, all[0].begin) == all[0].end;
    if (grouped) rest = rest.substr(1, rest.size() - 2);
    return Replacement{expression, rest};
  }
  return {};
}

/// Also the blank space behind what goes without a word in its place.
void apply(const Replacement& replacement, Tokens tokens, std::string& body) {
  const std::size_t begin = tokens[replacement.range.begin].begin;
  const bool gone = replacement.text.empty();
  const SourceToken& next = tokens[replacement.range.end];
  const std::size_t end = gone ? next.begin : tokens[replacement.range.end - 1].end();
  const bool at_end = gone && (closes(next) || is_any(next, {",", ";"}));
  const std::size_t from = at_end ? tokens[replacement.range.begin - 1].end() : begin;
  body.replace(from, end - from, replacement.text);
}

}  // namespace

std::string fold_conditionals(std::string body, const KnownValue& value) {
  while (true) {
    const std::vector<SourceToken> tokens = tokens_of(body);
    auto replacement = known_choice(body, tokens, value);
    if (!replacement) replacement = idle_operand(body, tokens, value);
    if (!replacement) return body;
    apply(*replacement, tokens, body);
  }
}

}  // namespace stencil_tune
