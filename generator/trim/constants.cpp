#include "generator/trim/constants.hpp"

#include <algorithm>
#include <charconv>

namespace stencil_tune {

void add_meanings(Tokens definition, Meanings& meanings) {
  for (std::size_t i = 1; i < definition.size(); ++i) {
    if (!(definition[i] == "=") || is_op(definition, i, "==") || !is_word(definition[i - 1])) continue;
    const bool one = definition[0] == "using";  // whose commas stand between a type's arguments
    std::size_t end = i + 1;
    while (end < definition.size() && !(definition[end] == ";") && (one || !(definition[end] == ","))) {
      end = opens(definition[end]) ? after_bracket(definition, end) : end + 1;
    }
    // Nothing that a condition could use is lost behind a comma inside <...>.
    const auto [place, fresh] = meanings.try_emplace(std::string(definition[i - 1].text));
    if (fresh && end > i + 1) {
      const char* begin = definition[i + 1].text.data();
      place->second.assign(begin, definition[end - 1].end() - definition[i + 1].begin);
    } else {
      place->second.clear();
    }
    i = end;
  }
}

void add_parameters(Tokens definition, Meanings& meanings) {
  const std::size_t end = after_template_heads(definition);
  for (std::size_t i = 1; i + 1 < end; ++i) {
    if (!is_word(definition[i]) || is_any(definition[i], {"S", "T"})) continue;
    if (is_any(definition[i + 1], {",", ">", "="})) meanings[std::string(definition[i].text)].clear();
  }
}

void Constants::add(const std::vector<Definition>& definitions) {
  for (const Definition& each : definitions) {
    if (each.kind == Definition::Kind::type) add_type(each);
    if (each.kind == Definition::Kind::other) add(each.members);  // a namespace
    if (each.kind != Definition::Kind::name || each.names.front() != "Stencil") continue;
    const std::vector<SourceToken> tokens = tokens_of(each.head);
    const auto open = std::find(tokens.begin(), tokens.end(), "<");
    if (open != tokens.end()) types_["Stencil"].base = (open + 1)->text;
  }
}

void Constants::add_type(const Definition& definition) {
  const std::vector<SourceToken> head = tokens_of(definition.head);
  const std::size_t start = after_template_heads(head);
  const bool is_enum = is_at(head, start, "enum");
  const auto [place, fresh] = types_.try_emplace((is_enum ? "enum " : "") + definition.names.front());
  Type& type = place->second;
  type = {};
  if (!fresh) return;  // a specialisation: neither is known
  if (is_enum) {
    const auto open = std::find(head.begin(), head.end(), "{");
    for (auto each = open; each != head.end() && !(*each == "="); ++each) {
      if (is_word(*each)) type.meanings.emplace(each->text, std::to_string(type.meanings.size()));
    }
    return;
  }
  const auto colon = std::find(head.begin() + static_cast<std::ptrdiff_t>(start), head.end(), ":");
  const auto base =
      std::find_if(colon, head.end(), [](const auto& each) { return is_word(each) && !(each == "stencil_tune"); });
  if (base != head.end()) type.base = base->text;
  add_parameters(head, type.meanings);
  for (const Definition& each : definition.members) {
    if (each.kind == Definition::Kind::name) add_meanings(tokens_of(each.head), type.meanings);
  }
}

/// A recursive descent over C++'s operators, as far as conditions on constants use them.
class Evaluation {
 public:
  using Value = std::optional<long long>;

  Evaluation(const Constants& all, Tokens tokens, std::string_view type, const Meanings& local, int depth)
      : all_(all), tokens_(tokens), type_(type), local_(local), depth_(depth) {}

  Value run() {
    constexpr int kDeepest = 16;  // constants that are defined by constants; more is a circle
    if (depth_ > kDeepest) return {};
    const Value result = conditional();
    return at_ == tokens_.size() ? result : std::nullopt;
  }

 private:
  bool take(std::string_view op) {
    if (!is_op(tokens_, at_, op)) return false;
    at_ += op.size();
    return true;
  }

  /// Leaves tokens over: nothing is known.
  Value fail() {
    tokens_ = {};
    at_ = 1;
    return {};
  }

  Value conditional() {
    const Value condition = operation(0);
    if (!take("?")) return condition;
    const Value yes = conditional();
    if (!take(":")) return fail();
    const Value no = conditional();
    return !condition ? std::nullopt : *condition != 0 ? yes : no;
  }

