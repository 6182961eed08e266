// Every trial ever made, failures too: what resume, reports and the performance model read.
#pragma once

#include "db/database.hpp"
#include "db/records.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stencil_tune {

struct StoredTrial {
  std::int64_t id = 0;
  bool is_winner = false;  ///< it is now the winner of its problem
};

/// Which trials; what is not set matches all.
struct TrialQuery {
  std::optional<ProblemKey> problem{};
  std::optional<std::string> gpu{};
  std::optional<std::string> session{};
  std::optional<bool> predicted{};
};

/// All functions throw Error as Database::open does. Rows with a wrong checksum are skipped and noted in
/// Database::damaged_rows.
class TrialStore {
 public:
  explicit TrialStore(Database& database) : database_(database) {}

  /// Stores the trial and, where it improves on it, the winner of its problem: one transaction, on disk when this
  /// returns. An empty created_at becomes now. naive_rate: the naive kernel's in the same session; 0: unknown.
  /// Throws Error(invalid_argument) when a field is out of range (validate.hpp).
  StoredTrial insert(TrialRecord trial, double naive_rate = 0);

  /// The trials that the query asks for, in the order they were stored.
  std::vector<TrialRecord> find(const TrialQuery& query) const;

  /// What need not be tried again: one trial a code, of this problem and GPU model, neither stale nor of a code that
  /// does not parse (stored_code.hpp). It is the trial that speaks for the code (winner_choice.hpp): wrong_result if
  /// the code was ever wrong, its latest raced or best ok trial, else its latest failure. A code that failed only once,
  /// in a way that deserves another try, is not among them. `model`: takes what that model predicted
  /// (PlatformKey::driver); nothing: takes what was measured. `counts`: which trials count; empty: all.
  std::vector<TrialRecord> known(const ProblemKey& problem, std::string_view gpu, std::optional<std::string_view> model,
                                 const std::function<bool(const TrialRecord&)>& counts = {}) const;

 private:
  Database& database_;
};

/// "2026-01-31T12:00:00.250Z"
std::string utc_now();

}  // namespace stencil_tune
