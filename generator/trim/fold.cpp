#include "generator/trim/fold.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace stencil_tune {
namespace {

/// The token after the statement at `at`.
std::size_t after_statement(Tokens tokens, std::size_t at) {
  if (is_at(tokens, at, "{")) return after_bracket(tokens, at);
  if (is_at(tokens, at, "STENCIL_UNROLL")) return after_statement(tokens, at + 1);
  const bool chooses = is_at(tokens, at, "if");
  if (chooses || is_at(tokens, at, "for") || is_at(tokens, at, "while")) {
    while (at < tokens.size() && !(tokens[at] == "(")) ++at;
    at = after_statement(tokens, after_bracket(tokens, at));
    return chooses && is_at(tokens, at, "else") ? after_statement(tokens, at + 1) : at;
  }
  while (at < tokens.size() && !(tokens[at] == ";")) at = opens(tokens[at]) ? after_bracket(tokens, at) : at + 1;
  return std::min(at + 1, tokens.size());
}

/// Statements of a block one level further out.
std::string without_braces(std::string_view block) {
  const std::size_t begin = block.find_first_not_of(" \n", 1);
  const std::size_t end = block.find_last_not_of(" \n", block.size() - 2) + 1;
  std::string text(begin < end ? block.substr(begin, end - begin) : "");
  for (std::size_t line = text.find("\n  "); line != std::string::npos; line = text.find("\n  ", line + 1)) {
    text.erase(line + 1, 2);
  }
  return text;
}

bool ends_with_return(std::string_view statements) {
  const std::vector<SourceToken> tokens = tokens_of(statements);
  std::size_t last = 0;
  for (std::size_t at = 0; at < tokens.size(); at = after_statement(tokens, at)) last = at;
  return is_at(tokens, last, "return");
}

/// What the statement declares that begins at `at`, if one does.
void add_declared(Tokens tokens, std::size_t at, Meanings& meanings) {
  const bool begins = at == 0 || is_any(tokens[at - 1], {";", "{", "}"});
  if (!begins || !is_any(tokens[at], {"const", "constexpr", "using"})) return;
  add_meanings(tokens.subspan(at, after_statement(tokens, at) - at), meanings);
}

/// The head of a definition, or its body.
class Folder {
 public:
  Folder(std::string text, std::string_view type, const Constants& constants, const Meanings& local)
      : text_(std::move(text)), tokens_(tokens_of(text_)), type_(type), constants_(constants), local_(local) {}

  std::string folded(bool is_body) && {
    for (std::size_t i = 0; i < tokens_.size();) i = fold_branch(i) || fold_choice(i) ? i : i + 1;
    if (is_body) drop_unused();
    return tokens_.empty() && text_.find("//") == std::string::npos ? std::string() : std::move(text_);
  }

 private:
  std::optional<long long> value(std::size_t first, std::size_t end) const {
    return constants_.value(Tokens(tokens_).subspan(first, end - first), type_, local_);
  }

  /// Whether an `if` was there that is decided; what it takes stands there now.
  bool fold_branch(std::size_t at) {
    if (!(tokens_[at] == "if") || !is_at(tokens_, at + 1, "constexpr") || !is_at(tokens_, at + 2, "(")) return false;
    const std::size_t begin = after_bracket(tokens_, at + 2), middle = after_statement(tokens_, begin);
    const auto holds = middle > begin ? value(at + 3, begin - 1) : std::nullopt;
    if (!holds) return false;
    const bool otherwise = is_at(tokens_, middle, "else");
    const std::size_t end = otherwise ? after_statement(tokens_, middle + 1) : middle;
    const bool embedded = at > 0 && is_any(tokens_[at - 1], {"else", ")"});  // one statement has to stay
    std::string taken = *holds != 0 ? text(begin, middle) : otherwise ? text(middle + 1, end) : "";
    if (!embedded && taken.starts_with('{')) taken = without_braces(taken);
    if (embedded && taken.empty()) taken = "{}";
    if (taken.empty()) return remove(at, end), true;
    const std::size_t last = !embedded && ends_with_return(taken) ? end_of_block(end) : end;
    replace(tokens_[at].begin, tokens_[last - 1].end(), taken);
    return true;
  }

