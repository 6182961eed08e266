#include "generator/trim/trim.hpp"

#include "generator/trim/fold.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace stencil_tune {
namespace {

constexpr std::size_t kWidth = 120;  // of the longest line, in characters
using Words = std::set<std::string, std::less<>>;

std::string title(std::string_view text) {
  return fmt::format("\n{:-<{}}\n\n", fmt::format("// ---- {} ", text), kWidth);
}

void add_words(std::string_view text, Words& words) {
  for (const SourceToken& token : tokens_of(text)) {
    if (is_word(token)) words.emplace(token.text);
  }
}

/// Lines of included files that the text as a whole does not need: it has one namespace for them all.
constexpr const char* kMarks[] = {"#pragma once", "// clang-format o", "namespace stencil_tune {",
                                  "}  // namespace stencil_tune\n"};

/// Texts of the files that a text includes, each after those that it includes itself; then what is left of the text.
void read(std::string_view text, std::span<const TemplateFile> files, bool is_template, Words& included,
          std::vector<std::string>& texts) {
  std::string own;
  for (std::size_t at = 0, end = 0; at < text.size(); at = end) {
    end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string_view line = text.substr(at, end - at);
    if (!line.starts_with("#include \"stencil_tune/")) {
      const auto begins = [&](const char* mark) { return line.starts_with(mark); };
      if (!is_template || std::none_of(std::begin(kMarks), std::end(kMarks), begins)) own += line;
      continue;
    }
    const std::size_t quote = line.find('"') + 1;
    const std::string_view name = line.substr(quote, line.find('"', quote) - quote);
    if (!included.emplace(name).second) continue;
    const auto found = std::find_if(files.begin(), files.end(), [&](const auto& each) { return each.name == name; });
    if (found == files.end()) throw Error(ErrorCode::internal, fmt::format("{} is no template file", name));
    read(found->text, files, true, included, texts);
  }
  texts.push_back(std::move(own));
}

/// A file: what it opens with, and its definitions.
Definition file_of(std::string_view text) {
  const std::size_t end = text.starts_with("//") ? std::min(text.find("\n\n"), text.size() - 2) + 2 : 0;
  Definition file;
  file.lead = fmt::format("\n{}", text.substr(0, end));
  file.lead.resize(file.lead.find_last_not_of('\n') + 2, '\n');
  file.members = parse_definitions(text.substr(end));
  return file;
}

bool is_wanted(const Definition& definition, const Definition* around, const Words& words) {
  const auto& names = definition.names;
  if (definition.kind == Definition::Kind::other) return true;
  if (around->kind == Definition::Kind::type && names == around->names) return true;  // a constructor
  return std::any_of(names.begin(), names.end(), [&](const auto& name) { return words.contains(name); });
}

/// Marks what `words` name, and what is so marked names. Whether anything was marked: call until nothing is.
bool mark(std::vector<Definition>& definitions, const Definition* around, Words& words) {
  bool any = false;
  for (Definition& each : definitions) {
    if (!each.used && is_wanted(each, around, words)) {
      each.used = any = true;
      add_words(each.head, words);
      add_words(each.body, words);
    }
    if (each.used) any = mark(each.members, &each, words) || any;
  }
  return any;
}

/// A heading stays with what is left of what it stands above.
void remove_unused(std::vector<Definition>& definitions) {
  std::string above;
  std::vector<Definition> kept;
  for (Definition& each : definitions) {
    const std::size_t end = each.lead.rfind("\n\n");
    if (end != std::string::npos && each.lead.find("//") < end) {
      above = each.lead.substr(0, each.lead.find_last_not_of('\n', end) + 2);
      each.lead.erase(0, end + 1);
    }
    remove_unused(each.members);
    if (!each.used || (each.head.empty() && each.members.empty())) continue;
    if (above.ends_with('\n') && each.lead.starts_with('\n')) each.lead.erase(0, 1);
    each.lead.insert(0, std::exchange(above, {}));
    kept.push_back(std::move(each));
  }
  definitions = std::move(kept);
}

void append(std::span<const Definition> definitions, std::string& text) {
  for (const Definition& each : definitions) {
    text += each.lead + each.head;
    append(each.members, text);
    text += each.body + each.tail;
  }
}

/// One blank line at most in turn. What `template <...>`, STENCIL_UNROLL and = introduce stands behind them; a body of
/// one short statement stands on the line of its brace.
std::string laid_out(std::string text, std::span<const Definition> definitions) {
  append(definitions, text);
  const std::string_view all = text;
  std::string result;
  std::size_t last = 0, before = 0;  // where the last line begins, and the one before it
  for (std::size_t at = 0, end = 0; at < all.size(); at = end + 1) {
    end = std::min(all.find('\n', at), all.size());
    const std::size_t begin = std::min(all.find_first_not_of(' ', at), end);
    const std::string_view line = all.substr(begin, end - begin);
    std::string_view above = std::string_view(result).substr(last);
    above.remove_prefix(std::min(above.find_first_not_of(' '), above.size()));
    if (line.empty() && result.ends_with("\n\n")) continue;
    const bool introduced = above == "STENCIL_UNROLL\n" || above.ends_with(" =\n") ||
                            (above.starts_with("template <") && above.ends_with(">\n"));
    const std::string body = result.substr(before);
    const bool is_short = body.ends_with(";\n") && body[body.find_first_not_of(' ')] != '}' && body.size() < kWidth &&
                          body.find("//") == std::string::npos && last > 1 && result[last - 2] == '{';
    if (is_short && (line == "}" || line == "};")) {
      result.replace(last - 1, result.size() - above.size() - last + 1, " ").back() = ' ';
      last = before;
    } else if (introduced && result.size() - last + line.size() <= kWidth) {
      result.back() = ' ';
    } else {
      before = std::exchange(last, result.size());
      result.append(begin - at, ' ');
    }
    (result += line) += '\n';
  }
  return result;
}

/// What stands in the source by its own right: all but the members of its types.
void add_roots(const std::vector<Definition>& definitions, Words& words) {
  for (const Definition& each : definitions) {
    words.insert(each.names.begin(), each.names.end());
    if (each.kind == Definition::Kind::other) add_roots(each.members, words);
  }
}

}  // namespace

WrittenOut write_out(std::string_view source, std::span<const TemplateFile> files, std::string_view also_using) {
  std::vector<std::string> texts;
  Words included;
  read(source, files, false, included, texts);
  if (texts.size() == 1) return {.templates = {}, .source = std::string(source)};
  std::vector<Definition> parts(2);  // the templates, the source
  parts[1] = file_of(texts.back());
  texts.pop_back();
  for (const std::string& text : texts) parts[0].members.push_back(file_of(text));
  parts[0].head = "namespace stencil_tune {\n";
  parts[0].tail = "\n}  // namespace stencil_tune\n";
  Constants constants;
  constants.add(parts);
  fold(parts[0].members, constants);
  Words words;
  add_roots(parts[1].members, words);
  add_words(also_using, words);
  while (mark(parts, nullptr, words)) continue;
  remove_unused(parts);
  if (!parts[0].members.empty()) parts[0].members.back().lead.insert(0, title("the kernel"));
  return {.templates = laid_out(title("what the kernel uses"), std::span(parts).first(1)),
          .source = laid_out(title("the stencil and its tuning"), std::span(parts).last(1))};
}

}  // namespace stencil_tune
