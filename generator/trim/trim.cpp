#include "generator/trim/trim.hpp"

#include "generator/trim/choices.hpp"
#include "generator/trim/constants.hpp"
#include "generator/trim/fold.hpp"
#include "generator/trim/layout.hpp"
#include "generator/trim/lists.hpp"
#include "generator/trim/width.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace stencil_tune {
namespace {

constexpr std::string_view kInclude = "#include \"stencil_tune/";
using Words = std::set<std::string, std::less<>>;

bool is_include(const Definition& definition) { return definition.head.starts_with(kInclude); }

void add_words(std::string_view text, Words& words) {
  for (const SourceToken& token : tokens_of(text)) {
    if (is_word(token)) words.emplace(token.text);
  }
}

void add_all_words(const std::vector<Definition>& definitions, Words& words) {
  for (const Definition& each : definitions) {
    for (const std::string* part : {&each.head, &each.body, &each.tail}) add_words(*part, words);
    add_all_words(each.members, words);
  }
}

/// A file.
struct Section {
  std::string comment;  ///< what it opens with
  std::vector<Definition> definitions;
};

/// Depth first: a file's own definitions come after those of all it includes.
class Reader {
 public:
  explicit Reader(std::span<const TemplateFile> files) : files_(files) {}

  void read(std::string_view text) {
    Section section{.comment = {}, .definitions = parse_definitions(text)};
    for (const Definition& each : section.definitions) {
      if (is_include(each)) include(each.head);
    }
    auto& all = section.definitions;
    if (!all.empty()) std::swap(section.comment, all.front().lead);
    std::erase_if(all,
                  [](const Definition& each) { return is_include(each) || each.head.starts_with("#pragma once"); });
    sections_.push_back(std::move(section));
  }

  std::vector<Section> finish() && { return std::move(sections_); }

 private:
  void include(std::string_view line) {
    const std::size_t quote = line.find('"') + 1;
    const std::string_view name = line.substr(quote, line.find('"', quote) - quote);
    if (!included_.emplace(name).second) return;
    const auto found = std::find_if(files_.begin(), files_.end(), [&](const auto& each) { return each.name == name; });
    if (found == files_.end()) throw Error(ErrorCode::internal, fmt::format("{} is no template file", name));
    read(without_marks(found->text));
  }

  /// Without what is said to the formatter, and to compilers of plain C++.
  static std::string without_marks(std::string_view text) {
    constexpr std::string_view kMark = "// clang-format o", kCuda = "#ifdef __CUDACC__\n", kElse = "#else\n";
    constexpr std::string_view kEnd = "#endif\n";
    std::string result(text);
    if (const std::size_t at = result.find(kCuda); at != std::string::npos) {
      const std::size_t other = result.find(kElse, at);
      result.erase(other, result.find(kEnd, other) + kEnd.size() - other).erase(at, kCuda.size());
    }
    for (std::size_t at = result.find(kMark); at != std::string::npos; at = result.find(kMark, at)) {
      result.erase(at, result.find('\n', at) + 1 - at);
    }
    return result;
  }

  std::span<const TemplateFile> files_;
  std::vector<Section> sections_;
  Words included_;
};

/// A function of one short statement, or of none, stands on one line.
void put_on_one_line(Definition& function) {
  const std::size_t begin = function.body.find_first_not_of(" \n");
  if (begin == std::string::npos) {
    function.body.clear();
    return;
  }
  const std::string statement = function.body.substr(begin, function.body.find_last_not_of(" \n") + 1 - begin);
  const bool simple = statement.find('\n') == std::string::npos && statement.find("//") == std::string::npos &&
                      std::count(statement.begin(), statement.end(), ';') == 1;
  const std::string::size_type last_line = function.head.rfind('\n');
  const std::size_t column = function.head.size() - (last_line == std::string::npos ? 0 : last_line + 1);
  constexpr std::size_t kIndent = 2;
  if (simple && kIndent + column + statement.size() + std::size(" } ") <= kWidth) function.body = ' ' + statement + ' ';
}

/// `template <...>` stands on the line of what it introduces where there is room.
void join_template_head(Definition& definition) {
  std::string& head = definition.head;
  if (!head.starts_with("template <")) return;
  const std::size_t end = head.find('\n');
  if (end == std::string::npos || head[end - 1] != '>') return;
  const std::size_t next = head.find_first_not_of(' ', end + 1);
  const std::size_t indent = definition.lead.size() - (definition.lead.rfind('\n') + 1);
  const std::size_t line = std::min(head.find('\n', next), head.size()) - next;
  // What is left on one line has its body there too.
  const bool one_line = head.find('\n', next) == std::string::npos && definition.body.find('\n') == std::string::npos;
  const std::size_t more = one_line ? definition.body.size() + definition.tail.size() : 0;
  if (indent + end + 1 + line + more <= kWidth) head.replace(end, next - end, " ");
}

/// A type of one short member, too, unless something is said of it.
void put_type_on_one_line(Definition& type) {
  if (type.kind != Definition::Kind::type || type.members.size() != 1 || type.tail != "};\n") return;
  Definition& member = type.members.front();
  const std::string text = member.lead + member.head + member.body + member.tail;
  const std::size_t begin = text.find_first_not_of(" \n"), end = text.find_last_not_of(" \n") + 1;
  const std::string line = text.substr(begin, end - begin);
  const bool plain =
      member.members.empty() && line.find('\n') == std::string::npos && line.find("//") == std::string::npos;
  const std::size_t indent = type.lead.size() - (type.lead.rfind('\n') + 1);
  const std::size_t width = indent + type.head.size() + line.size() + std::size("  };") - 1;
  if (!plain || type.head.find('\n') != std::string::npos || width > kWidth) return;
  member.lead = " ";
  member.head = line;
  member.body.clear();
  member.tail.clear();
  type.tail.insert(0, 1, ' ');
}

void join_lines(std::vector<Definition>& definitions) {
  for (Definition& each : definitions) {
    join_template_head(each);
    join_lines(each.members);
    put_type_on_one_line(each);
  }
}

void fold_all(std::vector<Definition>& definitions, const Constants& constants, std::string_view type, bool nested) {
  for (Definition& each : definitions) {
    const bool is_type = each.kind == Definition::Kind::type;
    if (each.kind == Definition::Kind::function && !each.body.empty()) {
      each.body = fold_branches(each.head, std::move(each.body), type, constants);
      put_on_one_line(each);
    }
    fold_all(each.members, constants, is_type && !nested ? each.names.front() : "", nested || is_type);
  }
}

void resolve_choices(std::vector<Section>& sections) {
  Constants constants;
  Choices choices;
  for (const Section& section : sections) {
    constants.add(section.definitions);
    choices.add(section.definitions);
  }
  for (Section& section : sections) choices.resolve(section.definitions, constants);
}

/// Keeps what is used by something that stays, going by names; first of all by `words`.
class Sweeper {
 public:
  Sweeper(std::vector<Section>& sections, Words words) : sections_(sections), words_(std::move(words)) {
    add_all_words(sections.back().definitions, numbers_);
  }

