// Definition files: TOML to stencil.
#include "generator/definition/definition.hpp"

#include "generator/definition/functions.hpp"
#include "generator/definition/stencil.hpp"
#include "generator/suggest.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <stdexcept>
#include <system_error>

// toml++ 3.3 asserts what some malformed documents violate, such as "[[[", and with NDEBUG tells the compiler to assume
// it. Here a violated assertion is a rejected document in every build. This is the only file that includes toml++.
namespace stencil_tune {
struct BrokenToml : std::runtime_error {
  using std::runtime_error::runtime_error;
};
[[noreturn]] inline void reject_broken_toml() { throw BrokenToml("this is not a TOML document"); }
}  // namespace stencil_tune
#undef NDEBUG
#define TOML_ASSERT(condition) (static_cast<bool>(condition) ? void() : stencil_tune::reject_broken_toml())
#define TOML_MAX_NESTED_VALUES 16
#include <toml++/toml.h>

namespace stencil_tune {
namespace {

const std::vector<std::string> kKeys{"name",   "rank",  "element", "fields",   "coefficients", "let",
                                     "update", "stage", "rotate",  "boundary", "source",       "description"};

/// The text with every byte that is not ASCII replaced, so that places stay what they are. Only comments may hold such
/// characters, and toml++ 3.3 is undefined on some of them. A byte order mark becomes blanks.
std::string ascii(std::string_view text) {
  std::string result(text);
  if (text.starts_with("\xef\xbb\xbf")) result.replace(0, 3, 3, ' ');
  for (char& c : result) {
    if (static_cast<unsigned char>(c) >= 0x80u) c = '?';
  }
  return result;
}

/// A key of a table with its value, and where they stand.
struct Entry {
  std::string_view key;
  const toml::node* value;
  std::size_t offset;  ///< of the key
};

class DefinitionReader {
 public:
  DefinitionReader(std::string_view text, std::string_view source)
      : text_(source, text), ascii_(source, ascii(text)), source_(source) {}

  Stencil run() {
    const toml::table document = parse();
    for (const Entry& entry : entries(document)) {
      if (std::find(kKeys.begin(), kKeys.end(), entry.key) == kKeys.end()) {
        text_.reject(entry.offset, fmt::format("unknown key '{}' (known: {}){}", quotable(entry.key),
                                               fmt::join(kKeys, ", "), did_you_mean(entry.key, kKeys)));
      }
    }
    for (const std::string_view comment : {"source", "description"}) string_or(document, comment, "");
    Stencil simplified = read(document, Form::simplified);
    Stencil stencil = with_written_form(std::move(simplified), read(document, Form::written));
    stencil.element = element(document);
    return stencil;
  }

 private:
  Stencil read(const toml::table& document, Form form) const {
    DefinedStencil stencil(text_, name(document), rank(document), form);
    declare(stencil, document);
    updates(stencil, document);
    rotations(stencil, document);
    boundaries(stencil, document);
    return std::move(stencil).build(0);
  }

  /// toml++ walks what dotted keys nest with recursion that has no limit: a.a.a.a... would exhaust the stack.
  /// A key stands on one line; a point inside a number, as in 0.5, nests nothing.
  void reject_long_keys() const {
    constexpr std::size_t kMostPoints = 16;
    const std::string_view text = text_.text();
    std::size_t in_line = 0;
    for (std::size_t begin = 0; begin < text.size();) {
      if (text[begin] == '\n') in_line = 0;
      std::size_t end = begin;
      while (end < text.size() && (is_word(text[end]) || text[end] == '.')) ++end;
      const std::string_view word = text.substr(begin, end - begin);
      const auto points = static_cast<std::size_t>(std::count(word.begin(), word.end(), '.'));
      const bool is_number = points == 1 && word.front() != '.' && word.back() != '.';
      if (!is_number) in_line += points;
      if (in_line > kMostPoints) text_.reject(begin, "too many points between names in one line");
      begin = std::max(end, begin + 1);
    }
  }

  static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  }

  toml::table parse() const {
    reject_long_keys();
    try {
      return toml::parse(ascii_.text());
    } catch (const toml::parse_error& error) {
      text_.reject(offset_of(error.source()), quotable(error.description(), 300));
    } catch (const BrokenToml& error) {
      text_.reject(0, error.what());
    }
  }

  // ---- places

  std::size_t offset_of(const toml::source_region& region) const {
    return ascii_.offset_of(region.begin.line, region.begin.column);
  }
  std::size_t offset_of(const toml::node& node) const { return offset_of(node.source()); }

