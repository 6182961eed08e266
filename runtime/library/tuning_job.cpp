#include "runtime/library/tuning_job.hpp"

#include "runtime/library/definition_writer.hpp"
#include "runtime/process/captured_output.hpp"
#include "runtime/process/subprocess.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace stencil_tune {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kLastWords = 600;  // bytes worth quoting

/// A file of its own in the folder for temporary files, removed with this object.
class TemporaryFile {
 public:
  TemporaryFile(const std::string& suffix, std::string_view text)
      : path_((fs::temp_directory_path() / "stencil-tune-XXXXXX").string() + suffix),
        file_(::mkostemps(path_.data(), static_cast<int>(suffix.size()), O_CLOEXEC)) {
    if (file_.get() < 0) {
      throw Error(ErrorCode::file_io, fmt::format("cannot make the file {}: {}", path_, std::strerror(errno)));
    }
    write(text);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { ::unlink(path_.c_str()); }

  const std::string& path() const noexcept { return path_; }

 private:
  void write(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t put = ::write(file_.get(), text.data(), text.size());
      if (put < 0 && errno == EINTR) continue;
      if (put <= 0) throw Error(ErrorCode::file_io, fmt::format("cannot write {}: {}", path_, std::strerror(errno)));
      text.remove_prefix(static_cast<std::size_t>(put));
    }
  }

  std::string path_;
  Descriptor file_;
};

Subprocess start_tuner(const std::string& program, std::vector<std::string> arguments, const CapturedOutput& output) {
  arguments.insert(arguments.begin(), program);
  try {
    return Subprocess(arguments, {.output = output.descriptor(), .errors = output.descriptor()});
  } catch (const std::system_error& error) {
    throw Error(ErrorCode::file_io,
                fmt::format("cannot start '{}' to tune on a miss: {}; install it on the PATH, or set "
                            "STENCIL_TUNE_PROGRAM to it",
                            program, error.code().message()));
  }
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
    const TemporaryFile definition(".toml", write_definition(problem.stencil));  // what --stencil takes for a file
    const CapturedOutput output;
    const ExitStatus status =
        start_tuner(options.program, tuner_arguments(options, job, problem, definition.path()), output).wait();
    if (status.succeeded()) continue;
    throw Error(ErrorCode::launch_failed,
                fmt::format("'{}' could not tune {} on a grid of {} ({}): {}", options.program, problem.stencil.name,
                            to_string(problem.extents), to_string(status), output.last(kLastWords)));
  }
}

}  // namespace stencil_tune
