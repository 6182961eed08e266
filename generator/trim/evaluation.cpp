// The values of conditions on constants.
#include "generator/trim/constants.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

namespace stencil_tune {
namespace {

constexpr int kDeepest = 16;  // constants that are defined by constants; more is a circle

}  // namespace

/// A recursive descent over C++'s operators, as far as conditions on constants use them.
class Evaluation {
 public:
  Evaluation(const Constants& all, Tokens tokens, std::string_view type, const Meanings& local, int depth)
      : all_(all), tokens_(tokens), type_(type), local_(local), depth_(depth) {}

  std::optional<long long> run() {
    if (depth_ > kDeepest) return {};
    const auto result = conditional();
    return at_ == tokens_.size() && !failed_ ? result.number : std::nullopt;
  }

 private:
  struct Operand {
    std::optional<long long> number;
    bool nobodys = false;     ///< an enumerator that nothing ever has
    bool everybodys = false;  ///< an enumerator that all of its type have
  };

  bool take(std::string_view op) {
    if (!is_op(tokens_, at_, op)) return false;
    at_ += op.size();
    return true;
  }

  Operand conditional() {
    const Operand condition = disjunction();
    if (!take("?")) return condition;
    const Operand yes = conditional();
    if (!take(":")) failed_ = true;
    const Operand no = conditional();
    if (!condition.number) return {};
    return *condition.number != 0 ? yes : no;
  }

  Operand disjunction() {
    Operand left = conjunction();
    while (take("||")) {
      const Operand right = conjunction();
      const bool sure = left.number.value_or(0) != 0 || right.number.value_or(0) != 0;
      left.number = sure ? std::optional(1LL) : left.number && right.number ? std::optional(0LL) : std::nullopt;
    }
    return left;
  }

  Operand conjunction() {
    Operand left = equality();
    while (take("&&")) {
      const Operand right = equality();
      const bool never = left.number.value_or(1) == 0 || right.number.value_or(1) == 0;
      left.number = never ? std::optional(0LL) : left.number && right.number ? std::optional(1LL) : std::nullopt;
    }
    return left;
  }

  Operand equality() {
    Operand left = relation();
    while (true) {
      const bool equal = take("==");
      if (!equal && !take("!=")) return left;
      const Operand right = relation();
      if (left.nobodys || right.nobodys) {
        left = {equal ? 0 : 1};
      } else if (left.everybodys || right.everybodys) {
        left = {equal ? 1 : 0};
      } else {
        left = both(left, right, [&](long long a, long long b) { return (a == b) == equal; });
      }
    }
  }

  Operand relation() {
    Operand left = sum();
    while (true) {
      if (take("<=")) {
        left = both(left, sum(), [](long long a, long long b) { return a <= b; });
      } else if (take(">=")) {
        left = both(left, sum(), [](long long a, long long b) { return a >= b; });
      } else if (take("<")) {
        left = both(left, sum(), [](long long a, long long b) { return a < b; });
      } else if (take(">")) {
        left = both(left, sum(), [](long long a, long long b) { return a > b; });
      } else {
        return left;
      }
    }
  }

  Operand sum() {
    Operand left = product();
    while (true) {
      if (take("+")) {
        left = both(left, product(), [](long long a, long long b) { return a + b; });
      } else if (take("-")) {
        left = both(left, product(), [](long long a, long long b) { return a - b; });
      } else {
        return left;
      }
    }
  }

  Operand product() {
    Operand left = unary();
    while (true) {
      if (take("*")) {
        left = both(left, unary(), [](long long a, long long b) { return a * b; });
      } else if (const bool divides = take("/"); divides || take("%")) {
        const Operand right = unary();
        if (right.number.value_or(0) == 0) return failed_ = true, Operand{};
        left = both(left, right, [&](long long a, long long b) { return divides ? a / b : a % b; });
      } else {
        return left;
      }
    }
  }

  template <class Apply>
  static Operand both(const Operand& a, const Operand& b, Apply&& apply) {
    if (!a.number || !b.number) return {};
    return {static_cast<long long>(apply(*a.number, *b.number))};
  }

  Operand unary() {
    if (take("!")) return negated(unary(), [](long long a) { return a == 0; });
    if (take("-")) return negated(unary(), [](long long a) { return -a; });
    if (take("(")) {
      const Operand inside = conditional();
      if (!take(")")) failed_ = true;
      return inside;
    }
    if (at_ == tokens_.size()) return failed_ = true, Operand{};
    const SourceToken& token = tokens_[at_];
    if (is_word(token)) return element(path());
    ++at_;
    long long number = 0;
    const auto [end, error] = std::from_chars(token.text.data(), token.text.data() + token.text.size(), number);
    if (error != std::errc() || end != token.text.data() + token.text.size()) return failed_ = true, Operand{};
    return {number};
  }