  /// In the order of the text, not of the alphabet.
  std::vector<Entry> entries(const toml::table& table) const {
    std::vector<Entry> all;
    for (const auto& [key, value] : table) all.push_back({key.str(), &value, offset_of(key.source())});
    std::sort(all.begin(), all.end(), [](const Entry& a, const Entry& b) { return a.offset < b.offset; });
    return all;
  }

  /// The string's place in the text. Strings with escapes are refused, so that an expression reads in the file
  /// as it is parsed and its columns are the file's.
  ExpressionText expression(const Entry& entry) const {
    const auto* string = entry.value->as_string();
    if (string == nullptr) {
      text_.reject(offset_of(*entry.value), fmt::format("'{}' must be an expression in quotes", quotable(entry.key)));
    }
    const std::string& value = string->get();
    std::size_t begin = offset_of(*entry.value);
    const std::string_view text = ascii_.text();
    const bool multi_line = text.substr(begin).starts_with("\"\"\"") || text.substr(begin).starts_with("'''");
    begin = std::min(begin + (multi_line ? 3 : 1), text.size());
    // TOML drops a line break right after the opening quotes.
    if (multi_line && text.substr(begin).starts_with("\r\n")) begin += 2;
    if (multi_line && text.substr(begin).starts_with("\n")) begin += 1;
    if (text.compare(begin, value.size(), value) != 0) {
      text_.reject(begin, "expressions are written without backslashes");
    }
    return {&text_, begin, value.size()};
  }

  // ---- values

  std::string string_or(const toml::table& document, std::string_view key, std::string_view otherwise) const {
    const toml::node* node = document.get(key);
    if (node == nullptr) return std::string(otherwise);
    if (const auto* string = node->as_string()) return string->get();
    text_.reject(offset_of(*node), fmt::format("'{}' must be a string", key));
  }

