#include "runtime/library/library_parts.hpp"

#include "db/location.hpp"
#include "db/winner_store.hpp"
#include "generator/duration.hpp"
#include "runtime/compile/caching_compiler.hpp"
#include "runtime/library/lookup/pretuned.hpp"
#include "runtime/library/lookup/site_winners.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <utility>

namespace stencil_tune {

namespace {

/// Three layers: what was tuned here, what the site shares, what ships with the library. Where there need be no
/// database and is none, nothing was tuned.
class Winners {
 public:
  Winners(std::string option, bool may_be_missing, std::filesystem::path site)
      : option_(std::move(option)), may_be_missing_(may_be_missing), site_option_(std::move(site)) {
    open();
  }

  void open() {
    const DatabaseLocation location = locate_database(option_);
    const bool optional = option_.empty() || may_be_missing_;  // one that the environment names may be made later
    const bool missing = optional && is_missing(location);
    path_ = location.path;
    database_.reset();
    note_ = missing ? fmt::format("nothing was tuned here yet: there is no {}", location.path.string()) : "";
    if (!missing) database_ = std::make_unique<Database>(open_database(option_, {.access = Access::read}));
    site_ = open_site_database(site_option_);
    all_.reset();
  }

  std::vector<WinnerRecord> find(const Problem& problem, const std::string& architecture) {
    const WinnerQuery query = query_for(problem, architecture);
    return winners_of_all_layers(database_.get(), query, site());
  }

  /// All stencils' winners; they are read once, which takes milliseconds.
  std::span<const WinnerRecord> all() {
    const WinnerQuery query{.kind = SubjectKind::stencil, .predicted = false, .count_trials = false};
    if (!all_) all_ = winners_of_all_layers(database_.get(), query, site());
    return *all_;
  }

  std::vector<WinnerRecord> find_kernels(const std::string& name) {
    const WinnerQuery query{.kind = SubjectKind::kernel, .predicted = false, .count_trials = false};
    auto own = database_ ? WinnerStore(*database_).list(query) : std::vector<WinnerRecord>();
    auto winners = layered(std::move(own), site_winners(site(), query));
    std::erase_if(winners, [&](const WinnerRecord& winner) { return winner.trial.problem.stencil_name != name; });
    return winners;
  }

  std::optional<std::string> architecture_of(const std::string& gpu) {
    for (Database* database : {database_.get(), site()}) {
      if (database == nullptr) continue;
      const auto known = WinnerStore(*database).list({.gpu = gpu, .count_trials = false});
      if (!known.empty()) return known.front().trial.platform.architecture;
    }
    return std::nullopt;
  }

  /// Empty for the one that a program takes by itself, and makes a folder for.
  std::filesystem::path named() const { return option_.empty() ? std::filesystem::path() : path_; }
  const std::string& note() const { return note_; }

 private:
  Database* site() { return site_ ? &*site_ : nullptr; }

  static WinnerQuery query_for(const Problem& problem, const std::string& architecture) {
    Boundaries boundaries{Boundary::hold, Boundary::hold, Boundary::hold};
    std::copy_n(problem.boundaries.begin(), problem.extents.rank, boundaries.begin());
    return {.form = stencil_form(problem.stencil, problem.stage),
            .stage = problem.stage,
            .type = problem.type,
            .boundaries = boundaries,
            .architecture = architecture,
            .count_trials = false};
  }

  std::string option_;
  bool may_be_missing_;
  std::filesystem::path path_;
  std::unique_ptr<Database> database_;
  std::filesystem::path site_option_;
  std::optional<Database> site_;
  std::string note_;
  std::optional<std::vector<WinnerRecord>> all_;
};

/// Tunes by the installed program into the database.
std::function<bool(const TuningJob&)> tune_into(const std::shared_ptr<Winners>& winners,
                                                const LibraryOptions& options) {
  const double seconds = options.tune_on_miss_s;
  if (!(seconds >= 0)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("LibraryOptions::tune_on_miss_s is {}: give seconds, or 0 to never tune", seconds));
  }
  if (seconds == 0) return {};
  return [winners, seconds, program = options.program](const TuningJob& job) {
    run_tuner({.program = tuner_program(program), .seconds = seconds, .database = winners->named()}, job);
    return true;
  };
}

double race_by_environment() {
  const char* seconds = std::getenv("STENCIL_TUNE_RACE");
  return seconds != nullptr && *seconds != '\0' ? parse_duration(seconds) : 0;
}

}  // namespace

LibraryParts open_parts(const LibraryOptions& options) {
  auto winners =
      std::make_shared<Winners>(options.database.string(), options.tune_on_miss_s > 0, options.site_database);
  LibraryParts parts;
  parts.driver = []() -> Driver& { return cuda_driver(); };
  parts.compiler = [] { return std::shared_ptr<Compiler>(open_cached_nvrtc()); };
  parts.winners = [winners](const Problem& problem, const std::string& architecture) {
    return winners->find(problem, architecture);
  };
  parts.all_winners = [winners] { return winners->all(); };
  parts.kernel_winners = [winners](const std::string& name) { return winners->find_kernels(name); };
  parts.architecture_of = [winners](const std::string& gpu) { return winners->architecture_of(gpu); };
  parts.reload = [winners] { winners->open(); };
  parts.note = [winners] { return winners->note(); };
  parts.tune = tune_into(winners, options);
  parts.race_s = race_by_environment();
  parts.race = [winners, program = options.program](const TuningJob& job, double seconds) {
    run_tuner({.program = tuner_program(program), .seconds = seconds, .is_race = true, .database = winners->named()},
              job);
  };
  parts.compile_in_background = options.compile_in_background;
  return parts;
}

}  // namespace stencil_tune
