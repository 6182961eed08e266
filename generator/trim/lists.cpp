#include "generator/trim/lists.hpp"

#include "generator/trim/tokens.hpp"
#include "generator/trim/width.hpp"

#include <iterator>
#include <utility>

namespace stencil_tune {
namespace {

/// Where each name is declared: the token before its value.
std::vector<std::size_t> declared_at(const std::vector<std::string>& names, Tokens tokens) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i + 1 < tokens.size() && places.size() < names.size(); ++i) {
    const bool valued = tokens[i + 1] == "=" || tokens[i + 1] == "{" || tokens[i + 1] == "[";
    if (valued && tokens[i] == names[places.size()]) places.push_back(i);
  }
  return places;
}

std::string without_blanks_at_end(std::string text) {
  text.erase(text.find_last_not_of(" \n") + 1);
  return text;
}

void take_apart(Definition& definition) {
  const std::vector<SourceToken> tokens = tokens_of(definition.head);
  const std::vector<std::size_t> places = declared_at(definition.names, tokens);
  if (places.size() != definition.names.size() || !(tokens.back() == ";")) return;
  const std::string text = std::exchange(definition.head, definition.head.substr(0, tokens[places[0]].begin));
  for (std::size_t i = 0; i < places.size(); ++i) {
    const bool last = i + 1 == places.size();
    const std::size_t begin = tokens[places[i]].begin;
    const std::size_t end = last ? tokens.back().begin : tokens[places[i + 1] - 1].begin;  // the comma
    Definition member;
    member.kind = Definition::Kind::name;
    member.names = {definition.names[i]};
    member.head = without_blanks_at_end(text.substr(begin, end - begin));
    definition.members.push_back(std::move(member));
  }
  definition.tail = text.substr(tokens.back().begin);
  definition.kind = Definition::Kind::list;
  definition.names.clear();
}

/// Of the line that a list ends with.
std::size_t width(const Definition& list) {
  const std::string text = list.lead + text_of_list(list);
  const std::size_t end = text.find_last_not_of('\n') + 1;
  return end - (text.rfind('\n', end - 1) + 1);
}

bool is_joined(const Definition& list, const Definition& next) {
  using Kind = Definition::Kind;
  const bool alike = list.kind == Kind::list && next.kind == Kind::list && list.head == next.head &&
                     list.tail == ";\n" && next.tail == ";\n" && next.lead.find_first_not_of(' ') == std::string::npos;
  return alike && width(list) + 2 + width(next) - next.lead.size() - next.head.size() <= kWidth + 1;
}

}  // namespace

void take_apart(std::vector<Definition>& definitions) {
  for (Definition& each : definitions) {
    take_apart(each.members);
    const bool constants = each.kind == Definition::Kind::name && each.head.find("constexpr ") != std::string::npos;
    if (constants && each.head.find('#') == std::string::npos) take_apart(each);
  }
}

std::string text_of_list(const Definition& list) {
  constexpr std::size_t kIndent = 6;
  std::string text;
  std::size_t line = list.lead.size() - (list.lead.rfind('\n') + 1) + list.head.size();
  for (const Definition& each : list.members) {
    const bool first = &each == &list.members.front();
    const bool fits = first || line + 3 + each.head.size() <= kWidth;  // ", " and what follows
    if (!first) text += fits ? ", " : ",\n" + std::string(kIndent, ' ');
    line = fits ? line + 2 + each.head.size() : kIndent + each.head.size();
    text += each.head;
  }
  return list.head + text + list.tail;
}

void join_lists(std::vector<Definition>& definitions) {
  std::vector<Definition> joined;
  for (Definition& each : definitions) {
    join_lists(each.members);
    if (joined.empty() || !is_joined(joined.back(), each)) {
      joined.push_back(std::move(each));
      continue;
    }
    auto& members = joined.back().members;
    members.insert(members.end(), std::make_move_iterator(each.members.begin()),
                   std::make_move_iterator(each.members.end()));
  }
  definitions = std::move(joined);
}

}  // namespace stencil_tune
