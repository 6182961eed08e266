#include "tuner/commands/user_kernel/kernel_verbs.hpp"

#include "db/trial_store.hpp"
#include "generator/printable.hpp"
#include "runtime/export/export.hpp"
#include "runtime/export/user_kernel/user_kernel_export.hpp"
#include "runtime/files/output_file.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/commands/options/database_option.hpp"
#include "tuner/commands/options/winner_options.hpp"
#include "tuner/commands/user_kernel/kernel_options.hpp"
#include "tuner/commands/user_kernel/kernel_views.hpp"
#include "tuner/commands/winner/no_winner.hpp"
#include "tuner/report/report_page.hpp"
#include "tuner/terminal/counted.hpp"
#include "tuner/user_kernel/user_kernel_subject.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <optional>

namespace stencil_tune {
namespace {

std::string first_of(const po::variables_map& values, const char* positional) {
  return values[positional].as<std::vector<std::string>>().front();
}

Database tuned_database(const po::variables_map& values) {
  auto database = read_database(values);
  if (!database) throw NoWinner("nothing was tuned yet: there is no database");
  return std::move(*database);
}

/// The winner that --gpu and --objective ask for.
WinnerRecord winner_from(const UserKernel& kernel, const po::variables_map& values, Database& database) {
  return winner_of_kernel(kernel, requested_gpu(values), requested_objective(values), database);
}

/// To the file of -o, else to standard output; then nothing more is to be said.
bool write_text(const po::variables_map& values, const std::string& text) {
  if (values.count("output") > 0) {
    write_output_file(values["output"].as<std::string>(), text);
    return true;
  }
  fmt::print("{}", text);
  return false;
}

struct Chosen {
  ParameterValues values;
  std::vector<std::string> provenance;
};

Chosen choose(const UserKernel& kernel, const po::variables_map& values) {
  if (values.count("code") > 0) {
    const auto code = values["code"].as<std::string>();
    Chosen chosen{parse_configuration(kernel, code), {code + " of " + kernel.name + ", chosen by hand: not measured"}};
    if (const auto broken = broken_rule(kernel, chosen.values)) {
      throw Error(ErrorCode::illegal_candidate, fmt::format("{} breaks '{}': {}", code, broken->rule, broken->message));
    }
    return chosen;
  }
  Database database = tuned_database(values);
  const WinnerRecord winner = winner_from(kernel, values, database);
  return {parse_configuration(kernel, winner.trial.code), provenance_of(kernel, winner.trial)};
}

}  // namespace

bool begins_with_kernel(const Arguments& arguments) {
  return !arguments.empty() && !arguments.front().starts_with('-') &&
         (arguments.front().ends_with(".cu") || arguments.front().ends_with(".toml"));
}

int explain_user_kernel(const Arguments& arguments) {
  CommandLine line("stencil-tune explain FILE.cu CODE [--size n=4096]",
                   "Why a configuration of a kernel of your own is legal, or which rule forbids it, and its launch.\n",
                   "  stencil-tune explain matmul.cu TILE=16,RX=4 --size n=512\n");
  line.positional("what", 2);
  add_size_option(line);
  const auto values = line.parse(arguments);
  if (!values) return 0;
  const auto& what = (*values)["what"].as<std::vector<std::string>>();
  if (what.size() < 2) {
    throw Error(ErrorCode::invalid_argument, "which configuration? `stencil-tune kernel FILE.cu --list` has them all");
  }
  fmt::print("{}", printable_lines(explain_configuration(kernel_from(what[0], *values), what[1])));
  return 0;
}

int export_user_kernel(const Arguments& arguments) {
  CommandLine line(
      "stencil-tune export FILE.cu [--size n=4096] -o WINNER.cu",
      "Writes the winner of a kernel of your own as a plain CUDA source file: its parameters as constants, "
      "its launcher, where it comes from.\n",
      "  stencil-tune export matmul.cu -o winner.cu\n"
      "  stencil-tune export matmul.cu -o winner.cu --with-main     with a check against its reference\n");
  line.positional("file", 1);
  add_size_option(line);
  auto& which = line.group("which");
  add_winner_options(which.add_options());
  which.add_options()("code", po::value<std::string>()->value_name("CODE"), "this configuration instead of the winner");
  line.group("output").add_options()("output,o", po::value<std::string>()->value_name("WINNER.cu"),
                                     "where to (default: standard output)")(
      "name", po::value<std::string>()->value_name("NAME"), "of the launcher (default: launch_ and the kernel's)")(
      "with-main", "adds a check against the reference, and a benchmark");
  add_database_option(line);
  const auto values = line.parse(arguments);
  if (!values) return 0;
  const UserKernel kernel = kernel_from(first_of(*values, "file"), *values);
  Chosen chosen = choose(kernel, *values);
  const UserKernelExportOptions options{
      .name = values->count("name") > 0 ? (*values)["name"].as<std::string>() : "launch_" + kernel.name,
      .provenance = std::move(chosen.provenance),
      .with_main = values->count("with-main") > 0};
  if (write_text(*values, export_user_kernel(kernel, chosen.values, options))) {
    fmt::print("{} written: launcher {}\n{}\n", printable((*values)["output"].as<std::string>()), options.name,
               printable(options.provenance.front()));
  }
  return 0;
}

int report_user_kernel(const Arguments& arguments) {
  CommandLine line("stencil-tune report FILE.cu [--size n=4096] -o REPORT.html",
                   "One page about the winner of a kernel of your own: how it was found, what limits it, its source.\n",
                   "  stencil-tune report matmul.cu --size n=4096 -o report.html\n");
  line.positional("file", 1);
  add_size_option(line);
  add_winner_options(line.group("which").add_options());
  line.group("output").add_options()("output,o", po::value<std::string>()->value_name("REPORT.html"),
                                     "where to (default: standard output)");
  add_database_option(line);
  const auto values = line.parse(arguments);
  if (!values) return 0;
  const UserKernel kernel = kernel_from(first_of(*values, "file"), *values);
  Database database = tuned_database(*values);
  const WinnerRecord winner = winner_from(kernel, *values, database);
  TrialQuery query;
  query.problem = winner.trial.problem;
  query.gpu = winner.trial.platform.gpu;
  const auto trials = TrialStore(database).find(query);
  const std::string page = report_page(collect_report(kernel, winner, trials, first_of(*values, "file")));
  if (write_text(*values, page)) {
    fmt::print("{} written: {}, {}\n", printable((*values)["output"].as<std::string>()),
               counted(trials.size(), "trial"), winner.trial.code);
  }
  return 0;
}

}  // namespace stencil_tune
