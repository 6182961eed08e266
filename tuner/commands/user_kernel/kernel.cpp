// stencil-tune kernel FILE [--size n=4096]
#include "generator/printable.hpp"
#include "runtime/export/user_kernel/user_kernel_export.hpp"
#include "runtime/files/output_file.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/commands/command.hpp"
#include "tuner/commands/options/database_option.hpp"
#include "tuner/commands/options/session_options.hpp"
#include "tuner/commands/options/target.hpp"
#include "tuner/commands/options/winner_options.hpp"
#include "tuner/commands/program/interrupt.hpp"
#include "tuner/commands/tune/tuning_notes.hpp"
#include "tuner/commands/user_kernel/kernel_options.hpp"
#include "tuner/commands/user_kernel/kernel_run.hpp"
#include "tuner/commands/user_kernel/kernel_views.hpp"
#include "tuner/commands/winner/no_winner.hpp"
#include "tuner/search/strategies/strategies.hpp"
#include "tuner/session/final_table.hpp"
#include "tuner/session/say.hpp"
#include "tuner/terminal/counted.hpp"
#include "tuner/user_kernel/configuration_search.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace stencil_tune {
namespace {

constexpr std::size_t kCompiledWithoutGpu = 12;  // configurations, where nobody says how many

CommandLine kernel_command_line() {
  CommandLine line(
      "stencil-tune kernel FILE [options]",
      "Tunes a CUDA kernel of your own: FILE is its source with a definition in a comment, or a definition (.toml) "
      "beside it.\n"
      "Every configuration is compiled, compared with the reference, and timed; the fastest is remembered. The same "
      "command again goes on where the last one stopped.\n"
      "Without a GPU some configurations are compiled, and the first few run on the CPU: nothing is ranked.\n",
      "  stencil-tune kernel matmul.cu                    with the sizes of the definition\n"
      "  stencil-tune kernel matmul.cu --size n=4096      with another n\n"
      "  stencil-tune kernel matmul.cu --list             the legal configurations\n"
      "  stencil-tune kernel matmul.cu -o winner.cu       the winner as a source of its own\n"
      "  stencil-tune kernel matmul.cu --arch sm_90       compile, without a GPU\n");
  line.positional("file", 1);
  add_size_option(line);
  add_session_options(line);
  line.group("how long and how hard")
      .add_options()("strategy", po::value<std::string>()->value_name("NAME"),
                     "of the search: `stencil-tune replay --help` names them (default portfolio)");
  add_devices_option(line);
  add_prediction_options(line);
  add_database_option(line);
  auto& output = line.group("output");
  output.add_options()("json", "the final table as JSON on standard output")(
      "list", "only the legal configurations, a code each")("explain", po::value<std::string>()->value_name("CODE"),
                                                            "only whether a configuration is legal, and its launch")(
      "output,o", po::value<std::string>()->value_name("FILE.cu"),
      "no tuning: write the winner as a source with its launcher (`export FILE.cu` has options for it)");
  add_progress_option(output.add_options());
  add_quiet_option(output.add_options());
  return line;
}

std::string search_note(const SessionResult& result, std::string_view strategy) {
  std::string note = fmt::format("{} in {:.0f} s by {} ({})", counted(result.trials, "trial"), result.seconds, strategy,
                                 name(result.stopped));
  if (result.known > 0) note += fmt::format(", {} more known from earlier runs", result.known);
  for (const auto& [outcome, count] : result.failures) note += fmt::format(", {} {}", count, name(outcome));
  return note;
}

std::vector<std::string> notes(const KernelSearch& search, const SessionResult& result, const Database& database) {
  std::vector<std::string> lines{search_note(result, search.strategy)};
  if (std::string note = getting_ready_note(result); !note.empty()) lines.push_back(std::move(note));
  if (!result.winner && result.best) {
    lines.push_back(
        fmt::format("the fastest so far is {}, timed alone: the same command goes on to a race", result.best->code));
  }
  for (const std::string& candidate : result.passed_over) lines.push_back("passed over " + candidate);
  lines.push_back(fmt::format("stored in {}", database.path().string()));
  return lines;
}

int tune_on_gpu(const KernelSearch& search, const Target& target, const TuningSettings& settings,
                const po::variables_map& values) {
  Database database = open_database_for(values, Access::write);
  const auto progress = make_progress(values, false);
  const auto strategy = configuration_search(search.kernel, search.legal, search.strategy, settings.seed);
  const TuningOutcome outcome = tune_user_kernel(search.kernel, *strategy, target, settings, database, *progress);
  const auto lines = notes(search, outcome.result, database);
  if (values.count("json") > 0) {
    fmt::print("{}", json_text(kernel_report_json(search, target, outcome, lines)));
  } else {
    fmt::print("\n{}", printable_lines(kernel_report(search, target, outcome, lines, terminal_of(stdout))));
  }
  const int status = InterruptGuard::exit_status(0);
  if (status == 0 && !outcome.result.winner && !outcome.result.best) {
    throw Error(ErrorCode::launch_failed, "no configuration succeeded; `stencil-tune list` has none of this kernel");
  }
  return status;
}

int compile_without_gpu(const KernelSearch& search, const Target& target, const TuningSettings& settings,
                        const po::variables_map& values) {
  if (!is_quiet(values) && !target.note.empty()) say(stderr, target.note + ": nothing can be measured\n");
  const std::size_t most = values.count("max-trials") > 0 ? static_cast<std::size_t>(settings.session.max_trials)
                                                          : std::min(kCompiledWithoutGpu, search.legal.size());
  const auto configurations = compile_kernel(search, target, settings, most);
  const auto compiled = std::count_if(configurations.begin(), configurations.end(),
                                      [](const auto& each) { return each.compiled.outcome == Outcome::ok; });
  fmt::print(
      "{}\n{} of {} compile for {}\n\n{}\nThere is no GPU: nothing was timed, and nothing is ranked or stored.\n",
      printable(describe(search)), compiled, counted(configurations.size(), "configuration"), target.architecture,
      printable_lines(compiled_report(configurations, terminal_of(stdout))));
  if (compiled == 0 && !configurations.empty()) {
    throw Error(ErrorCode::compile_failed, configurations.front().compiled.message);
  }
  return InterruptGuard::exit_status(0);
}

/// As `export FILE.cu` writes it; of this machine's GPU first.
int export_winner(const UserKernel& kernel, const Target& target, const po::variables_map& values) {
  auto database = read_database(values);
  if (!database) throw NoWinner("nothing was tuned yet: there is no database");
  const auto gpu = target.device ? std::optional(target.gpu()) : std::nullopt;
  const WinnerRecord winner = winner_of_kernel(kernel, gpu, requested_objective(values), *database);
  const auto path = values["output"].as<std::string>();
  write_output_file(
      path, export_user_kernel(kernel, parse_configuration(kernel, winner.trial.code),
                               {.name = "launch_" + kernel.name, .provenance = provenance_of(kernel, winner.trial)}));
  fmt::print("{} written: {}, launcher launch_{}\n", printable(path), printable(winner.trial.code), kernel.name);
  return 0;
}

}  // namespace

