#include "runtime/export/templates.hpp"

#include "generator/kernel/source.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <cctype>
#include <set>
#include <string>

namespace stencil_tune {

namespace {

constexpr std::string_view kInclude = "#include \"";
constexpr std::string_view kNamespace = "stencil_tune";
constexpr std::size_t kRulerWidth = 120;

std::string_view text_of(std::string_view file) {
  for (const TemplateFile& each : template_files()) {
    if (each.name == file) return each.text;
  }
  throw Error(ErrorCode::internal, fmt::format("the generated source includes {}, which is no template file", file));
}

/// Depth first: a file's own text comes after that of all it includes.
class Writer {
 public:
  void write(std::string_view title, std::string_view text) {
    std::string own;
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
      const std::string_view line = text.substr(0, end);
      text.remove_prefix(end);
      if (line.starts_with(kInclude)) {
        include(line.substr(kInclude.size(), line.find('"', kInclude.size()) - kInclude.size()));
      } else if (!line.starts_with("#pragma once")) {
        own += line;
      }
    }
    if (!own.ends_with('\n')) own += '\n';
    result_ += fmt::format("\n{:-<{}}\n\n", fmt::format("// ---- {} ", title), kRulerWidth);
    result_ += own.substr(std::min(own.find_first_not_of('\n'), own.size()));
  }

  std::string finish() && { return std::move(result_); }

 private:
  void include(std::string_view file) {
    if (!included_.emplace(file).second) return;
    write(file.substr(file.rfind('/') + 1), text_of(file));
  }

  std::string result_;
  std::set<std::string, std::less<>> included_;
};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Whole words only: stencil_tune::x, not stencil_tune_x.
std::string rename(std::string_view text, std::string_view from, std::string_view to) {
  std::string result;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t found = text.find(from, at);
    if (found == std::string_view::npos) break;
    const std::size_t after = found + from.size();
    const bool whole = (found == 0 || !is_word(text[found - 1])) && (after == text.size() || !is_word(text[after]));
    result += text.substr(at, found - at);
    result += whole ? to : from;
    at = after;
  }
  result += text.substr(std::min(at, text.size()));
  return result;
}

}  // namespace

std::string write_out_templates(std::string_view source, std::string_view renamed_namespace) {
  Writer writer;
  writer.write("the stencil and its tuning", source);
  return rename(std::move(writer).finish(), kNamespace, renamed_namespace);
}

}  // namespace stencil_tune