  /// The same of Choose<condition, A, B>. The type that it takes may be a choice too.
  bool fold_choice(std::size_t at) {
    if (!(tokens_[at] == "Choose") || !is_at(tokens_, at + 1, "<")) return false;
    std::vector<std::size_t> ends{at + 1};  // the token before each argument, and the one after the last
    int angles = 1;
    for (std::size_t i = at + 2; i < tokens_.size() && angles > 0; ++i) {
      if (opens(tokens_[i])) i = after_bracket(tokens_, i) - 1;
      if (tokens_[i] == "<") ++angles;
      if (tokens_[i] == ">") --angles;
      if (angles == 0 || (angles == 1 && tokens_[i] == ",")) ends.push_back(i);
    }
    const auto holds = ends.size() == 4 ? value(ends[0] + 1, ends[1]) : std::nullopt;
    if (!holds) return false;
    const std::size_t taken = *holds != 0 ? 1 : 2;
    replace(tokens_[at].begin, tokens_[ends[3]].end(), text(ends[taken] + 1, ends[taken + 1]));
    return true;
  }

  std::string text(std::size_t first, std::size_t end) const {
    return text_.substr(tokens_[first].begin, tokens_[end - 1].end() - tokens_[first].begin);
  }

  /// What closes the block that goes on at `at`.
  std::size_t end_of_block(std::size_t at) const {
    while (at < tokens_.size() && !(tokens_[at] == "}")) at = opens(tokens_[at]) ? after_bracket(tokens_, at) : at + 1;
    return at;
  }

  /// A statement, with its lines and the comments above and behind it where it has them to itself.
  void remove(std::size_t first, std::size_t end) {
    const std::size_t above = text_.find('\n', first == 0 ? 0 : tokens_[first - 1].end());
    const std::size_t below = std::min(text_.find('\n', tokens_[end - 1].end()), text_.size());
    const bool alone = above < tokens_[first].begin && (end == tokens_.size() || below < tokens_[end].begin);
    replace(alone ? above : tokens_[first].begin, alone ? below : tokens_[end - 1].end(), "");
  }

  void replace(std::size_t begin, std::size_t end, std::string_view text) {
    text_.replace(begin, end - begin, text);
    tokens_ = tokens_of(text_);
  }

  /// Constants, names of types and values that only branches used that are gone. A call could have an effect.
  void drop_unused() {
    for (std::size_t i = tokens_.size(); i-- > 0;) {
      Meanings names;
      add_declared(tokens_, i, names);
      const auto is_used = [&](const auto& name) {
        return std::count(tokens_.begin(), tokens_.end(), std::string_view(name.first)) > 1;
      };
      if (names.empty() || std::any_of(names.begin(), names.end(), is_used)) continue;
      if (tokens_[i] == "const" && names.begin()->second.find('(') != std::string::npos) {
        replace(tokens_[i].begin, tokens_[i].begin, "[[maybe_unused]] ");
      } else {
        remove(i, after_statement(tokens_, i));
      }
    }
  }

  std::string text_;
  std::vector<SourceToken> tokens_;
  std::string_view type_;
  const Constants& constants_;
  const Meanings& local_;
};

void fold(Definition& definition, std::string_view type, const Constants& constants) {
  Meanings local;
  add_parameters(tokens_of(definition.head), local);
  const std::vector<SourceToken> tokens = tokens_of(definition.body);
  for (std::size_t i = 0; i < tokens.size(); ++i) add_declared(tokens, i, local);
  definition.head = Folder(std::move(definition.head), type, constants, local).folded(false);
  definition.body = Folder(std::move(definition.body), type, constants, local).folded(true);
}

}  // namespace

void fold(std::vector<Definition>& definitions, const Constants& constants, std::string_view type, bool nested) {
  for (Definition& each : definitions) {
    const bool is_type = each.kind == Definition::Kind::type;
    fold(each, type, constants);
    fold(each.members, constants, is_type && !nested ? each.names.front() : "", nested || is_type);
  }
}

}  // namespace stencil_tune
