// The files of a kernel of the user's own.
#include "generator/user_kernel/user_kernel.hpp"

#include "generator/definition/definition.hpp"
#include "generator/definition/text.hpp"
#include "generator/input_file.hpp"
#include "generator/suggest.hpp"
#include "generator/user_kernel/captured_launch.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <new>
#include <set>
#include <sstream>
#include <system_error>

namespace stencil_tune {
namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path, std::size_t most) {
  std::string text = read_input_file(path, most);
  if (text.size() > most) {
    throw Error(ErrorCode::malformed_definition,
                fmt::format("{}: more than {} bytes", quotable(path.string(), 200), most));
  }
  return text;
}

/// The file that an #include "..." names; empty for other lines.
std::string_view included_file(std::string_view line) {
  const auto skip = [&line](std::string_view expected) {
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string_view::npos || !line.substr(begin).starts_with(expected)) return false;
    line.remove_prefix(begin + expected.size());
    return true;
  };
  if (!skip("#") || !skip("include") || !skip("\"")) return {};
  return line.substr(0, line.find('"'));
}

/// Writes out the files that stand beside a source and that it includes, each once: what is left needs no folder.
class Includes {
 public:
  std::string expand(const fs::path& path) {
    std::error_code ignored;
    seen_.insert(fs::weakly_canonical(path, ignored));
    const std::string text = read_file(path, kUserKernelLimits.source_bytes);
    std::string result;
    std::size_t line_number = 0;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
      const std::string_view line(text.data() + at, end - at);
      at = end;
      ++line_number;
      const std::string_view included = included_file(line);
      const fs::path beside = path.parent_path() / included;
      if (included.empty() || !fs::is_regular_file(beside, ignored)) {
        result += line;
      } else if (!seen_.contains(fs::weakly_canonical(beside, ignored))) {
        result += fmt::format("#line 1 \"{}\"\n{}\n", shown(beside), expand(beside));
        result += fmt::format("#line {} \"{}\"\n", line_number + 1, shown(path));
      } else {
        result += '\n';
      }
      if (result.size() > kUserKernelLimits.source_bytes) {
        throw Error(ErrorCode::malformed_definition, fmt::format("{}: more than {} bytes with what it includes",
                                                                 shown(path), kUserKernelLimits.source_bytes));
      }
    }
    return result;
  }

  static std::string shown(const fs::path& path) {
    std::string name = quotable(path.filename().string(), 100);
    std::erase_if(name, [](char c) { return c == '"' || c == '\\'; });
    return name;
  }

 private:
  std::set<fs::path> seen_;
};

/// The first line.
std::string read_line(const fs::path& path) {
  const std::string text = read_file(path, kDefinitionLimits.bytes);
  return text.substr(0, text.find('\n'));
}

/// Files may be as large as a GPU's memory.
std::string hash_of_files(const std::vector<std::string>& files) {
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> hash(XXH3_createState(), &XXH3_freeState);
  if (hash == nullptr) throw std::bad_alloc();
  XXH3_128bits_reset(hash.get());
  std::vector<char> bytes(std::size_t{1} << 20);
  for (const std::string& path : files) {
    const std::string name = fs::path(path).filename().string();
    XXH3_128bits_update(hash.get(), name.c_str(), name.size() + 1);
    std::ifstream file(path, std::ios::binary);
    if (!file) throw Error(ErrorCode::file_io, fmt::format("cannot read '{}'", quotable(path, 200)));
    while (file.read(bytes.data(), static_cast<std::streamsize>(bytes.size())) || file.gcount() > 0) {
      XXH3_128bits_update(hash.get(), bytes.data(), static_cast<std::size_t>(file.gcount()));
    }
  }
  const XXH128_hash_t digest = XXH3_128bits_digest(hash.get());
  return fmt::format("{:016x}{:016x}", digest.high64, digest.low64);
}

UserKernel load_captured_launch(const fs::path& folder) {
  std::error_code ignored;
  const auto has = [&](const char* file) { return fs::is_regular_file(folder / file, ignored); };
  const char* const definition = has(captured::kDefinitions[0]) ? captured::kDefinitions[0] : captured::kDefinitions[1];
  const std::string text = read_file(folder / definition, kUserKernelLimits.source_bytes);
  UserKernel kernel = parse_user_kernel(text, definition).kernel;
  kernel.source = read_file(folder / captured::kSource, kUserKernelLimits.source_bytes);
  if (has(captured::kReference)) {
    kernel.reference_source = read_file(folder / captured::kReference, kUserKernelLimits.source_bytes);
  }
  if (has(captured::kLibrary)) kernel.reference.library = read_line(folder / captured::kLibrary);
  std::istringstream sizes(read_line(folder / captured::kSizes));
  set_sizes(kernel, std::vector<std::string>(std::istream_iterator<std::string>(sizes), {}));
  std::vector<std::string> files;
  for (KernelArgument& argument : kernel.arguments) {
    const fs::path file = folder / captured::argument_file(argument.name);
    if (!fs::is_regular_file(file, ignored)) continue;
    argument.captured = fs::absolute(file).string();
    files.push_back(argument.captured);
  }
  if (!files.empty()) kernel.captured_data = hash_of_files(files);
  return kernel;
}

}  // namespace

UserKernel load_user_kernel(const std::string& path) {
  if (std::error_code ignored; fs::is_directory(path, ignored)) return load_captured_launch(path);
  const bool is_document = path.ends_with(".toml");
  const std::string text = read_file(path, is_document ? kDefinitionLimits.bytes : kUserKernelLimits.source_bytes);
  auto [kernel, source_file] = parse_user_kernel(text, path);
  const fs::path folder = fs::path(path).parent_path();
  const fs::path source = is_document ? folder / source_file : fs::path(path);
  kernel.file = Includes::shown(source);
  kernel.source = Includes().expand(source);
  UserKernelReference& reference = kernel.reference;
  if (!reference.file.empty()) kernel.reference_source = Includes().expand(folder / reference.file);
  if (!reference.library.empty()) {
    const fs::path library = folder / reference.library;
    if (!fs::is_regular_file(library)) {
      throw Error(ErrorCode::file_io, fmt::format("there is no library '{}'; it is looked for beside the definition",
                                                  quotable(library.string(), 200)));
    }
    reference.library = fs::absolute(library).string();
  }
  return std::move(kernel);
}

WholeValues UserKernel::size_values() const {
  WholeValues values;
  for (const UserKernelSize& size : sizes) values[size.name] = size.value;
  return values;
}

void set_sizes(UserKernel& kernel, std::span<const std::string> settings) {
  std::vector<std::string> names;
  for (const UserKernelSize& size : kernel.sizes) names.push_back(size.name);
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos && names.size() != 1) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("'{}' says no size's name; write NAME=VALUE, the sizes are {}", quotable(setting),
                              fmt::join(names, ", ")));
    }
    const std::string name = equals == std::string::npos ? names.front() : setting.substr(0, equals);
    const std::string_view number = std::string_view(setting).substr(equals == std::string::npos ? 0 : equals + 1);
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      throw Error(ErrorCode::unknown_name, fmt::format("'{}' is no size of {}; its sizes are {}{}", quotable(name),
                                                       kernel.name, fmt::join(names, ", "), did_you_mean(name, names)));
    }
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (error != std::errc() || end != number.data() + number.size() || value < 0) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("'{}' is no size; a size is a whole number that is not negative", quotable(number)));
    }
    kernel.sizes[static_cast<std::size_t>(found - names.begin())].value = value;
  }
}

}  // namespace stencil_tune
