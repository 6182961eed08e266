#include "generator/trim/definition.hpp"

#include "generator/trim/tokens.hpp"

#include <algorithm>

namespace stencil_tune {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

/// The braces of a definition, and where it ends.
struct Extent {
  std::size_t open = kNone;   ///< token
  std::size_t close = kNone;  ///< token
  std::size_t end = 0;        ///< one past its last token
};

/// What a definition is and what it is called, by its tokens alone.
class Classifier {
 public:
  Classifier(Tokens tokens, const Extent& extent)
      : tokens_(tokens), end_(extent.end), start_(std::min(after_template_heads(tokens), end_)) {}

  void classify(Definition& definition) const {
    using Kind = Definition::Kind;
    if (start_ == end_ || is_any(first(), {"namespace", "static_assert", "friend"})) return;
    if (is_any(first(), {"struct", "class", "union", "enum"})) {
      definition.kind = Kind::type;
      definition.names = {type_name()};
    } else if (first() == "using") {
      if (start_ + 2 >= end_ || !(tokens_[start_ + 2] == "=")) return;
      definition.kind = Kind::name;
      definition.names = {std::string(tokens_[start_ + 1].text)};
    } else if (const std::size_t name = function_name(); name != kNone) {
      definition.kind = Kind::function;
      definition.names = {std::string(tokens_[name].text)};
    } else if (has("constexpr")) {
      definition.names = constant_names();
      if (!definition.names.empty()) definition.kind = Kind::name;
    }
  }

 private:
  const SourceToken& first() const { return tokens_[start_]; }

  bool has(std::string_view word) const {
    return std::any_of(tokens_.begin() + static_cast<std::ptrdiff_t>(start_),
                       tokens_.begin() + static_cast<std::ptrdiff_t>(end_),
                       [&](const SourceToken& t) { return t == word; });
  }

  std::string type_name() const {
    std::size_t at = start_ + 1;
    if (at < end_ && tokens_[at] == "class") ++at;
    if (at < end_ && tokens_[at] == "alignas") at = after_bracket(tokens_, at + 1);
    return at < end_ ? std::string(tokens_[at].text) : std::string();
  }

  /// The word before its parameters; none for operators, which nobody calls by name.
  std::size_t function_name() const {
    for (std::size_t i = start_; i < end_; ++i) {
      if (is_any(tokens_[i], {"=", "{", ";", "operator"})) return kNone;
      if (tokens_[i] == "(") return i > start_ && is_word(tokens_[i - 1]) ? i - 1 : kNone;
      if (tokens_[i] == "[") i = after_bracket(tokens_, i) - 1;
    }
    return kNone;
  }

  /// static constexpr int kA = 1, kB = 2;
  std::vector<std::string> constant_names() const {
    std::vector<std::string> names;
    bool named = false;
    for (std::size_t i = start_; i < end_; ++i) {
      if (tokens_[i] == ",") named = false;
      if (!named && i > start_ && is_any(tokens_[i], {"=", "{", "["}) && is_word(tokens_[i - 1])) {
        names.emplace_back(tokens_[i - 1].text);
        named = true;
      }
      if (opens(tokens_[i])) i = after_bracket(tokens_, i) - 1;
    }
    return names;
  }

  Tokens tokens_;
  std::size_t end_;
  std::size_t start_;
};

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
    if (!text_.substr(text).starts_with("//") && text < text_.size() && text_[text] != '\n') return at;
    return std::min(text_.find('\n', text), text_.size() - 1) + 1;
  }

  void take(Definition& definition, Tokens tokens) {
    if (text_[at_] == '#') return take_directive(definition);
    if (tokens.size() > 1 && is_any(tokens[0], {"public", "private", "protected"}) && tokens[1] == ":") {
      definition.kind = Definition::Kind::label;
      definition.head = cut(end_of_line(tokens[1].end()));
      return;
    }
    const Extent extent = extent_of(tokens);
    Classifier(tokens, extent).classify(definition);
    const std::size_t end = end_of_line(tokens[extent.end - 1].end());
    const bool is_namespace = tokens[0] == "namespace";
    const bool is_enum = is_at(tokens, after_template_heads(tokens), "enum");
    if (extent.open == kNone || is_enum || definition.kind == Definition::Kind::name) {
      definition.head = cut(end);
      return;
    }
    definition.head = cut(tokens[extent.open].end());
    const bool has_members = is_namespace || definition.kind == Definition::Kind::type;
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
    const std::size_t start = after_template_heads(tokens);
    const bool plain =
        start < tokens.size() && is_any(tokens[start], {"namespace", "struct", "class", "union", "enum"});
    bool initialised = false;
    for (std::size_t i = start; i < tokens.size(); ++i) {
      initialised = initialised || (tokens[i] == "=" && !plain);
      if (tokens[i] == ";") return with_end(extent, i + 1);
      if (!opens(tokens[i])) continue;
      const std::size_t open = i;
      i = after_bracket(tokens, open) - 1;
      if (!(tokens[open] == "{") || initialised) continue;
      const bool more = i + 1 < tokens.size();
      if (more && !plain && is_any(tokens[i + 1], {",", "{"})) continue;  // a constructor's initialiser
      extent.open = open;
      extent.close = i;
      if (!more || !(tokens[i + 1] == ";")) return with_end(extent, std::min(i + 1, tokens.size()));
    }
    return with_end(extent, tokens.size());
  }
  static Extent with_end(Extent extent, std::size_t end) {
    extent.end = end;
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
