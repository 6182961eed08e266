#include "generator/input_file.hpp"
#include "generator/printable.hpp"
#include "generator/suggest.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/exchange/formats.hpp"
#include "tuner/exchange/json_values.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

namespace stencil_tune {
namespace {

constexpr std::size_t kLongest = std::size_t{128} << 20;  // bytes of a file's text; the hub's largest has 60 MB

struct Close {
  void operator()(gzFile file) const noexcept { gzclose(file); }
};

/// A session of Kernel Tuner that was cut off leaves the last braces out; as it does itself, they are supplied.
std::string with_end_of_cache(std::string text) {
  const std::size_t last = text.find_last_not_of(" \t\r\n,");
  text.resize(last == std::string::npos ? 0 : last + 1);
  return text + "}}";
}

/// Whether the first line alone is a JSON object that names parameters. Other formats have whole files on one line.
bool is_wisdom(const std::string& text) {
  constexpr std::size_t kLongestHeader = 1 << 16;
  const std::size_t length = text.find('\n');
  if (length > kLongestHeader) return false;
  const auto header = parse_json(std::string_view(text).substr(0, length));
  return header.is_object() && header.contains("tunable_parameters");
}

constexpr std::array<ExchangeFormat, 3> kFormats{{
    {"kernel-tuner", "a cache of Kernel Tuner, as its simulation mode reads it", false,
     [](std::span<const TrialTable> tables) { return kernel_tuner_cache(tables.front()); }},
    {"t4", "T4 results of the FAIR autotuning hub", false,
     [](std::span<const TrialTable> tables) { return t4_results(tables.front()); }},
    {"kernel-launcher", "a wisdom file of Kernel Launcher: the five fastest", true, wisdom},
}};

}  // namespace

std::string read_text(const std::string& path) {
  const auto fail = [&](const std::string& why) {
    throw Error(ErrorCode::file_io, fmt::format("cannot read {}: {}", printable(path), why));
  };
  require_regular_file(path);
  errno = 0;
  const std::unique_ptr<gzFile_s, Close> file(gzopen(path.c_str(), "rb"));
  if (!file) fail(std::strerror(errno));
  std::string text;
  std::array<char, 1 << 16> buffer{};
  int count = 0;
  while ((count = gzread(file.get(), buffer.data(), buffer.size())) > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(count));
    if (text.size() > kLongest) fail(fmt::format("it has more than {} MiB of text", kLongest >> 20));
  }
  int error = Z_OK;
  const char* message = gzerror(file.get(), &error);
  if (error == Z_BUF_ERROR) fail("it is cut off");
  if (count < 0) fail(error == Z_ERRNO ? std::strerror(errno) : message);
  return text;
}

std::string table_name(const std::string& path) {
  std::filesystem::path name = std::filesystem::path(path).filename();
  for (const char* extension : {".gz", ".csv", ".json", ".wisdom"}) {
    if (name.extension() == extension) name = name.stem();
  }
  return printable(name.string());
}

std::span<const ExchangeFormat> exchange_formats() { return kFormats; }

const ExchangeFormat& exchange_format(std::string_view name) {
  std::vector<std::string> names;
  for (const ExchangeFormat& format : kFormats) {
    if (format.name == name) return format;
    names.emplace_back(format.name);
  }
  throw Error(ErrorCode::unknown_name, fmt::format("there is no format '{}'{}; there are {}", name,
                                                   did_you_mean(name, names), fmt::join(names, ", ")));
}

TablesOfText read_tables(const std::string& name, const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || text[first] != '{') return {};
  if (is_wisdom(text)) return {&exchange_format("kernel-launcher"), read_wisdom(name, text)};
  auto json = parse_json(text);
  if (json.is_discarded()) json = parse_json(with_end_of_cache(text));
  if (json.is_discarded()) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("{} is damaged: its JSON does not parse, or has more levels or values than trials have", name));
  }
  if (json.contains("cache")) return {&exchange_format("kernel-tuner"), {read_kernel_tuner_cache(name, json)}};
  if (json.contains("results")) return {&exchange_format("t4"), {read_t4_results(name, json)}};
  return {};
}

}  // namespace stencil_tune
