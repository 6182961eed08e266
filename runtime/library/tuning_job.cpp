#include "runtime/library/tuning_job.hpp"

#include "runtime/library/definition_writer.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace stencil_tune {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kLastWords = 600;  // bytes worth quoting

/// A file of its own in the folder for temporary files, removed with this object.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& suffix)
      : path_((fs::temp_directory_path() / "stencil-tune-XXXXXX").string() + suffix),
        file_(::mkostemps(path_.data(), static_cast<int>(suffix.size()), O_CLOEXEC)) {
    if (file_ < 0) {
      throw Error(ErrorCode::file_io, fmt::format("cannot make the file {}: {}", path_, std::strerror(errno)));
    }
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    ::close(file_);
    ::unlink(path_.c_str());
  }

  const std::string& path() const noexcept { return path_; }

  void write(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t put = ::write(file_, text.data(), text.size());
      if (put < 0 && errno == EINTR) continue;
      if (put <= 0) throw Error(ErrorCode::file_io, fmt::format("cannot write {}: {}", path_, std::strerror(errno)));
      text.remove_prefix(static_cast<std::size_t>(put));
    }
  }

  std::string end() const {
    const off_t size = ::lseek(file_, 0, SEEK_END);
    std::string text(std::min(static_cast<std::size_t>(std::max<off_t>(size, 0)), kLastWords), '\0');
    const ssize_t got = ::pread(file_, text.data(), text.size(), size - static_cast<off_t>(text.size()));
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return text;
  }

 private:
  std::string path_;
  int file_;
};

[[noreturn]] void refuse_program(const std::string& program, const char* why) {
  throw Error(ErrorCode::file_io, fmt::format("cannot start '{}' to tune on a miss: {}; install it on the PATH, or set "
                                              "STENCIL_TUNE_PROGRAM to it",
                                              program, why));
}

/// Runs a program with its output in a file; its exit status, negative when a signal ended it.
int run_program(const std::string& program, const std::vector<std::string>& arguments, const std::string& output) {
  std::vector<char*> pointers{const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), O_WRONLY | O_APPEND, 0);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = -1;
  const int failed = posix_spawnp(&child, program.c_str(), &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) refuse_program(program, std::strerror(failed));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) {
      throw Error(ErrorCode::internal, fmt::format("cannot wait for '{}': {}", program, std::strerror(errno)));
    }
  }
  // What a child ends with that could not become the program, where that is not known any sooner.
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127) refuse_program(program, "it could not be run");
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace

std::string tuner_program() {
  const char* named = std::getenv("STENCIL_TUNE_PROGRAM");
  return named != nullptr && *named != '\0' ? named : "stencil-tune";
}

std::vector<std::string> tuner_arguments(const TunerOptions& options, const TuningJob& job, const Problem& problem,
                                         const fs::path& definition) {
  return {"tune",
          "--stencil",
          definition.string(),
          "--stage",
          std::to_string(problem.stage),
          "--dims",
          to_string(problem.extents),
          "--pitch",
          std::to_string(problem.pitch),
          "--type",
          std::string(name(problem.type)),
          "--boundary",
          to_string(problem.boundaries, problem.extents.rank),
          "--steps",
          std::to_string(problem.steps),
          "--budget",
          fmt::format("{:g}s", options.seconds),
          "--device",
          job.device,
          "--db",
          options.database.string()};
}

void run_tuner(const TunerOptions& options, const TuningJob& job) {
  for (const Problem& problem : job.problems) {
    const TemporaryFile definition(".toml");  // what --stencil takes for a file
    definition.write(write_definition(problem.stencil));
    const TemporaryFile output(".log");
    const int status =
        run_program(options.program, tuner_arguments(options, job, problem, definition.path()), output.path());
    if (status == 0) continue;
    throw Error(ErrorCode::launch_failed,
                fmt::format("'{}' could not tune {} on a grid of {} (status {}): {}", options.program,
                            problem.stencil.name, to_string(problem.extents), status, output.end()));
  }
}

}  // namespace stencil_tune