  std::string name(const toml::table& document) const {
    const std::string name = string_or(document, "name", file_stem());
    const auto allowed = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
             c == '.';
    };
    if (!name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), allowed)) return name;
    const toml::node* node = document.get("name");
    text_.reject(node ? offset_of(*node) : 0,
                 "a stencil's name is 1 to 64 letters, digits, '_', '-' and '.'; give one as "
                 "name = \"...\"");
  }

  std::string file_stem() const {
    std::string_view stem = source_;
    if (const std::size_t slash = stem.rfind('/'); slash != std::string_view::npos) stem.remove_prefix(slash + 1);
    if (stem.ends_with(".toml")) stem.remove_suffix(5);
    return std::string(stem);
  }

  int rank(const toml::table& document) const {
    const toml::node* node = document.get("rank");
    if (node == nullptr) text_.reject(0, "the rank is missing; write rank = 1, 2 or 3");
    const auto value = node->value_exact<std::int64_t>();
    if (!value || *value < 1 || *value > kMaxRank) text_.reject(offset_of(*node), "rank must be 1, 2 or 3");
    return static_cast<int>(*value);
  }

  std::optional<ElementType> element(const toml::table& document) const {
    const std::string text = string_or(document, "element", "");
    if (document.get("element") == nullptr) return std::nullopt;
    try {
      return parse_element_type(text);
    } catch (const Error& error) {
      text_.reject(offset_of(*document.get("element")), quotable(error.what(), 200));
    }
  }

  const toml::table* table(const toml::table& document, std::string_view key) const {
    const toml::node* node = document.get(key);
    if (node == nullptr) return nullptr;
    if (node->as_table() == nullptr) text_.reject(offset_of(*node), fmt::format("'{}' must be a table", key));
    return node->as_table();
  }

  // ---- parts

  void declare(DefinedStencil& stencil, const toml::table& document) const {
    const toml::node* fields = document.get("fields");
    if (fields == nullptr) text_.reject(0, "the fields are missing; write fields = [\"u\", \"u_next\"]");
    if (fields->as_array() == nullptr) text_.reject(offset_of(*fields), "'fields' must be a list of names");
    for (const toml::node& field : *fields->as_array()) {
      if (field.as_string() == nullptr) text_.reject(offset_of(field), "a field's name must be a string");
      declare_field(stencil, field.as_string()->get(), offset_of(field));
    }
    if (const toml::table* coefficients = table(document, "coefficients")) {
      for (const Entry& entry : entries(*coefficients)) {
        const bool is_number = entry.value->is_number();
        if (!is_number) text_.reject(offset_of(*entry.value), "a coefficient's default must be a number");
        stencil.declare_coefficient(entry.key, *entry.value->value<double>(), entry.offset);
      }
    }
    if (const toml::table* let = table(document, "let")) {
      for (const Entry& entry : entries(*let)) stencil.declare_expression(entry.key, expression(entry), entry.offset);
    }
  }

  /// "u", or "dz(z)" for a profile.
  static void declare_field(DefinedStencil& stencil, std::string_view text, std::size_t offset) {
    const std::size_t open = text.find('(');
    if (open == std::string_view::npos || !text.ends_with(")")) return stencil.declare_field(text, offset);
    stencil.declare_profile(text.substr(0, open), text.substr(open + 1, text.size() - open - 2), offset);
  }

  void updates(DefinedStencil& stencil, const toml::table& document) const {
    const toml::table* update = table(document, "update");
    const toml::node* stages = document.get("stage");
    if ((update == nullptr) == (stages == nullptr)) {
      text_.reject(
          stages ? offset_of(*stages) : 0,
          "a definition has either one [update] or one or more [[stage]], each with lines such as u_next = \"...\"");
    }
    if (update) {
      stage(stencil, *update);
      return;
    }
    if (stages->as_array() == nullptr) text_.reject(offset_of(*stages), "write [[stage]] in double brackets");
    for (const toml::node& node : *stages->as_array()) {
      if (node.as_table() == nullptr) text_.reject(offset_of(node), "a stage must be a table");
      stage(stencil, *node.as_table());
    }
  }

  void stage(DefinedStencil& stencil, const toml::table& table) const {
    const std::vector<Entry> updates = entries(table);
    stencil.begin_stage(offset_of(table));
    if (updates.empty()) text_.reject(offset_of(table), "this stage writes nothing");
    for (const Entry& entry : updates) stencil.update(entry.key, expression(entry), entry.offset);
  }

  void rotations(DefinedStencil& stencil, const toml::table& document) const {
    const toml::table* rotate = table(document, "rotate");
    if (rotate == nullptr) {
      stencil.rotate_by_convention();
      return;
    }
    for (const Entry& entry : entries(*rotate)) {
      if (entry.value->as_string() == nullptr) text_.reject(offset_of(*entry.value), "a field's name must be a string");
      stencil.rotate(entry.key, entry.value->as_string()->get(), entry.offset);
    }
  }

  void boundaries(DefinedStencil& stencil, const toml::table& document) const {
    const toml::table* boundary = table(document, "boundary");
    if (boundary == nullptr) return;
    for (const Entry& entry : entries(*boundary)) {
      const bool is_axis = entry.key.size() == 1 && kAxes.find(entry.key) != std::string_view::npos;
      const toml::table* of_field = entry.value->as_table();
      if (is_axis) {
        axis_boundary(stencil, "", entry);
      } else if (of_field != nullptr) {
        for (const Entry& axis : entries(*of_field)) axis_boundary(stencil, entry.key, axis);
      } else {
        text_.reject(offset_of(*entry.value),
                     fmt::format("write {0}.x = \"...\", or y or z, for field '{0}'; x = \"...\" for all fields",
                                 quotable(entry.key)));
      }
    }
  }

  /// x = "odd", x.low = "odd".
  void axis_boundary(DefinedStencil& stencil, std::string_view field, const Entry& axis) const {
    const toml::table* sides = axis.value->as_table();
    if (sides == nullptr) {
      stencil.boundary(field, axis.key, std::nullopt, expression(axis), axis.offset);
      return;
    }
    for (const Entry& side : entries(*sides)) {
      if (side.key != "low" && side.key != "high") {
        text_.reject(side.offset,
                     fmt::format("'{}' is no side of an axis; those are low and high", quotable(side.key)));
      }
      stencil.boundary(field, axis.key, side.key == "low" ? Side::low : Side::high, expression(side), side.offset);
    }
  }

  DefinitionText text_;
  DefinitionText ascii_;
  std::string source_;
};

Error unreadable(const std::string& path) {
  return {ErrorCode::file_io,
          fmt::format("cannot read the stencil definition '{}': {}", path, std::generic_category().message(errno))};
}

}  // namespace

Stencil parse_definition(std::string_view text, std::string_view source) {
  if (text.size() > kDefinitionLimits.bytes) {
    throw Error(ErrorCode::malformed_definition,
                fmt::format("{}: more than {} bytes", quotable(source, 200), kDefinitionLimits.bytes));
  }
  return DefinitionReader(text, source).run();
}

Stencil load_definition(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw unreadable(path);
  std::string text(kDefinitionLimits.bytes + 1, '\0');  // one more than is legal: larger files are never read whole
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad() || (file.fail() && !file.eof())) throw unreadable(path);
  text.resize(static_cast<std::size_t>(file.gcount()));
  return parse_definition(text, path);
}

}  // namespace stencil_tune
