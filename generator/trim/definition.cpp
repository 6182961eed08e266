#include "generator/trim/definition.hpp"

#include "generator/trim/tokens.hpp"

#include <algorithm>
#include <utility>

namespace stencil_tune {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

/// The braces of a definition, and where it ends.
struct Extent {
  std::size_t open = kNone;   ///< token
  std::size_t close = kNone;  ///< token
  std::size_t end = 0;        ///< one past its last token
};

bool is_type(const SourceToken& token) { return is_any(token, {"struct", "class", "union", "enum"}); }

/// What a definition is and what it is called, by its tokens alone; without `template <...>`.
void classify(Tokens tokens, Definition& definition) {
  using Kind = Definition::Kind;
  if (tokens.empty() || is_any(tokens[0], {"namespace", "static_assert", "friend"})) return;
  const auto add = [&](Kind kind, std::size_t at) {
    definition.kind = kind;
    definition.names.emplace_back(tokens[std::min(at, tokens.size() - 1)].text);
  };
  if (is_type(tokens[0])) {
    const std::size_t at = is_at(tokens, 1, "class") ? 2 : 1;
    return add(Kind::type, is_at(tokens, at, "alignas") ? after_bracket(tokens, at + 1) : at);
  }
  if (tokens[0] == "using") return is_at(tokens, 2, "=") ? add(Kind::name, 1) : void();
  bool constant = false, named = false;  // static constexpr int kA = 1, kB = 2;
  for (std::size_t i = 0; i < tokens.size() && !(tokens[i] == "operator"); ++i) {
    constant = constant || tokens[i] == "constexpr";
    const bool after_word = i > 0 && is_word(tokens[i - 1]);
    if (tokens[i] == "(" && definition.names.empty()) return after_word ? add(Kind::function, i - 1) : void();
    if (!constant && is_any(tokens[i], {"=", "{"})) return;
    if (tokens[i] == ",") named = false;
    if (!named && after_word && is_any(tokens[i], {"=", "{", "["}) && constant) {
      add(Kind::name, i - 1);
      named = true;
    }
    if (opens(tokens[i])) i = after_bracket(tokens, i) - 1;
  }
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text), tokens_(tokens_of(text)) {}

  std::vector<Definition> parse() {
    std::vector<Definition> all;
    for (std::size_t token = 0; token < tokens_.size();) {
      Definition definition;
      definition.lead = cut(tokens_[token].begin);
      take(definition, Tokens(tokens_).subspan(token));
      all.push_back(std::move(definition));
      while (token < tokens_.size() && tokens_[token].begin < at_) ++token;
    }
    return all;
  }

 private:
  /// With a comment on the same line, and the line's end.
  std::size_t end_of_line(std::size_t at) const {
    const std::size_t text = std::min(text_.find_first_not_of(" \t", at), text_.size());
    if (!text_.substr(text).starts_with("//") && !text_.substr(text).starts_with('\n')) return at;
    return std::min(text_.find('\n', text), text_.size() - 1) + 1;
  }

  void take(Definition& definition, Tokens tokens) {
    if (text_[at_] == '#') return take_directive(definition);
    if (tokens.size() > 1 && is_any(tokens[0], {"public", "private", "protected"}) && tokens[1] == ":") {
      definition.head = cut(end_of_line(tokens[1].end()));
      return;
    }
    const Extent extent = extent_of(tokens);
    const std::size_t start = std::min(after_template_heads(tokens), extent.end);
    classify(tokens.subspan(start, extent.end - start), definition);
    const std::size_t end = end_of_line(tokens[extent.end - 1].end());
    if (extent.open == kNone || is_at(tokens, start, "enum") || definition.kind == Definition::Kind::name) {
      definition.head = cut(end);
      return;
    }
    definition.head = cut(tokens[extent.open].end());
    const bool has_members = tokens[0] == "namespace" || definition.kind == Definition::Kind::type;
    if (has_members) definition.members = parse_definitions(text_.substr(at_, tokens[extent.close].begin - at_));
    std::string& inside = has_members ? definition.tail : definition.body;
    inside = cut(tokens[extent.close].begin);
    if (has_members) inside.erase(0, inside.find_last_not_of(" ") + 1);  // the indentation of the brace
    definition.tail += cut(end);
  }

  /// A line, or all up to the #endif of an #if; it defines macros or has to stay.
  void take_directive(Definition& definition) {
    std::size_t end = at_;
    for (int depth = 0; end < text_.size();) {
      const std::size_t begin = end;
      end = std::min(text_.find('\n', begin), text_.size() - 1) + 1;
      const std::vector<SourceToken> line = tokens_of(text_.substr(begin, end - begin));
      if (line.size() > 1 && line[0] == "#") {
        if (line[1].text.starts_with("if")) ++depth;
        if (line[1] == "endif") --depth;
        if (line.size() > 2 && line[1] == "define") definition.names.emplace_back(line[2].text);
      }
      if (depth == 0 && (end < 2 || text_[end - 2] != '\\')) break;
    }
    if (!definition.names.empty()) definition.kind = Definition::Kind::name;
    definition.head = cut(end);
  }

  static Extent extent_of(Tokens tokens) {
    Extent extent;
    std::size_t i = after_template_heads(tokens);
    const bool plain = i < tokens.size() && (is_type(tokens[i]) || tokens[i] == "namespace");
    bool initialised = false;
    for (; i < tokens.size() && !(tokens[i] == ";"); ++i) {
      initialised = initialised || (tokens[i] == "=" && !plain);
      if (!opens(tokens[i])) continue;
      const std::size_t open = std::exchange(i, after_bracket(tokens, i) - 1);
      if (!(tokens[open] == "{") || initialised) continue;
      if (!plain && (is_at(tokens, i + 1, ",") || is_at(tokens, i + 1, "{"))) continue;  // a constructor's initialiser
      extent.open = open;
      extent.close = i;
      if (!is_at(tokens, i + 1, ";")) break;
    }
    extent.end = std::min(i + 1, tokens.size());
    return extent;
  }

  std::string cut(std::size_t end) {
    std::string text(text_.substr(at_, end - at_));
    at_ = end;
    return text;
  }

  std::string_view text_;
  std::vector<SourceToken> tokens_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<Definition> parse_definitions(std::string_view text) { return Parser(text).parse(); }

}  // namespace stencil_tune
