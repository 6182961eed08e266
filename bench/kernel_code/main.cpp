// What code does each winner that ships compile to? A line each; two commits are compared by diff. See ../README.md.
#include "db/exchange.hpp"
#include "db/stored_code.hpp"
#include "generator/candidates/constraints.hpp"
#include "generator/definition/corpus.hpp"
#include "problem_name.hpp"
#include "runtime/compile/compiler.hpp"
#include "runtime/compile/machine_code.hpp"
#include "runtime/export/export.hpp"
#include "runtime/library/lookup/pretuned.hpp"
#include "stencil_tune/error.hpp"
#include "stencil_tune/library.hpp"

#include <fmt/format.h>
#include <boost/program_options.hpp>

#include <atomic>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace po = boost::program_options;
using namespace stencil_tune;
using bench::problem_name;

using Definitions = std::map<std::string, Stencil>;  // by stencil_key()

std::string file_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (!file) throw Error(ErrorCode::file_io, "cannot read " + path);
  return text;
}

std::vector<WinnerRecord> read_winners(const std::string& file) {
  return file.empty() ? with_pretuned({}) : parse_winners(file_text(file));
}

Definitions load_definitions(const std::vector<std::string>& files) {
  Definitions definitions;
  for (const std::string& file : files) {
    Stencil stencil = load_stencil(file);
    std::string key = stencil_key(stencil);
    definitions.emplace(std::move(key), std::move(stencil));
  }
  return definitions;
}

Stencil stencil_of(const ProblemKey& key, const Definitions& definitions) {
  const auto defined = definitions.find(key.stencil_key);
  if (defined != definitions.end()) return defined->second;
  if (auto known = known_stencil(key.stencil_name, key.stencil_key)) return *std::move(known);
  throw Error(ErrorCode::unknown_name, "no definition has the stencil key of this winner");
}

Problem problem_of(const ProblemKey& key, const Definitions& definitions) {
  return stencil_tune::problem_of(key, stencil_of(key, definitions));
}

KernelSource source_of(const TrialRecord& trial, const Problem& problem) {
  const Tuning tuning = parse_code(trial.code);
  const Limits limits = limits_of_architecture(trial.platform.architecture);
  if (const auto violation = first_violation({problem, tuning}, limits)) {
    throw Error(ErrorCode::illegal_candidate, fmt::format("{}: {}", violation->constraint, violation->message));
  }
  return generate({problem, tuning});
}

/// The line that says what a winner compiles to.
std::string line_of(const TrialRecord& trial, const std::string& result) {
  return fmt::format("{} {} {}", trial.code, problem_name(trial.problem), result);
}

struct Job {
  const TrialRecord* trial = nullptr;
  std::string result;
  bool failed = false;
};

struct Settings {
  std::string folder;      // for the sources; empty: none
  std::string exports;     // folder for the exported files; empty: none
  bool with_main = false;  // in exported files
  bool resources = false;
  int threads = 2;
  Tables tables = Tables::counted;
};

void run(Job& job, const Definitions& definitions, Compiler& compiler, const Settings& settings) {
  try {
    const Problem problem = problem_of(job.trial->problem, definitions);
    const KernelSource source = source_of(*job.trial, problem);
    const std::string file = fmt::format("{}.{}.cu", problem_name(job.trial->problem), job.trial->code);
    if (!settings.folder.empty()) std::ofstream(std::filesystem::path(settings.folder) / file) << source.text;
    if (!settings.exports.empty()) {
      const ExportOptions options{
          .name = "winner", .architecture = job.trial->platform.architecture, .with_main = settings.with_main};
      std::ofstream(std::filesystem::path(settings.exports) / file)
          << export_kernel(problem, parse_code(job.trial->code), options).source;
    }
    if (settings.with_main) {
      job.result = "exported";
      return;
    }
    const CompiledKernel compiled = compiler.compile(source, job.trial->platform.architecture);
    if (settings.resources) {
      job.result = fmt::format("{} {}", compiled.resources.registers, compiled.resources.spill_bytes);
      return;
    }
    job.result = machine_code(compiled.cubin, settings.tables);
    const bool is_comparable = settings.tables == Tables::counted && job.trial->platform.nvrtc == compiler.version();
    if (is_comparable && job.result != job.trial->machine_code) job.result += " other than timed";
  } catch (const std::exception& error) {
    const std::string text = error.what();
    job.result = "failed: " + text.substr(0, text.find('\n'));
    job.failed = true;
  }
}

void run_all(std::vector<Job>& jobs, const Definitions& definitions, const Settings& settings) {
  std::atomic<std::size_t> next = 0;
  std::vector<std::unique_ptr<Compiler>> compilers;
  for (int i = 0; i < settings.threads; ++i) compilers.push_back(open_nvrtc());
  std::vector<std::jthread> workers;
  for (const auto& each : compilers) {
    workers.emplace_back([&, compiler = each.get()] {
      for (std::size_t i = next++; i < jobs.size(); i = next++) run(jobs[i], definitions, *compiler, settings);
    });
  }
}

int print_codes(const po::variables_map& given) {
  std::vector<std::string> files;
  if (given.count("definition") > 0) files = given["definition"].as<std::vector<std::string>>();
  const Definitions definitions = load_definitions(files);
  const auto winners = read_winners(given["winners"].as<std::string>());
  const Settings settings{.folder = given["sources"].as<std::string>(),
                          .exports = given["exports"].as<std::string>(),
                          .with_main = given.count("with-main") > 0,
                          .resources = given.count("resources") > 0,
                          .threads = given["threads"].as<int>(),
                          .tables = given.count("without-tables") > 0 ? Tables::left_out : Tables::counted};
  for (const std::string& folder : {settings.folder, settings.exports}) {
    if (!folder.empty()) std::filesystem::create_directories(folder);
  }
  std::vector<Job> jobs(winners.size());
  for (std::size_t i = 0; i < winners.size(); ++i) jobs[i].trial = &winners[i].trial;
  run_all(jobs, definitions, settings);
  bool failed = false;
  for (const Job& job : jobs) {
    fmt::print("{}\n", line_of(*job.trial, job.result));
    failed = failed || job.failed;
  }
  return failed ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) try {
  po::options_description options("stencil_tune_bench_kernel_code [options] corpus/*.toml");
  options.add_options()("help", "this text")("winners", po::value<std::string>()->default_value(""),
                                             "a file of `stencil-tune db export`; default: the winners that ship")(
      "sources", po::value<std::string>()->default_value(""), "a folder to write the generated sources to")(
      "exports", po::value<std::string>()->default_value(""), "a folder to write the exported files to")(
      "with-main", "exported files check and time themselves; nothing is compiled")(
      "resources", "registers and spilled bytes (stored and loaded) in place of the hash")(
      "threads", po::value<int>()->default_value(2), "that compile at a time")(
      "without-tables", "leave tables in memory out of the hash");
  po::options_description all;
  all.add(options).add_options()("definition", po::value<std::vector<std::string>>());
  po::positional_options_description words;
  words.add("definition", -1);
  po::variables_map given;
  po::store(po::command_line_parser(argc, argv).options(all).positional(words).run(), given);
  if (given.count("help") > 0) {
    std::cout << options;
    return 0;
  }
  return print_codes(given);
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