  /// The value of an element is not known.
  Operand element(const Operand& whole) {
    if (at_ == tokens_.size() || !(tokens_[at_] == "[")) return whole;
    at_ = after_bracket(tokens_, at_);
    return element({});
  }

  template <class Apply>
  static Operand negated(const Operand& a, Apply&& apply) {
    if (!a.number) return {};
    return {static_cast<long long>(apply(*a.number))};
  }

  /// A constant, Type::constant or Enum::enumerator. The project's namespace says nothing.
  Operand path() {
    std::vector<std::string_view> names;
    do {
      if (at_ == tokens_.size() || !is_word(tokens_[at_])) return failed_ = true, Operand{};
      names.push_back(tokens_[at_++].text);
    } while (take("::"));
    if (names.front() == "stencil_tune") names.erase(names.begin());
    while (at_ + 1 < tokens_.size() && tokens_[at_] == "." && is_word(tokens_[at_ + 1])) {
      names = {tokens_[at_ + 1].text};
      at_ += 2;
    }
    if (const auto function = all_.functions_.find(names.back()); function != all_.functions_.end()) {
      return call(function->second);
    }
    if (at_ < tokens_.size() && tokens_[at_] == "(") return call({});
    if (names.size() == 1) return {plain(names[0])};
    if (names.size() != 2) return {};
    const auto enumeration = all_.enumerators_.find(names[0]);
    if (enumeration == all_.enumerators_.end()) return {member(names[0], names[1])};
    const auto enumerator = enumeration->second.find(names[1]);
    if (enumerator == enumeration->second.end()) return {};
    const bool used = is_in_use(*enumeration, names[1]);
    const auto others = [&](const auto& each) { return each.first != names[1] && is_in_use(*enumeration, each.first); };
    const bool alone = used && std::none_of(enumeration->second.begin(), enumeration->second.end(), others);
    return {enumerator->second, !used, alone};
  }

  template <class Enumeration>
  bool is_in_use(const Enumeration& enumeration, std::string_view enumerator) const {
    return all_.in_use_.contains(enumeration.first + "::" + std::string(enumerator));
  }

  /// f(...) or f<...>(...)
  Operand call(const std::optional<long long>& value) {
    while (at_ < tokens_.size() && !(tokens_[at_] == "(")) ++at_;
    if (at_ == tokens_.size()) return failed_ = true, Operand{};
    at_ = after_bracket(tokens_, at_);
    return {value};
  }

  std::optional<long long> plain(std::string_view name) const {
    if (name == "true") return 1;
    if (name == "false") return 0;
    if (const auto own = local_.find(name); own != local_.end()) return evaluate(own->second, type_, local_);
    if (const auto inherited = member_of(type_, name)) return inherited;
    const auto global = all_.globals_.find(name);
    return global == all_.globals_.end() ? std::nullopt : evaluate(global->second, "", {});
  }

  /// Of a type that is named in the function or the type around it.
  std::optional<long long> member(std::string_view name, std::string_view constant) const {
    if (name == "S") return member_of(all_.stencil_, constant);
    if (name == "T") return member_of("Tuning", constant);
    const auto own = local_.find(name);
    if (own != local_.end()) return member_of(instance(own->second), constant);
    const auto type = all_.types_.find(type_);
    if (type == all_.types_.end()) return {};
    const auto alias = type->second.meanings.find(name);
    return alias == type->second.meanings.end() ? std::nullopt : member_of(instance(alias->second), constant);
  }

  /// "TemporalShape" of "TemporalShape<S, T>"; empty for other arguments.
  static std::string instance(std::string_view text) {
    constexpr std::string_view kArguments = "<S, T>";
    return text.ends_with(kArguments) ? std::string(text.substr(0, text.size() - kArguments.size())) : std::string();
  }

  std::optional<long long> member_of(std::string_view type, std::string_view constant) const {
    const auto found = all_.types_.find(type);
    if (found == all_.types_.end()) return {};
    const auto meaning = found->second.meanings.find(constant);
    if (meaning != found->second.meanings.end()) return evaluate(meaning->second, type, {});
    return found->second.base.empty() ? std::nullopt : member_of(found->second.base, constant);
  }

  std::optional<long long> evaluate(const std::string& text, std::string_view type, const Meanings& local) const {
    const std::vector<SourceToken> tokens = tokens_of(text);
    return Evaluation(all_, tokens, type, local, depth_ + 1).run();
  }

  const Constants& all_;
  Tokens tokens_;
  std::string_view type_;
  const Meanings& local_;
  int depth_;
  std::size_t at_ = 0;
  bool failed_ = false;
};

std::optional<long long> Constants::value(Tokens expression, std::string_view type, const Meanings& local) const {
  return Evaluation(*this, expression, type, local, 0).run();
}

}  // namespace stencil_tune
