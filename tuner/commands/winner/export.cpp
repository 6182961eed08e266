// stencil-tune export --dims 512 -o heat.cu
#include "runtime/export/export.hpp"

#include "db/stored_code.hpp"
#include "generator/candidates/constraints.hpp"
#include "generator/printable.hpp"
#include "runtime/files/output_file.hpp"
#include "runtime/library/lookup/pretuned.hpp"
#include "stencil_tune/error.hpp"
#include "stencil_tune/library.hpp"
#include "tuner/commands/command.hpp"
#include "tuner/commands/options/database_option.hpp"
#include "tuner/commands/options/problem_options.hpp"
#include "tuner/commands/options/understood.hpp"
#include "tuner/commands/options/winner_options.hpp"
#include "tuner/commands/user_kernel/kernel_verbs.hpp"
#include "tuner/commands/winner/no_winner.hpp"
#include "tuner/commands/winner/winner_by_id.hpp"
#include "tuner/commands/winner/winner_lookup.hpp"
#include "tuner/session/assembly.hpp"
#include "tuner/session/final_table.hpp"
#include "tuner/session/say.hpp"
#include "tuner/terminal/counted.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

namespace stencil_tune {
namespace {

constexpr const char* kExamples =
    "  stencil-tune export --dims 512 -o heat.cu               the winner as one file\n"
    "  stencil-tune export --dims 512 -o heat.cu --with-main   with a self-check and a benchmark\n"
    "  stencil-tune export --dims 512 -o heat.cu --header      and heat.h that declares the launcher\n"
    "  stencil-tune export s17 -o blur.cu                      an id of `stencil-tune list --shipped`\n"
    "  stencil-tune export 17 --stencil mine.toml -o mine.cu   one of a definition file\n";

CommandLine export_command_line() {
  CommandLine line(
      "stencil-tune export ID | --dims N [options] -o FILE.cu",
      "Writes the winner as a plain CUDA source file: kernel, launcher, where it comes from. It builds with "
      "nvcc alone and owes this project nothing.\n",
      kExamples);
  line.positional("id", 1);
  add_problem_options(line);
  auto& which = line.group("which");
  add_winner_options(which.add_options());
  which.add_options()("code", po::value<std::string>()->value_name("CODE"),
                      "this candidate instead of the winner, or a kernel of the textbook: pmpp-tiled")(
      "arch", po::value<std::string>()->value_name("sm_NN"), "with --code: the architecture (default sm_90)");
  line.group("output").add_options()("output,o", po::value<std::string>()->value_name("FILE.cu"),
                                     "where to (default: standard output)")(
      "name", po::value<std::string>()->value_name("NAME"), "of the launcher (default: the file's name)")(
      "with-main", "adds a self-check against a plain CPU loop, and a benchmark")(
      "header", "declares the launcher in a header beside the file");
  add_database_option(line);
  return line;
}

std::vector<std::string> provenance(const WinnerRecord& winner) {
  const TrialRecord& trial = winner.trial;
  std::vector<std::string> lines;
  if (trial.predicted) {
    lines.push_back(fmt::format("~{:.1f} GStencil/s, ~{:.1f} % of the copy ceiling, predicted for {}: never measured",
                                trial.rate, 100 * trial.share, trial.platform.gpu));
  } else {
    lines.push_back(fmt::format("{:.1f} GStencil/s, {:.1f} % of the copy ceiling, on {} (driver {})", trial.rate,
                                100 * trial.share, trial.platform.gpu, trial.platform.driver));
  }
  const bool yours = origin_of(trial) == "yours";
  if (!yours) lines.front() += fmt::format("; {}", origin_text(trial));
  if (yours && !trial.predicted) lines.front() += "; tuned by its user";
  lines.push_back(fmt::format("best of {}, {}", counted(winner.trials_seen, "trial"), trial.created_at));
  return lines;
}

/// What was written, and what is said of it.
struct Exported {
  ExportedFiles files;
  std::string code, architecture, origin;
};

/// A winner, or a candidate that was named.
Exported exported_candidate(const Problem& problem, const Tuning& tuning, ExportOptions options) {
  const auto single_steps = single_steps_of(problem, tuning, options.architecture);
  return {export_kernel(problem, tuning, options, single_steps), code(tuning), options.architecture,
          options.provenance.front()};
}

Exported exported_winner(const Problem& problem, const WinnerRecord& winner, ExportOptions options) {
  if (is_stale(winner.trial)) {
    say(stderr,
        fmt::format("{} is stale, its template has changed since: tune again to be sure of its rate\n",
                    origin_of(winner.trial) == "yours" ? "this winner"
                                                       : fmt::format("this winner, {},", origin_text(winner.trial))));
  }
  options.architecture = winner.trial.platform.architecture;
  options.provenance = provenance(winner);
  return exported_candidate(problem, parse_code(winner.trial.code), std::move(options));
}

/// The library's kernel; nothing for a GPU that nobody has heard of.
std::optional<Kernel> looked_up(Library library, const Request& request) {
  try {
    return library.lookup(request);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unknown_name) throw;
    return std::nullopt;
  }
}

/// What the library would run for a problem that nobody tuned; nothing where no winner serves it.
std::optional<Exported> exported_lookup(const po::variables_map& values, const Problem& problem, const std::string& gpu,
                                        ExportOptions options) {
  const Request request{.stencil = problem.stencil,
                        .type = problem.type,
                        .extents = problem.extents,
                        .boundaries = problem.boundaries,
                        .pitch = problem.pitch,
                        .steps = problem.steps,
                        .objective = requested_objective(values),
                        .gpu = gpu};
  const auto kernel = looked_up(Library({.database = values["db"].as<std::string>()}), request);
  if (!kernel) return std::nullopt;
  const int stage = is_whole_step(problem) ? kWholeStep : problem.stage;
  const Evidence& evidence = stage == kWholeStep ? kernel->run_evidence() : kernel->evidence(stage);
  if (evidence.match == Match::default_candidate) return std::nullopt;
  options.architecture = kernel->architecture();
  options.provenance = {fmt::format(
      "never measured for this problem: {} for {} on {}, {}{:.1f} GStencil/s there (match: {})",
      evidence.match == Match::predicted ? "predicted" : "tuned", to_string(evidence.tuned_extents), evidence.gpu,
      evidence.match == Match::predicted ? "~" : "", evidence.gstencils, name(evidence.match))};
  return Exported{kernel->export_cuda(options, stage), evidence.code, options.architecture, options.provenance.front()};
}

Exported exported_choice(const po::variables_map& values, const Problem& problem, ExportOptions options) {
  if (values.count("code") > 0) {
    if (values.count("gpu") > 0) {
      throw Error(ErrorCode::invalid_argument,
                  "--code and --gpu exclude each other: --gpu chooses among winners, --code names a candidate");
    }
    const std::string arch = values.count("arch") > 0 ? values["arch"].as<std::string>() : "sm_90";
    const Tuning tuning = candidate_from(values["code"].as<std::string>(), problem, limits_of_architecture(arch));
    options.architecture = arch;
    options.provenance = {"chosen by hand: not measured"};
    return exported_candidate(problem, tuning, std::move(options));
  }
  if (values.count("arch") > 0) {
    throw Error(ErrorCode::invalid_argument,
                "--arch goes with --code; a winner has its architecture: --gpu chooses among those of several GPUs");
  }
  const auto gpu = requested_gpu(values);
  auto database = read_database(values);
  try {
    const Objective objective = requested_objective(values);
    return exported_winner(problem, winner_of_problem(database ? &*database : nullptr, problem, gpu, objective),
                           options);
  } catch (const NoWinner& none) {
    auto found = exported_lookup(values, problem, gpu.value_or(gpu_meant()), options);
    if (!found) throw;
    const std::string_view why = none.what();
    if (const auto passed_over = why.find("\npassed over"); passed_over != std::string_view::npos) {
      say(stderr, fmt::format("{}\n", why.substr(passed_over + 1)));
    }
    return *std::move(found);
  }
}

/// "17" or "s17", as `show` takes them.
WinnerRecord winner_of_id(const po::variables_map& values, const std::string& id) {
  reject_more_than_id(values, "export", true);
  for (const char* option : {"code", "arch"}) {
    if (values.count(option) == 0) continue;
    throw Error(ErrorCode::invalid_argument,
                fmt::format("export {} --{}: an id names a winner, which has its own", id, option));
  }
  auto database = needs_database(id) ? read_database(values) : std::nullopt;
  WinnerRecord winner = winner_by_id(database ? &*database : nullptr, id);
  if (const auto objection = objection_to(winner.trial)) {
    throw Error(ErrorCode::illegal_candidate,
                fmt::format("winner {} cannot run any more, tune again: {}", id, *objection));
  }
  return winner;
}

}  // namespace

