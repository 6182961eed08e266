#include "generator/trim/fold.hpp"

#include "generator/trim/conditionals.hpp"

#include <algorithm>

namespace stencil_tune {
namespace {

bool is_statement_end(const SourceToken& token) { return token == ";" || token == "{" || token == "}"; }

/// A statement's end: the token after it.
std::size_t after_statement(std::string_view text, Tokens tokens, std::size_t at) {
  if (at >= tokens.size()) return tokens.size();
  if (tokens[at] == "{") return after_bracket(tokens, at);
  if (tokens[at] == "#") {  // a pragma, up to the end of its line
    const std::size_t line = text.find('\n', tokens[at].begin);
    while (at < tokens.size() && tokens[at].begin < line) ++at;
    return after_statement(text, tokens, at);
  }
  if (tokens[at] == "STENCIL_UNROLL") return after_statement(text, tokens, at + 1);
  if (tokens[at] == "if" || tokens[at] == "for" || tokens[at] == "while" || tokens[at] == "switch") {
    const bool chooses = tokens[at] == "if";
    if (is_at(tokens, ++at, "constexpr")) ++at;
    std::size_t end = after_statement(text, tokens, after_bracket(tokens, at));
    if (chooses && is_at(tokens, end, "else")) end = after_statement(text, tokens, end + 1);
    return end;
  }
  if (tokens[at] == "do") at = after_bracket(tokens, at + 1);
  while (at < tokens.size() && !(tokens[at] == ";")) {
    const bool opens = tokens[at] == "(" || tokens[at] == "[" || tokens[at] == "{";
    at = opens ? after_bracket(tokens, at) : at + 1;
  }
  return std::min(at + 1, tokens.size());
}

std::string trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \n");
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(" \n") + 1 - begin));
}

/// Statements of a block one level further out.
std::string without_braces(std::string_view block) {
  std::string text = trimmed(block.substr(1, block.size() - 2));
  for (std::size_t line = text.find("\n  "); line != std::string_view::npos; line = text.find("\n  ", line + 1)) {
    text.erase(line + 1, 2);
  }
  return text;
}

bool ends_with_return(const std::string& statements) {
  const std::vector<SourceToken> tokens = tokens_of(statements);
  std::size_t last = 0;
  for (std::size_t at = 0; at < tokens.size(); at = after_statement(statements, tokens, at)) last = at;
  return !tokens.empty() && tokens[last] == "return";
}

/// One `if` of a body.
struct Branch {
  std::size_t begin;  ///< of the text
  std::size_t end;
  bool embedded;      ///< the statement of an `if (...)`, a `for (...)` or an `else`
  std::string taken;  ///< the statement that is compiled; empty: none
};

class Folder {
 public:
  Folder(std::string_view head, std::string body, std::string_view type, const Constants& constants)
      : body_(std::move(body)), type_(type), constants_(constants) {
    add_parameters(tokens_of(head), local_);
    add_constants();
  }

  std::string fold() && {
    const std::vector<std::string> before = declared();
    bool any = false;
    for (std::size_t from = 0; const auto branch = next_branch(from);) {
      replace(*branch);
      from = branch->begin;
      any = true;
    }
    const std::string branched = body_;
    body_ = fold_conditionals(std::move(body_),
                              [&](Tokens expression) { return constants_.value(expression, type_, local_); });
    if (any || body_ != branched) clear_unused(before);
    while (clear_marked()) {
    }
    return std::move(body_);
  }