  void sweep() && {
    for (const Section& section : sections_) note(section.definitions);
    while (mark_all()) {
    }
    for (Section& section : sections_) remove_unused(section.definitions);
  }

 private:
  /// Names of types, and how many functions have a name.
  void note(const std::vector<Definition>& definitions) {
    for (const Definition& each : definitions) {
      if (each.kind == Definition::Kind::type) types_.insert(each.names.front());
      if (each.kind == Definition::Kind::function) ++functions_[each.names.front()];
      if (each.kind == Definition::Kind::other) note(each.members);
    }
  }

  /// Whether anything was marked.
  bool mark_all() {
    bool any = false;
    for (Section& section : sections_) any = mark(section.definitions, nullptr) || any;
    return any;
  }

  bool mark(std::vector<Definition>& definitions, const Definition* type) {
    bool any = false;
    for (Definition& each : definitions) {
      const bool list = each.kind == Definition::Kind::list;
      if (list) any = mark(each.members, type) || any;
      if (!each.used && (list ? has_used(each.members) : is_wanted(each, type))) {
        each.used = any = true;
        for (const std::string* part : {&each.head, &each.body, &each.tail}) add_words(*part, words_);
      }
      if (each.used && !list) any = mark(each.members, &each) || any;
    }
    return any;
  }

  static bool has_used(const std::vector<Definition>& definitions) {
    return std::any_of(definitions.begin(), definitions.end(), [](const Definition& each) { return each.used; });
  }

  bool is_wanted(const Definition& each, const Definition* around) const {
    using Kind = Definition::Kind;
    if (each.kind == Kind::other) return true;
    if (each.kind == Kind::label) return false;
    if (around != nullptr && around->kind == Kind::type && each.names == around->names) return true;  // a constructor
    if (std::none_of(each.names.begin(), each.names.end(), [&](const auto& name) { return words_.contains(name); })) {
      return false;
    }
    return each.kind != Kind::function || !is_overload(each) || has_arguments(each);
  }

  bool is_overload(const Definition& function) const {
    const auto found = functions_.find(function.names.front());
    return found != functions_.end() && found->second > 1;
  }

  /// One of several functions is called only where there are values of its parameters' types; of C++'s own where the
  /// source names them.
  bool has_arguments(const Definition& function) const {
    const std::vector<SourceToken> tokens = tokens_of(function.head);
    return std::all_of(tokens.begin(), tokens.end(), [&](const SourceToken& token) {
      if (token == "double" || token == "float") return numbers_.contains(token.text);
      return types_.find(token.text) == types_.end() || words_.contains(token.text);
    });
  }

  /// A heading stays with what is left of what it stands above, a label too.
  static void remove_unused(std::vector<Definition>& definitions) {
    std::string above;
    std::vector<Definition> kept;
    for (Definition& each : definitions) {
      const std::size_t end = each.lead.rfind("\n\n");
      if (end != std::string::npos && each.lead.find("//") < end) {
        above = each.lead.substr(0, end + 1);
        each.lead.erase(0, end + 1);
      }
      if (each.kind == Definition::Kind::label) above = each.lead + each.head;
      if (!each.used) continue;
      if (above.ends_with('\n') && each.lead.starts_with('\n')) each.lead.erase(0, 1);
      each.lead.insert(0, std::exchange(above, {}));
      remove_unused(each.members);
      kept.push_back(std::move(each));
    }
    definitions = std::move(kept);
  }

