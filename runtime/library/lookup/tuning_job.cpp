#include "runtime/library/lookup/tuning_job.hpp"

#include "runtime/files/scratch_folder.hpp"
#include "runtime/library/definition_writer.hpp"
#include "runtime/process/captured_output.hpp"
#include "runtime/process/subprocess.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string_view>

namespace stencil_tune {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kLastWords = 600;  // bytes worth quoting

constexpr int kCannotStart = 127;

void write_file(const fs::path& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush())
    throw Error(ErrorCode::file_io, fmt::format("cannot write {}: {}", path.string(), std::strerror(errno)));
}

ExitStatus run_and_wait(std::vector<std::string> command, const CapturedOutput& output) {
  const SubprocessOptions options{.output = output.descriptor(), .errors = output.descriptor(), .has_children = true};
  const ExitStatus status = Subprocess(command, options).wait();
  if (status.code != kCannotStart) return status;
  throw Error(
      ErrorCode::file_io,
      fmt::format("cannot start '{}' to tune; install it on the PATH, or set STENCIL_TUNE_PROGRAM to it", command[0]));
}

}  // namespace

std::string tuner_program(const std::string& named) {
  if (!named.empty()) return named;
  const char* variable = std::getenv("STENCIL_TUNE_PROGRAM");
  return variable != nullptr && *variable != '\0' ? variable : "stencil-tune";
}

std::vector<std::string> tuner_arguments(const TunerOptions& options, const TuningJob& job, const Problem& problem,
                                         const fs::path& definition) {
  std::vector<std::string> arguments{"tune",
                                     "--stencil",
                                     definition.string(),
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
                                     options.is_race ? "--race" : "--budget",
                                     fmt::format("{:g}s", options.seconds),
                                     "--device",
                                     job.device};
  if (!options.database.empty()) arguments.insert(arguments.end(), {"--db", options.database.string()});
  if (!is_whole_step(problem)) arguments.insert(arguments.end(), {"--stage", std::to_string(problem.stage)});
  return arguments;
}

void run_tuner(const TunerOptions& options, const TuningJob& job) {
  for (const Problem& problem : job.problems) {
    const ScratchFolder folder;
    const fs::path definition = folder.path() / "stencil.toml";  // what --stencil takes for a file
    write_file(definition, write_definition(problem.stencil));
    std::vector<std::string> command = tuner_arguments(options, job, problem, definition);
    command.insert(command.begin(), options.program);
    const CapturedOutput output;
    const ExitStatus status = run_and_wait(command, output);
    if (status.succeeded()) continue;
    throw Error(ErrorCode::launch_failed,
                fmt::format("'{}' could not tune {} on a grid of {} ({}): {}", options.program, problem.stencil.name,
                            to_string(problem.extents), to_string(status), output.last(kLastWords)));
  }
}

}  // namespace stencil_tune
