#include "runtime/library/library_parts.hpp"

#include "db/location.hpp"
#include "db/winner_store.hpp"
#include "runtime/compile/caching_compiler.hpp"
#include "runtime/library/pretuned.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <utility>

namespace stencil_tune {

namespace {

/// What was tuned here, and what ships with the library. Where there need be no database and is none, nothing was.
class Winners {
 public:
  Winners(std::string option, bool may_be_missing) : option_(std::move(option)), may_be_missing_(may_be_missing) {
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
  }

  std::vector<WinnerRecord> find(const Problem& problem, const std::string& architecture) {
    const std::string key = stencil_key(problem.stencil);
    return with_pretuned(tuned_here(problem, key, architecture), key);
  }

  std::vector<WinnerRecord> find_kernels(const std::string& name) {
    if (!database_) return {};
    auto winners =
        WinnerStore(*database_).list({.kind = SubjectKind::kernel, .predicted = false, .count_trials = false});
    std::erase_if(winners, [&](const WinnerRecord& winner) { return winner.trial.problem.stencil_name != name; });
    return winners;
  }

  std::optional<std::string> architecture_of(const std::string& gpu) {
    if (!database_) return std::nullopt;
    const auto known = WinnerStore(*database_).list({.gpu = gpu, .count_trials = false});
    return known.empty() ? std::nullopt : std::optional(known.front().trial.platform.architecture);
  }

  const std::filesystem::path& path() const { return path_; }
  const std::string& note() const { return note_; }

 private:
  std::vector<WinnerRecord> tuned_here(const Problem& problem, const std::string& key,
                                       const std::string& architecture) {
    if (!database_) return {};
    Boundaries boundaries{Boundary::hold, Boundary::hold, Boundary::hold};
    std::copy_n(problem.boundaries.begin(), problem.extents.rank, boundaries.begin());
    return WinnerStore(*database_)
        .list({.stencil_key = key,
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
  auto winners = std::make_shared<Winners>(options.database.string(), options.tune_on_miss_s > 0);
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
