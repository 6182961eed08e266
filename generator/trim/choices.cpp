#include "generator/trim/choices.hpp"

#include <algorithm>

namespace stencil_tune {

void Choices::add(const std::vector<Definition>& definitions) {
  for (const Definition& each : definitions) {
    if (each.kind == Definition::Kind::other) add(each.members);
    if (each.kind != Definition::Kind::type) continue;
    const bool when_true = each.head.find("<S, T, true>") != std::string::npos;
    Choice& choice = choices_[each.names.front()];
    for (const Definition& member : each.members) {
      if (member.kind != Definition::Kind::name || !tokens_of(member.head).front().text.starts_with("using")) continue;
      const std::size_t from = member.head.find_first_not_of(" \n", member.head.find('=') + 1);
      const std::string meaning = member.head.substr(from, member.head.find(';') - from);
      (when_true ? choice.when_true : choice.otherwise).emplace(member.names.front(), meaning);
    }
  }
}

void Choices::resolve(std::vector<Definition>& definitions, const Constants& constants) const {
  for (Definition& each : definitions) {
    resolve(each.head, constants);
    resolve(each.body, constants);
    resolve(each.members, constants);
  }
}

void Choices::resolve(std::string& text, const Constants& constants) const {
  for (std::size_t from = 0;;) {
    const std::size_t begin = text.find("typename ", from);
    if (begin == std::string::npos) return;
    const std::vector<SourceToken> tokens = tokens_of(std::string_view(text).substr(begin));
    std::size_t end = 0;
    if (const std::string* type = chosen(tokens, end, constants)) {
      text.replace(begin, tokens[end - 1].end(), *type);  // it may be a choice too
    } else {
      from = begin + 1;
    }
  }
}

/// use: `typename X<S, T, condition>::Name ...`. end: the token after it.
const std::string* Choices::chosen(Tokens use, std::size_t& end, const Constants& constants) const {
  constexpr std::size_t kCondition = 7;
  const auto choice = use.size() > kCondition ? choices_.find(use[1].text) : choices_.end();
  if (choice == choices_.end() || choice->second.when_true.empty()) return nullptr;
  for (const auto& [at, text] : {std::pair{2, "<"}, {3, "S"}, {4, ","}, {5, "T"}, {6, ","}}) {
    if (!is_at(use, static_cast<std::size_t>(at), text)) return nullptr;
  }
  const auto close = static_cast<std::size_t>(std::find(use.begin() + kCondition, use.end(), ">") - use.begin());
  if (!is_op(use, close + 1, "::") || close + 3 >= use.size()) return nullptr;
  const auto holds = constants.value(use.subspan(kCondition, close - kCondition), "", {});
  if (!holds) return nullptr;
  const Names& names = *holds != 0 ? choice->second.when_true : choice->second.otherwise;
  const auto name = names.find(use[close + 3].text);
  end = close + 4;
  return name == names.end() ? nullptr : &name->second;
}

}  // namespace stencil_tune