int run_kernel(const Arguments& arguments) {
  CommandLine line = kernel_command_line();
  const auto values = line.parse(arguments);
  if (!values) return 0;
  if (values->count("file") == 0) {
    throw Error(ErrorCode::invalid_argument, "which kernel? Give its source, such as matmul.cu");
  }
  const UserKernel kernel = kernel_from((*values)["file"].as<std::vector<std::string>>().front(), *values);
  if (values->count("explain") > 0) {
    fmt::print("{}", printable_lines(explain_configuration(kernel, (*values)["explain"].as<std::string>())));
    return 0;
  }
  const std::string strategy = values->count("strategy") > 0 ? (*values)["strategy"].as<std::string>()
                                                             : std::string(table_strategies().front().name);
  table_strategy(strategy);
  const KernelSearch search{kernel, legal_configurations(kernel), strategy};
  for (const KernelArgument& argument : kernel.arguments) {
    if (argument.is_array) cells_of(kernel, argument);
  }
  if (values->count("list") > 0) {
    for (const ParameterValues& each : search.legal) fmt::print("{}\n", configuration_code(kernel, each));
    return 0;
  }
  const Target target = choose_target(*values);
  if (values->count("output") > 0) return export_winner(kernel, target, *values);
  const TuningSettings settings = tuning_settings(*values, target.predicted());
  const InterruptGuard interrupts;
  return target.predicted() ? compile_without_gpu(search, target, settings, *values)
                            : tune_on_gpu(search, target, settings, *values);
}

}  // namespace stencil_tune