int run_export(const Arguments& arguments) {
  if (begins_with_kernel(arguments)) return export_user_kernel(arguments);
  CommandLine line = export_command_line();
  const auto values = line.parse(arguments);
  if (!values) return 0;
  const bool by_id = values->count("id") > 0;
  const std::string id = by_id ? (*values)["id"].as<std::vector<std::string>>().front() : "";
  const auto named = by_id ? std::optional(winner_of_id(*values, id)) : std::nullopt;
  const Problem problem = named ? problem_of_winner(named->trial.problem, id, *values) : problem_from(*values);
  say_what_was_understood(*values, problem.stencil);
  const bool to_file = values->count("output") > 0;
  const std::filesystem::path path = to_file ? (*values)["output"].as<std::string>() : "";

  ExportOptions options;
  options.split_header = values->count("header") > 0;
  options.with_main = values->count("with-main") > 0;
  if (options.split_header && !to_file) {
    throw Error(ErrorCode::invalid_argument, "--header writes two files: say where with -o FILE.cu");
  }
  if (values->count("name") > 0) {
    options.name = (*values)["name"].as<std::string>();
  } else {
    options.name = export_name(to_file ? path.stem().string() : problem.stencil.name);
  }
  if (options.split_header && path.stem().string() != options.name) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the source includes {}.h: with --header name the file {}.cu, or choose another --name",
                            options.name, options.name));
  }
  const Exported written =
      named ? exported_winner(problem, *named, options) : exported_choice(*values, problem, options);
  if (!to_file) {
    fmt::print("{}", written.files.source);
    return 0;
  }
  write_output_file(path, written.files.source);
  if (options.split_header)
    write_output_file(std::filesystem::path(path).replace_extension(".h"), written.files.header);
  const bool advances = written.files.source.find(" " + options.name + "_advance(") != std::string::npos;
  fmt::print("{} written: launcher {}{}\n{}\n{} on {}, {}\n", printable(path.string()), options.name,
             advances ? "_advance" : "", describe(problem), written.code, printable(written.architecture),
             printable(written.origin));
  return 0;
}

}  // namespace stencil_tune