  std::vector<Section>& sections_;
  Words words_;
  Words types_;
  Words numbers_;  ///< words of the source, types of numbers among them
  std::map<std::string, int, std::less<>> functions_;
};

/// Sections one after the other, in as few namespaces as they allow; the last one has the kernel. Then the source.
class Writer {
 public:
  void write(std::span<const Section> sections) {
    for (const Section& section : sections) {
      if (&section == &sections.back()) {
        title("the kernel");
      } else if (text_.empty()) {
        title("what the kernel uses");
      }
      write(section);
    }
  }

  void write(const Section& section) {
    const bool empty = std::none_of(section.definitions.begin(), section.definitions.end(), [](const Definition& each) {
      return each.kind == Definition::Kind::name || !each.members.empty();
    });
    if (empty) return;
    text_ += '\n' + section.comment;
    for (const Definition& each : section.definitions) {
      if (each.head.starts_with("namespace stencil_tune")) {
        after_comment_ = open_ && !section.comment.empty();
        open();
        write(each.members);
      } else {
        if (!each.head.starts_with("#")) close();
        write(std::span(&each, 1));
      }
    }
  }

  WrittenOut finish(const Section& source) && {
    close();
    WrittenOut written{.templates = laid_out(std::exchange(text_, {})), .source = {}};
    title("the stencil and its tuning");
    text_ += source.comment;
    write(source.definitions);
    written.source = laid_out(text_);
    return written;
  }

 private:
  void title(std::string_view title) {
    text_ += fmt::format("\n{:-<{}}\n\n", fmt::format("// ---- {} ", title), kWidth);
  }

  void open() {
    if (!std::exchange(open_, true)) text_ += "\nnamespace stencil_tune {\n";
  }
  void close() {
    if (std::exchange(open_, false)) text_ += "\n}  // namespace stencil_tune\n";
  }

  void write(std::span<const Definition> definitions) {
    for (const Definition& each : definitions) {
      const bool close_by = std::exchange(after_comment_, false);
      text_ += close_by ? each.lead.substr(std::min(each.lead.find_first_not_of('\n'), each.lead.size())) : each.lead;
      const std::size_t begin = text_.size();
      if (each.kind == Definition::Kind::list) {
        text_ += text_of_list(each);
        continue;
      }
      text_ += each.head;
      write(each.members);
      const bool one_line = text_.find('\n', begin) == std::string::npos;
      if (one_line && !each.members.empty()) text_.erase(text_.find_last_not_of(' ') + 1);  // the tail has its own
      if (!one_line && !each.members.empty() && text_.back() != '\n') text_ += '\n';
      text_ += each.body + each.tail;
    }
  }

  static std::string laid_out(std::string_view text) { return with_short_lines_joined(without_gaps(text)); }

  /// One blank line at most in turn.
  static std::string without_gaps(std::string_view text) {
    std::string result;
    for (std::size_t at = 0; at < text.size(); ++at) {
      const bool blank = text[at] == '\n' && result.ends_with("\n\n");
      if (!blank) result += text[at];
    }
    return result;
  }

  std::string text_;
  bool open_ = false;
  bool after_comment_ = false;  ///< what a file opens with has been written, what it defines follows
};

/// What stands in the source by its own right: all but the members of its types.
void add_roots(const std::vector<Definition>& definitions, Words& words) {
  for (const Definition& each : definitions) {
    words.insert(each.names.begin(), each.names.end());
    const bool apart = each.kind == Definition::Kind::other || each.kind == Definition::Kind::list;
    if (apart) add_roots(each.members, words);
  }
}

}  // namespace

WrittenOut write_out(std::string_view source, std::span<const TemplateFile> files, std::string_view also_using) {
  Reader reader(files);
  reader.read(source);
  std::vector<Section> sections = std::move(reader).finish();
  resolve_choices(sections);
  Constants constants;
  for (const Section& section : sections) constants.add(section.definitions);
  if (sections.size() == 1) return {.templates = {}, .source = std::string(source)};
  for (int pass = 0; pass < 2; ++pass) {  // what a branch returned may decide others
    for (Section& section : std::span(sections).first(sections.size() - 1)) {
      fold_all(section.definitions, constants, "", false);
    }
    constants.forget_functions();
    for (const Section& section : std::span(sections).first(sections.size() - 1)) {
      constants.note_functions(section.definitions);
    }
  }
  for (Section& section : sections) take_apart(section.definitions);
  Words words;
  add_roots(sections.back().definitions, words);
  add_words(also_using, words);
  Sweeper(sections, std::move(words)).sweep();
  for (Section& section : sections) join_lines(section.definitions);
  Section own = std::move(sections.back());
  sections.pop_back();
  join_lists(own.definitions);
  Writer writer;
  writer.write(sections);
  return std::move(writer).finish(own);
}

}  // namespace stencil_tune
