#include "generator/trim/constants.hpp"

#include <algorithm>

namespace stencil_tune {
namespace {

/// As it was written.
std::string text_of(Tokens tokens) {
  if (tokens.empty()) return {};
  return {tokens.front().text.data(), tokens.back().end() - tokens.front().begin};
}

}  // namespace

void add_meanings(Tokens definition, Meanings& meanings) {
  for (std::size_t i = 1; i < definition.size(); ++i) {
    if (!(definition[i] == "=") || is_op(definition, i, "==")) continue;
    std::size_t end = i + 1;
    const bool one = definition[0] == "using";  // whose commas stand between a type's arguments
    while (end < definition.size() && !(definition[end] == ";") && (one || !(definition[end] == ","))) {
      const std::size_t next = after_bracket(definition, end);
      end = std::max(end + 1, definition[end] == "(" || definition[end] == "{" || definition[end] == "[" ? next : 0);
    }
    // Of what follows a comma inside <...> nothing is lost that a condition could use.
    const std::string name(definition[i - 1].text);
    const auto [place, fresh] = meanings.try_emplace(name, text_of(definition.subspan(i + 1, end - i - 1)));
    if (!fresh) place->second.clear();
    i = end;
  }
}

void add_parameters(Tokens definition, Meanings& meanings) {
  const std::size_t end = after_template_heads(definition);
  for (std::size_t i = 1; i < end; ++i) {
    if (!is_word(definition[i]) || definition[i] == "S" || definition[i] == "T") continue;
    if (is_at(definition, i + 1, ",") || is_at(definition, i + 1, ">") || is_at(definition, i + 1, "=")) {
      meanings[std::string(definition[i].text)].clear();
    }
  }
}

void Constants::add(const std::vector<Definition>& definitions) {
  for (const Definition& each : definitions) {
    note_uses(each);
    if (each.kind == Definition::Kind::type) {
      add_enumerators(each);
      add_type(each);
    } else if (each.kind == Definition::Kind::other) {
      add(each.members);  // a namespace
    } else if (each.kind == Definition::Kind::name) {
      add_name(each);
    }
  }
}

void Constants::add_name(const Definition& definition) {
  const std::vector<SourceToken> tokens = tokens_of(definition.head);
  add_meanings(tokens, globals_);
  const auto open = std::find(tokens.begin(), tokens.end(), "<");
  if (definition.names.front() == "Stencil" && open + 1 < tokens.end()) stencil_ = (open + 1)->text;
}

void Constants::add_enumerators(const Definition& definition) {
  const std::vector<SourceToken> tokens = tokens_of(definition.head);
  if (tokens.empty() || !(tokens[0] == "enum") || std::find(tokens.begin(), tokens.end(), "=") != tokens.end()) return;
  auto& all = enumerators_[definition.names.front()];
  const auto open = std::find(tokens.begin(), tokens.end(), "{");
  for (auto each = open; each != tokens.end(); ++each) {
    if (is_word(*each)) all.emplace(each->text, static_cast<long long>(all.size()));
  }
}

void Constants::add_type(const Definition& definition) {
  const auto [place, fresh] = types_.try_emplace(definition.names.front());
  Type& type = place->second;
  if (!fresh) {  // a specialisation: neither is known
    type = {};
    return;
  }
  const std::vector<SourceToken> head = tokens_of(definition.head);
  const std::size_t start = after_template_heads(head);
  const auto colon = std::find(head.begin() + static_cast<std::ptrdiff_t>(start), head.end(), ":");
  for (auto each = colon; each != head.end(); ++each) {
    if (is_word(*each) && !(*each == "stencil_tune") && type.base.empty()) type.base = each->text;
  }
  add_parameters(head, type.meanings);
  for (const Definition& each : definition.members) {
    if (each.kind == Definition::Kind::name) add_meanings(tokens_of(each.head), type.meanings);
  }
}

void Constants::note_uses(const Definition& definition) {
  note_uses(definition.head);
  note_uses(definition.body);
  if (definition.kind != Definition::Kind::type) return;  // the members of a namespace come on their own
  for (const Definition& each : definition.members) note_uses(each);
}

void Constants::note_uses(std::string_view text) {
  const std::vector<SourceToken> tokens = tokens_of(text);
  for (std::size_t i = 0; i + 3 < tokens.size(); ++i) {
    if (!is_word(tokens[i]) || !is_op(tokens, i + 1, "::")) continue;
    std::size_t before = i;
    if (before >= 3 && is_op(tokens, before - 2, "::")) before -= 3;  // a namespace
    const bool compared_left = before >= 2 && (is_op(tokens, before - 2, "==") || is_op(tokens, before - 2, "!="));
    const bool compared_right = is_op(tokens, i + 4, "==") || is_op(tokens, i + 4, "!=");
    if (compared_left || compared_right) continue;
    in_use_.insert(std::string(tokens[i].text) + "::" + std::string(tokens[i + 3].text));
  }
}

void Constants::note_functions(const std::vector<Definition>& definitions, std::string_view type) {
  for (const Definition& each : definitions) {
    const bool is_type = each.kind == Definition::Kind::type;
    if (each.kind == Definition::Kind::function) note_function(each, type);
    note_functions(each.members, is_type ? std::string_view(each.names.front()) : "");
  }
}

void Constants::note_function(const Definition& function, std::string_view type) {
  const std::vector<SourceToken> tokens = tokens_of(function.body);
  std::optional<long long> result;
  if (tokens.size() > 2 && tokens.front() == "return" && std::count(tokens.begin(), tokens.end(), ";") == 1) {
    Meanings local;
    add_parameters(tokens_of(function.head), local);
    result = value(Tokens(tokens).subspan(1, tokens.size() - 2), type, local);
  }
  const auto [place, fresh] = functions_.try_emplace(function.names.front(), result);
  if (!fresh) place->second.reset();
}

}  // namespace stencil_tune
