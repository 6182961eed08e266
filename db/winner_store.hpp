// The best ok trial of each problem on each GPU model by each objective. winner_choice.hpp says what "best" is.
#pragma once

#include "db/database.hpp"
#include "db/records.hpp"

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace stencil_tune {

/// Which winners; what is not set matches all. Lookup of the nearest size asks for a stencil key, type, boundaries
/// and GPU, and compares the extents itself.
struct WinnerQuery {
  std::optional<SubjectKind> kind{};
  std::optional<std::string> stencil_key{};
  std::optional<std::string> form{};
  std::optional<int> stage{};
  std::optional<ElementType> type{};
  std::optional<Boundaries> boundaries{};  ///< all three axes'; those beyond the rank are hold
  std::optional<int> steps{};
  std::optional<std::string> gpu{};
  std::optional<std::string> architecture{};
  std::optional<bool> predicted{};
  bool count_trials = true;  ///< false: trials_seen as it was stored, which spares reading the index of all trials
};

/// What WinnerStore::remove took out.
struct RemovedWinner {
  WinnerRecord winner;
  std::int64_t trials = 0;  ///< all trials of its problem on its GPU model, its own among them
};

/// All functions throw Error as Database::open does. Rows with a wrong checksum are skipped and noted in
/// Database::damaged_rows.
class WinnerStore {
 public:
  explicit WinnerStore(Database& database) : database_(database) {}

  /// The problem's winner on that GPU model. Sweeps and predictions have none by Objective::time: they race in bursts.
  std::optional<WinnerRecord> find(const ProblemKey& problem, std::string_view gpu, Objective objective) const;

  /// Ordered by stencil name, type, extents, GPU.
  std::vector<WinnerRecord> list(const WinnerQuery& query = {}) const;

  /// Chooses the winners anew from all trials of the problem, in one transaction: to be called after a race. Gives the
  /// one by the race's objective. naive_rate: of this session; 0 keeps what is known. `excluded`: codes that
  /// cannot win. Nothing when no other trial is ok.
  std::optional<WinnerRecord> settle(const ProblemKey& problem, std::string_view gpu, Objective objective,
                                     double naive_rate = 0, const std::set<std::string>& excluded = {});

  /// Takes out the winner whose trial has this id, with every winner and trial of its problem on its GPU model: what is
  /// tuned next begins anew, where a winner without its trials would only be chosen again. Nothing where there is no
  /// such winner.
  std::optional<RemovedWinner> remove(std::int64_t trial_id);

 private:
  Database& database_;
};

}  // namespace stencil_tune
