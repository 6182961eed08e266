#include "generator/kernel_source/signature.hpp"

#include "stencil_tune/error.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

namespace stencil_tune {
namespace {

/// Changes whenever the generated text changes its meaning; the templates are hashed on their own.
constexpr std::string_view kGeneratorVersion = "3";

constexpr std::string_view kInclude = "#include \"";

/// The file that a line includes by "..."; empty where it is no such line.
std::string_view included_file(std::string_view line) {
  if (!line.starts_with(kInclude)) return {};
  line.remove_prefix(kInclude.size());
  return line.substr(0, line.find('"'));
}

template <typename Use>
void for_each_line(std::string_view text, Use&& use) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    use(line);
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
}

/// A file with what it includes in place of the lines that say so, each once, and nothing that does not count.
class Closure {
 public:
  explicit Closure(std::span<const TemplateFile> files) : files_(files) {}

  void add(std::string_view name) {
    if (!added_.insert(name).second) return;
    for_each_line(strip_comments(text_of(name)), [&](std::string_view line) {
      if (const std::string_view file = included_file(line); !file.empty()) {
        add(name_among_files(file));
      } else if (line != "#pragma once") {
        text_ += line;
        text_ += '\n';
      }
    });
  }

  std::string hash() const {
    const std::string all = std::string(kGeneratorVersion) + '\n' + text_;
    return fmt::format("{:016x}", XXH3_64bits(all.data(), all.size()));
  }

 private:
  const TemplateFile& find(std::string_view name) const {
    for (const TemplateFile& each : files_) {
      if (each.name == name) return each;
    }
    throw Error(ErrorCode::internal, fmt::format("{} is no template file", name));
  }

  std::string_view text_of(std::string_view name) const { return find(name).text; }
  std::string_view name_among_files(std::string_view name) const { return find(name).name; }

  std::span<const TemplateFile> files_;
  std::set<std::string_view> added_;
  std::string text_;
};

bool is_template(std::string_view name) {
  const auto files = template_files();
  return std::any_of(files.begin(), files.end(), [&](const TemplateFile& each) { return each.name == name; });
}

/// The signature of a file that ships; computed once.
const std::string& shipped_signature(const std::string& file) {
  static std::mutex mutex;
  static std::map<std::string, std::string> known;
  const std::scoped_lock lock(mutex);
  std::string& signature = known[file];
  if (signature.empty()) signature = template_signature(file, template_files());
  return signature;
}

}  // namespace

std::string template_signature(std::string_view file, std::span<const TemplateFile> files) {
  Closure closure(files);
  closure.add(file);
  return closure.hash();
}

std::string template_signature(const Tuning& tuning) {
  return shipped_signature(fmt::format("stencil_tune/{}", template_of(tuning)));
}

std::string template_signature(const KernelSource& source) {
  std::string all;
  for_each_line(source.text, [&](std::string_view line) {
    if (const std::string_view file = included_file(line); is_template(file))
      all += shipped_signature(std::string(file));
  });
  return all;
}

}  // namespace stencil_tune
