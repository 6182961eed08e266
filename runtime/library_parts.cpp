#include "runtime/library_parts.hpp"

#include "db/location.hpp"
#include "db/winner_store.hpp"
#include "runtime/caching_compiler.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <utility>

namespace stencil_tune {

namespace {

/// The database of winners; without a file at the default place, one that knows nothing.
class Winners {
 public:
  explicit Winners(std::string option) : option_(std::move(option)) { open(); }

  void open() {
    const DatabaseLocation location = locate_database(option_);
    const bool optional = location.by_default && !std::filesystem::exists(location.path);
    database_.reset();
    note_ = optional ? fmt::format("nothing was tuned yet: there is no {}", location.path.string()) : "";
    if (!optional) database_ = std::make_unique<Database>(open_database(option_, Access::read));
  }

  std::vector<WinnerRecord> find(const Problem& problem, const std::string& architecture) {
    if (!database_) return {};
    Boundaries boundaries{Boundary::hold, Boundary::hold, Boundary::hold};
    std::copy_n(problem.boundaries.begin(), problem.extents.rank, boundaries.begin());
    return WinnerStore(*database_)
        .list({.stencil_key = stencil_key(problem.stencil),
               .stage = problem.stage,
               .type = problem.type,
               .boundaries = boundaries,
               .steps = problem.steps,
               .architecture = architecture});
  }

  const std::string& note() const { return note_; }

 private:
  std::string option_;
  std::unique_ptr<Database> database_;
  std::string note_;
};

}  // namespace

LibraryParts open_parts(const LibraryOptions& options) {
  auto winners = std::make_shared<Winners>(options.database.string());
  LibraryParts parts;
  parts.driver = []() -> Driver& { return cuda_driver(); };
  parts.compiler = [] { return std::shared_ptr<Compiler>(open_cached_nvrtc()); };
  parts.winners = [winners](const Problem& problem, const std::string& architecture) {
    return winners->find(problem, architecture);
  };
  parts.reload = [winners] { winners->open(); };
  parts.note = winners->note();
  return parts;
}

}  // namespace stencil_tune