  /// Operators that bind less come first; of two with the same beginning the longer one.
  Value operation(std::size_t level) {
    static const std::vector<std::vector<std::string_view>> kLevels{
        {"||"}, {"&&"}, {"==", "!="}, {"<=", ">=", "<", ">"}, {"+", "-"}, {"*", "/"}};
    if (level == kLevels.size()) return operand();
    Value left = operation(level + 1);
    const auto& ops = kLevels[level];
    while (true) {
      const auto op = std::find_if(ops.begin(), ops.end(), [&](std::string_view each) { return take(each); });
      if (op == ops.end()) return left;
      left = applied(*op, left, operation(level + 1));
    }
  }

  static Value applied(std::string_view op, Value a, Value b) {
    if (op == "||" && (a.value_or(0) != 0 || b.value_or(0) != 0)) return 1;
    if (op == "&&" && (a.value_or(1) == 0 || b.value_or(1) == 0)) return 0;
    if (!a || !b) return {};
    if (op == "||" || op == "&&") return op == "&&";
    if (op == "==") return *a == *b;
    if (op == "!=") return *a != *b;
    if (op == "<=") return *a <= *b;
    if (op == ">=") return *a >= *b;
    if (op == "<") return *a < *b;
    if (op == ">") return *a > *b;
    if (op == "+") return *a + *b;
    if (op == "-") return *a - *b;
    if (op == "*") return *a * *b;
    return *b == 0 ? std::nullopt : Value(*a / *b);
  }

  Value operand() {
    if (take("!")) return applied("==", operand(), 0);
    if (take("-")) return applied("-", 0, operand());
    if (take("(")) {
      const Value inside = conditional();
      return take(")") ? inside : fail();
    }
    if (at_ >= tokens_.size()) return fail();
    if (is_word(tokens_[at_])) return path();
    const std::string_view text = tokens_[at_++].text;
    long long number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() ? Value(number) : fail();
  }

  /// A constant, Type::constant or Enum::enumerator. The project's namespace says nothing. Elements, members of
  /// variables and what functions return are not known.
  Value path() {
    std::vector<std::string_view> names;
    do {
      if (at_ == tokens_.size()) return fail();
      names.push_back(tokens_[at_++].text);
    } while (take("::"));
    if (names.front() == "stencil_tune") names.erase(names.begin());
    const std::size_t end = at_;
    while (at_ < tokens_.size() && is_any(tokens_[at_], {"(", "[", "."})) {
      at_ = tokens_[at_] == "." ? at_ + 2 : after_bracket(tokens_, at_);
    }
    if (at_ != end || names.empty() || names.size() > 2) return {};
    return names.size() == 1 ? plain(names[0]) : member(names[0], names[1]);
  }

  Value plain(std::string_view name) const {
    if (name == "true" || name == "false") return name == "true";
    const auto own = local_.find(name);
    return own != local_.end() ? evaluate(own->second, type_, local_) : member_of(type_, name);
  }

  /// The constant of a type that is named outside of the function, or in the type around it.
  Value member(std::string_view name, std::string_view constant) const {
    if (local_.contains(name)) return {};
    if (name == "S") return member_of("Stencil", constant);
    if (name == "T") return member_of("Tuning", constant);
    const auto type = all_.types_.find(type_);
    if (type == all_.types_.end() || !type->second.meanings.contains(name))
      return member_of("enum " + std::string(name), constant);
    const std::string_view meaning = type->second.meanings.find(name)->second;
    constexpr std::string_view kArguments = "<S, T>";  // with others its constants are others
    if (!meaning.ends_with(kArguments)) return {};
    return member_of(meaning.substr(0, meaning.size() - kArguments.size()), constant);
  }

  Value member_of(std::string_view type, std::string_view constant) const {
    const auto found = all_.types_.find(type);
    if (found == all_.types_.end()) return {};
    const auto meaning = found->second.meanings.find(constant);
    if (meaning != found->second.meanings.end()) return evaluate(meaning->second, type, {});
    return found->second.base.empty() ? std::nullopt : member_of(found->second.base, constant);
  }

  Value evaluate(const std::string& text, std::string_view type, const Meanings& local) const {
    const std::vector<SourceToken> tokens = tokens_of(text);
    return Evaluation(all_, tokens, type, local, depth_ + 1).run();
  }

  const Constants& all_;
  Tokens tokens_;
  std::string_view type_;
  const Meanings& local_;
  int depth_;
  std::size_t at_ = 0;
};

std::optional<long long> Constants::value(Tokens expression, std::string_view type, const Meanings& local) const {
  return Evaluation(*this, expression, type, local, 0).run();
}

}  // namespace stencil_tune
