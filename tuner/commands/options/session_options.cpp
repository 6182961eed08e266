#include "tuner/commands/options/session_options.hpp"

#include "generator/candidates/textbook/textbook.hpp"
#include "generator/duration.hpp"
#include "generator/suggest.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/commands/options/winner_options.hpp"
#include "tuner/commands/program/interrupt.hpp"
#include "tuner/session/json_progress.hpp"
#include "tuner/session/progress.hpp"

#include <fmt/format.h>

#include <limits>
#include <string_view>

namespace stencil_tune {
namespace {

constexpr double kQuickS = 15;
constexpr double kStandardS = 60;
constexpr double kPredictionS = 30;  // two cores compile some 200 candidates in that time
constexpr int kQuickPredictions = 40;
constexpr int kPredictions = 120;

/// What the effort stands for where nothing more exact was said.
void apply_effort(const std::string& effort, TuningSettings& settings) {
  SessionOptions& session = settings.session;
  if (effort == "quick") {
    session.budget_s = kQuickS;
    if (session.predicted) session.max_trials = kQuickPredictions;
  } else if (effort == "standard") {
    session.budget_s = session.predicted ? kPredictionS : kStandardS;
    if (session.predicted) session.max_trials = kPredictions;
  } else if (effort == "exhaustive") {
    session.budget_s = std::numeric_limits<double>::infinity();
    settings.is_exhaustive = true;
  } else {
    throw Error(ErrorCode::unknown_name, fmt::format("unknown effort '{}'{}: quick, standard or exhaustive", effort,
                                                     did_you_mean(effort, {"quick", "standard", "exhaustive"})));
  }
}

int at_least_1(const po::variables_map& values, const std::string& option) {
  const int value = values[option].as<int>();
  if (value < 1) throw Error(ErrorCode::invalid_argument, fmt::format("--{} {}: must be at least 1", option, value));
  return value;
}

std::uint64_t seed_from(std::int64_t value) {
  if (value < 0) throw Error(ErrorCode::invalid_argument, fmt::format("--seed {}: must be 0 or more", value));
  return static_cast<std::uint64_t>(value);
}

void set_race(const po::variables_map& values, SessionOptions& session) {
  for (const char* other : {"budget", "effort", "objective"}) {
    if (values.count(other) == 0) continue;
    throw Error(ErrorCode::invalid_argument,
                fmt::format("--race and --{} exclude each other: a race has its own", other));
  }
  session.most_s = session.budget_s = parse_duration(values["race"].as<std::string>());
  session.objective = Objective::burst;
  session.finalists = 3;  // a tenth of a second each
  session.race_against.emplace();
}

/// Throws where one is neither a code nor a name of the textbook.
std::vector<std::string> parse_candidates(std::string_view text) {
  std::vector<std::string> candidates = split_list(text);
  for (const std::string& each : candidates) {
    if (!is_baseline(each)) parse_code(each);
  }
  return candidates;
}

}  // namespace

constexpr const char* kHowLong = "how long and how hard";

void add_session_options(CommandLine& line) {
  line.group(kHowLong).add_options()("budget", po::value<std::string>()->value_name("TIME"),
                                     "stop after this time, such as 60s, 5m, 1h30m (default 60s; 30s where it "
                                     "predicts)")(
      "effort", po::value<std::string>()->value_name("quick|standard|exhaustive"),
      "quick: 15 s; standard: 60 s; exhaustive: every legal candidate, no time limit")(
      "objective", po::value<std::string>()->value_name("time|burst|energy"),
      "what wins. time (default): the rate, of runs under continuous load; burst: the rate after a rest; energy: the "
      "least energy an update")(
      "max-trials", po::value<int>()->value_name("N"),
      "search with this many new trials at most, from 1 on; a run adds those of the steps that its finalists leave "
      "over, one for each of the six at most")("seed", po::value<std::int64_t>()->value_name("N"),
                                               "of the search and the input data, from 0 on (default 1)")(
      "jobs,j", po::value<int>()->value_name("N"), "compilers at once (default: one per core it may use)");
}

void add_tuning_options(CommandLine& line) {
  add_session_options(line);
  line.group(kHowLong).add_options()("candidates", po::value<std::string>()->value_name("CODE[,CODE...]"),
                                     "no search: these and the textbook's kernels, which may be named: pmpp-tiled");
}

void add_race_option(CommandLine& line) {
  line.group(kHowLong).add_options()("race", po::value<std::string>()->value_name("TIME"),
                                     "in place of a budget: for this time, such as 2s, the GPU times what would run "
                                     "untuned and the few that come nearest, in bursts");
}

void add_quiet_option(po::options_description_easy_init output) {
  output("quiet,q", "no progress and no remarks on standard error");
}

void add_progress_option(po::options_description_easy_init output) {
  output("progress", po::value<std::string>()->value_name("text|json"),
         "json: for programs, an object a line on standard error and nothing else there");
}

bool has_json_progress(const po::variables_map& values) {
  if (values.count("progress") == 0) return false;
  const auto& form = values["progress"].as<std::string>();
  if (form == "json" || form == "text") return form == "json";
  throw Error(ErrorCode::unknown_name,
              fmt::format("unknown progress '{}'{}: text or json", form, did_you_mean(form, {"text", "json"})));
}

bool is_quiet(const po::variables_map& values) { return values.count("quiet") > 0 || has_json_progress(values); }

std::unique_ptr<SessionObserver> make_progress(const po::variables_map& values, bool predicted,
                                               const std::string& gpu) {
  if (has_json_progress(values)) return std::make_unique<JsonProgress>(stderr, predicted, gpu);
  if (is_quiet(values)) return std::make_unique<SilentProgress>();
  return std::make_unique<ConsoleProgress>(stderr, predicted, gpu);
}

TuningSettings tuning_settings(const po::variables_map& values, bool predicted) {
  TuningSettings settings;
  settings.session.predicted = predicted;
  settings.stop = &InterruptGuard::requested();
  apply_effort(values.count("effort") > 0 ? values["effort"].as<std::string>() : "standard", settings);
  settings.session.objective = requested_objective(values);
  if (values.count("budget") > 0) settings.session.budget_s = parse_duration(values["budget"].as<std::string>());
  if (values.count("race") > 0) set_race(values, settings.session);
  if (values.count("max-trials") > 0) settings.session.max_trials = at_least_1(values, "max-trials");
  if (values.count("jobs") > 0) settings.jobs = at_least_1(values, "jobs");
  if (values.count("candidates") > 0 && settings.is_exhaustive) {
    throw Error(ErrorCode::invalid_argument,
                "--candidates and --effort exhaustive exclude each other: these alone, or every legal candidate");
  }
  if (values.count("candidates") > 0) settings.candidates = parse_candidates(values["candidates"].as<std::string>());
  if (values.count("seed") > 0) settings.seed = seed_from(values["seed"].as<std::int64_t>());
  return settings;
}

}  // namespace stencil_tune
