#include "tuner/executor/host_compiler.hpp"

#include "runtime/process/captured_output.hpp"
#include "runtime/process/subprocess.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/executor/executor.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <system_error>
#include <vector>

namespace stencil_tune {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> split_words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

bool is_executable(const fs::path& file) { return fs::is_regular_file(file) && ::access(file.c_str(), X_OK) == 0; }

bool on_path(const std::string& program) {
  if (program.find('/') != std::string::npos) return is_executable(program);
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (is_executable(fs::path(folder.empty() ? "." : folder) / program)) return true;
  }
  return false;
}

/// CXX may hold a launcher too ("ccache g++"): its words, each an argument of its own.
std::vector<std::string> compiler_command() {
  const char* chosen = std::getenv("CXX");
  for (const std::string& command :
       {std::string(chosen ? chosen : ""), std::string("c++"), std::string("g++"), std::string("clang++")}) {
    auto words = split_words(command);
    if (!words.empty() && on_path(words.front())) return words;
  }
  return {};
}

void write_file(const fs::path& path, std::string_view text) {
  fs::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) throw Error(ErrorCode::file_io, fmt::format("cannot write {}", path.string()));
}

Subprocess start_compiler(const std::vector<std::string>& command, const CapturedOutput& log) {
  try {
    return Subprocess(command, {.output = log.descriptor(), .errors = log.descriptor(), .has_children = true});
  } catch (const std::system_error& error) {
    throw Error(ErrorCode::missing_library,
                fmt::format("cannot start the host compiler {}: {}", command[0], error.code().message()));
  }
}

}  // namespace

std::optional<std::string> find_host_compiler() {
  const auto words = compiler_command();
  if (words.empty()) return std::nullopt;
  return fmt::format("{}", fmt::join(words, " "));
}

fs::path compile_for_host(const std::string& translation_unit, std::span<const TemplateFile> files,
                          const fs::path& folder, const Patience& patience) {
  auto command = compiler_command();
  if (command.empty()) {
    throw Error(ErrorCode::missing_library,
                "running kernels on the host needs a C++ compiler: found none in CXX, nor c++, g++, clang++ on PATH; "
                "install g++ or set CXX");
  }
  for (const TemplateFile& file : files) write_file(folder / file.name, file.text);
  const fs::path source = folder / "kernels.cpp";
  fs::path library = folder / "kernels.so";
  write_file(source, translation_unit);

  // Sanitizer checks that trap need no run-time library: an index beyond a thread's own array, or one that does not fit
  // its type, becomes a fault.
  // Hidden symbols keep libraries apart that instantiate the same templates from different text.
  // Merged constants: else the tables of a system's taps, which NVRTC folds away, are made anew at each read of a cell.
  // Lightly optimised: most kernels take as long to compile as with -O0, and run in half the time.
  for (const char* option :
       {"-std=c++17", "-O1", "-fmerge-all-constants", "-w", "-shared", "-fPIC", "-fvisibility=hidden",
        "-fno-strict-aliasing", "-fsanitize=bounds,shift,integer-divide-by-zero,signed-integer-overflow",
        "-fsanitize-undefined-trap-on-error", "-ftrivial-auto-var-init=pattern"}) {
    command.emplace_back(option);
  }
  command.insert(command.end(), {"-I", folder.string(), "-o", library.string(), source.string()});
  const std::string compiler = command[0];
  // Its own temporary files stay behind when it is killed: they go with the folder.
  command.insert(command.begin(), {"env", "TMPDIR=" + folder.string()});
  const CapturedOutput log;
  const auto status = start_compiler(command, log).wait(patience);
  if (!status)
    throw Error(ErrorCode::timeout, fmt::format("{} was not done in time with a kernel for the host", compiler));
  if (!status->succeeded()) {
    throw Error(ErrorCode::compile_failed,
                fmt::format("{} failed on a kernel for the host:\n{}", compiler, log.text()));
  }
  return library;
}

}  // namespace stencil_tune