 private:
  void add_constants() {
    const std::vector<SourceToken> tokens = tokens_of(body_);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const bool starts = i == 0 || is_statement_end(tokens[i - 1]);
      if (!starts || !(tokens[i] == "constexpr" || tokens[i] == "using")) continue;
      const std::size_t end = after_statement(body_, tokens, i);
      add_meanings(Tokens(tokens).subspan(i, end - i), local_);
    }
  }

  /// The first decided branch from `from` on.
  std::optional<Branch> next_branch(std::size_t from) const {
    const std::vector<SourceToken> tokens = tokens_of(body_);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (tokens[i].begin < from || !(tokens[i] == "if")) continue;
      const std::size_t open = i + (is_at(tokens, i + 1, "constexpr") ? 2 : 1);
      const std::size_t close = after_bracket(tokens, open);
      if (!is_at(tokens, open, "(") || !is_at(tokens, close - 1, ")") || close == tokens.size()) continue;
      const auto value = constants_.value(Tokens(tokens).subspan(open + 1, close - open - 2), type_, local_);
      const bool embedded = i > 0 && (tokens[i - 1] == "else" || tokens[i - 1] == ")");
      if (value) return branch(tokens, i, close, *value != 0, embedded);
    }
    return {};
  }

  Branch branch(Tokens tokens, std::size_t at, std::size_t statement, bool holds, bool embedded) const {
    const std::size_t middle = after_statement(body_, tokens, statement);
    const bool has_else = is_at(tokens, middle, "else") && middle + 1 < tokens.size();
    const std::size_t end = has_else ? after_statement(body_, tokens, middle + 1) : middle;
    Branch result{tokens[at].begin, tokens[end - 1].end(), embedded, {}};
    if (holds) result.taken = text(tokens, statement, middle);
    if (!holds && has_else) result.taken = text(tokens, middle + 1, end);
    return result;
  }

  std::string text(Tokens tokens, std::size_t first, std::size_t end) const {
    return body_.substr(tokens[first].begin, tokens[end - 1].end() - tokens[first].begin);
  }

  void replace(const Branch& branch) {
    if (branch.embedded) {
      body_.replace(branch.begin, branch.end - branch.begin, branch.taken.empty() ? "{}" : branch.taken);
      return;
    }
    if (branch.taken.empty()) return remove(branch.begin, branch.end);
    const std::string statements = branch.taken.starts_with('{') ? without_braces(branch.taken) : branch.taken;
    const std::size_t end = ends_with_return(statements) ? end_of_block(branch.end) : branch.end;
    body_.replace(branch.begin, end - branch.begin, statements);
  }

  /// Where the last statement ends of the block that goes on at `at`.
  std::size_t end_of_block(std::size_t at) const {
    std::size_t end = at;
    int depth = 0;
    for (const SourceToken& token : tokens_of(body_)) {
      if (token.begin < at) continue;
      if (token == "{") ++depth;
      if (token == "}" && --depth < 0) break;
      end = token.end();
    }
    return end;
  }

  /// A statement with its lines and the comment above it.
  void remove(std::size_t begin, std::size_t end) {
    const auto line_begin = [&](std::size_t at) { return body_.rfind('\n', at == 0 ? 0 : at - 1) + 1; };
    const std::size_t first = line_begin(begin);
    if (body_.find_first_not_of(' ', first) != begin) {
      body_.erase(begin, end - begin);
      return;
    }
    begin = first;
    while (begin > 0) {
      const std::size_t above = line_begin(begin - 1);
      if (!trimmed(body_.substr(above, begin - above)).starts_with("//")) break;
      begin = above;
    }
    const std::size_t line_end = body_.find('\n', end);
    const std::string rest = trimmed(body_.substr(end, line_end - end));
    if (line_end != std::string_view::npos && (rest.empty() || rest.starts_with("//"))) end = line_end + 1;
    body_.erase(begin, end - begin);
  }

  /// Names that statements of the body declare as constant or as another name of a type, and that it uses.
  std::vector<std::string> declared() const {
    std::vector<std::string> names;
    const std::vector<SourceToken> tokens = tokens_of(body_);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (declares(tokens, i) && uses(tokens, name_at(tokens, i)) > 1) names.push_back(name_at(tokens, i));
    }
    return names;
  }

  static bool declares(Tokens tokens, std::size_t at) {
    return (at == 0 || is_statement_end(tokens[at - 1])) &&
           (tokens[at] == "const" || tokens[at] == "constexpr" || tokens[at] == "using");
  }
  static std::string name_at(Tokens tokens, std::size_t at) {
    while (at < tokens.size() && !(tokens[at] == "=") && !(tokens[at] == ";")) ++at;
    return std::string(tokens[at - 1].text);
  }
  static std::ptrdiff_t uses(Tokens tokens, const std::string& name) {
    return std::count(tokens.begin(), tokens.end(), std::string_view(name));
  }

  /// The first variable that is marked [[maybe_unused]] goes if nothing uses it.
  bool clear_marked() {
    const std::vector<SourceToken> tokens = tokens_of(body_);
    constexpr std::size_t kMark = 5;  // [[maybe_unused]]
    for (std::size_t i = 0; i + kMark < tokens.size(); ++i) {
      if (!is_op(tokens, i, "[[") || !is_at(tokens, i + 2, "maybe_unused")) continue;
      if (i > 0 && !is_statement_end(tokens[i - 1])) continue;
      const std::size_t end = after_statement(body_, tokens, i);
      if (has_call(tokens, i, end) || uses(tokens, declared_at(tokens, i + kMark, end)) > 1) continue;
      remove(tokens[i].begin, tokens[end - 1].end());
      return true;
    }
    return false;
  }

  /// The name of `Type name;`, `Type name(...);` or `Type name = ...;`
  static std::string declared_at(Tokens tokens, std::size_t at, std::size_t end) {
    while (at < end && !(tokens[at] == "=") && !(tokens[at] == ";") && !(tokens[at] == "(")) ++at;
    return std::string(tokens[at - 1].text);
  }

  /// In the value of a variable: something that may have an effect.
  static bool has_call(Tokens tokens, std::size_t begin, std::size_t end) {
    const auto last = tokens.begin() + static_cast<std::ptrdiff_t>(end);
    const auto value = std::find(tokens.begin() + static_cast<std::ptrdiff_t>(begin), last, "=");
    return std::find(value, last, "(") != last;
  }

  /// What only branches used that are gone goes too: constants, names of types, and what was computed without a call,
  /// which could have an effect.
  void clear_unused(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      const std::vector<SourceToken> tokens = tokens_of(body_);
      for (std::size_t i = 0; i < tokens.size(); ++i) {
        if (!declares(tokens, i) || name_at(tokens, i) != name || uses(tokens, name) > 1) continue;
        if (tokens[i] == "const" && has_call(tokens, i, after_statement(body_, tokens, i))) {
          body_.insert(tokens[i].begin, "[[maybe_unused]] ");
        } else {
          remove(tokens[i].begin, tokens[after_statement(body_, tokens, i) - 1].end());
        }
        break;
      }
    }
  }

  std::string body_;
  std::string_view type_;
  const Constants& constants_;
  Meanings local_;
};

}  // namespace

std::string fold_branches(std::string_view head, std::string body, std::string_view type, const Constants& constants) {
  return Folder(head, std::move(body), type, constants).fold();
}

}  // namespace stencil_tune
