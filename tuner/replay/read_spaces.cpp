#include "generator/printable.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/replay/formats.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

namespace stencil_tune {
namespace {

constexpr std::size_t kLongest = std::size_t{1} << 30;  // of a file's text; the hub's largest has 60 MB

struct Close {
  void operator()(gzFile file) const noexcept { gzclose(file); }
};

/// What is not compressed is read as it is.
std::string read_text(const std::string& path) {
  const auto fail = [&](const std::string& why) {
    throw Error(ErrorCode::file_io, fmt::format("cannot read {}: {}", printable(path), why));
  };
  if (std::filesystem::is_directory(path)) fail("it is a folder");
  errno = 0;
  const std::unique_ptr<gzFile_s, Close> file(gzopen(path.c_str(), "rb"));
  if (!file) fail(std::strerror(errno));
  std::string text;
  std::array<char, 1 << 16> buffer{};
  int count = 0;
  while ((count = gzread(file.get(), buffer.data(), buffer.size())) > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(count));
    if (text.size() > kLongest) fail("it has more than 1 GiB of text");
  }
  int error = Z_OK;
  const char* message = gzerror(file.get(), &error);
  if (error == Z_BUF_ERROR) fail("it is cut off");
  if (count < 0) fail(error == Z_ERRNO ? std::strerror(errno) : message);
  return text;
}

/// "convolution-A100" of ".../convolution-A100.csv.gz"
std::string space_name(const std::string& path) {
  std::filesystem::path name = std::filesystem::path(path).filename();
  for (const char* extension : {".gz", ".csv", ".json"}) {
    if (name.extension() == extension) name = name.stem();
  }
  return printable(name.string());
}

RecordedSpace read_json(const std::string& path, const std::string& text) {
  auto json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_discarded()) json = nlohmann::json::parse(with_end_of_cache(text), nullptr, false);
  if (json.is_discarded()) {
    throw Error(ErrorCode::invalid_argument, fmt::format("{} is damaged: its JSON does not parse", printable(path)));
  }
  if (json.contains("cache")) return read_kernel_tuner_cache(space_name(path), json);
  if (json.contains("results")) return read_t4_results(space_name(path), json);
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{} is no recorded space: there is neither \"cache\" (Kernel Tuner) nor \"results\" (T4)",
                          printable(path)));
}

}  // namespace

std::vector<RecordedSpace> read_spaces(const std::string& path) {
  const std::string text = read_text(path);
  if (text.starts_with("SQLite format 3")) return read_database_spaces(path);
  std::vector<RecordedSpace> spaces;
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && text[first] == '{') {
    spaces.push_back(read_json(path, text));
  } else {
    spaces.push_back(read_csv_space(space_name(path), text));
  }
  return spaces;
}

}  // namespace stencil_tune
