#include "runtime/library/library_parts.hpp"

#include "db/location.hpp"
#include "db/winner_store.hpp"
#include "runtime/compile/caching_compiler.hpp"
#include "runtime/library/lookup/pretuned.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <utility>

namespace stencil_tune {

namespace {

/// Where a site keeps the winners that its users share; empty: nowhere.
std::filesystem::path site_database(const std::filesystem::path& option) {
  const char* named = std::getenv("STENCIL_TUNE_SITE_DB");
  return option.empty() && named != nullptr ? std::filesystem::path(named) : option;
}

/// Three layers: what was tuned here, what the site shares, what ships with the library. Where there need be no
/// database and is none, nothing was tuned.
class Winners {
 public:
  Winners(std::string option, bool may_be_missing, std::filesystem::path site)
      : option_(std::move(option)), may_be_missing_(may_be_missing), site_path_(std::move(site)) {
    open();
  }

  void open() {
    const DatabaseLocation location = locate_database(option_);
    const bool optional = location.by_default || may_be_missing_;
    const bool missing = optional && !std::filesystem::exists(location.path);
    path_ = location.path;
    database_.reset();
    note_ = missing ? fmt::format("nothing was tuned here yet: there is no {}", location.path.string()) : "";
    if (!missing) database_ = std::make_unique<Database>(open_database(option_, {.access = Access::read}));
    site_.reset();
    if (!site_path_.empty()) {
      site_ = std::make_unique<Database>(Database::open(site_path_, {.access = Access::read}));
    }
  }

  std::vector<WinnerRecord> find(const Problem& problem, const std::string& architecture) {
    const std::string key = stencil_key(problem.stencil);
    auto known = layered(stored_in(database_.get(), problem, key, architecture),
                         stored_in(site_.get(), problem, key, architecture));
    return with_pretuned(std::move(known), key);
  }

  std::vector<WinnerRecord> find_kernels(const std::string& name) {
    if (!database_) return {};
    auto winners =
        WinnerStore(*database_).list({.kind = SubjectKind::kernel, .predicted = false, .count_trials = false});
    std::erase_if(winners, [&](const WinnerRecord& winner) { return winner.trial.problem.stencil_name != name; });
    return winners;
  }

  std::optional<std::string> architecture_of(const std::string& gpu) {
    for (Database* database : {database_.get(), site_.get()}) {
      if (database == nullptr) continue;
      const auto known = WinnerStore(*database).list({.gpu = gpu, .count_trials = false});
      if (!known.empty()) return known.front().trial.platform.architecture;
    }
    return std::nullopt;
  }

  const std::filesystem::path& path() const { return path_; }
  const std::string& note() const { return note_; }

 private:
  static std::vector<WinnerRecord> stored_in(Database* database, const Problem& problem, const std::string& key,
                                             const std::string& architecture) {
    if (database == nullptr) return {};
    Boundaries boundaries{Boundary::hold, Boundary::hold, Boundary::hold};
    std::copy_n(problem.boundaries.begin(), problem.extents.rank, boundaries.begin());
    return WinnerStore(*database).list({.stencil_key = key,
                                        .stage = problem.stage,
                                        .type = problem.type,
                                        .boundaries = boundaries,
                                        .architecture = architecture,
                                        .count_trials = false});
  }

  std::string option_;
  bool may_be_missing_;
  std::filesystem::path path_;
  std::unique_ptr<Database> database_;
  std::filesystem::path site_path_;
  std::unique_ptr<Database> site_;
  std::string note_;
};

/// Tunes by the installed program into the database.
std::function<bool(const TuningJob&)> tune_into(const std::shared_ptr<Winners>& winners, double seconds) {
  if (!(seconds >= 0)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("LibraryOptions::tune_on_miss_s is {}: give seconds, or 0 to never tune", seconds));
  }
  if (seconds == 0) return {};
  return [winners, seconds](const TuningJob& job) {
    run_tuner({.program = tuner_program(), .seconds = seconds, .database = winners->path()}, job);
    return true;
  };
}

}  // namespace

LibraryParts open_parts(const LibraryOptions& options) {
  auto winners = std::make_shared<Winners>(options.database.string(), options.tune_on_miss_s > 0,
                                           site_database(options.site_database));
  LibraryParts parts;
  parts.driver = []() -> Driver& { return cuda_driver(); };
  parts.compiler = [] { return std::shared_ptr<Compiler>(open_cached_nvrtc()); };
  parts.winners = [winners](const Problem& problem, const std::string& architecture) {
    return winners->find(problem, architecture);
  };
  parts.kernel_winners = [winners](const std::string& name) { return winners->find_kernels(name); };
  parts.architecture_of = [winners](const std::string& gpu) { return winners->architecture_of(gpu); };
  parts.reload = [winners] { winners->open(); };
  parts.note = [winners] { return winners->note(); };
  parts.tune = tune_into(winners, options.tune_on_miss_s);
  parts.compile_in_background = options.compile_in_background;
  return parts;
}

}  // namespace stencil_tune
