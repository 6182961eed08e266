// Fuzz target: rows of a database. An input has a line a column, "gpu=NVIDIA H200", for a trial whose other columns are
// sane. Lines before an empty one are stored with a checksum that is right, as somebody could who means harm; those
// after it are put into the row behind its back.
#include "db/rows/fields.hpp"
#include "db/rows/trial_rows.hpp"
#include "db/rows/winner_rows.hpp"
#include "db/stored_code.hpp"
#include "generator/kernel_source/signature.hpp"
#include "generator/printable.hpp"
#include "stencil_tune/error.hpp"
#include "tests/fuzz/harm.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <map>

using namespace stencil_tune;

namespace {

using Columns = std::map<std::string, std::string, std::less<>>;

/// Takes lines off the text until an empty one.
Columns take_columns(std::string_view& text) {
  Columns columns;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.empty()) break;
    const std::size_t equals = std::min(line.find('='), line.size());
    columns[std::string(line.substr(0, equals))] = line.substr(std::min(equals + 1, line.size()));
  }
  return columns;
}

TrialRecord trial_of(const Columns& columns) {
  TrialRecord trial;
  trial.problem.stencil_key = "0123456789abcdef0123456789abcdef";
  trial.problem.stencil_name = "star3d1r";
  trial.problem.extents = {3, {512, 512, 512}};
  trial.problem.pitch = 512;
  trial.code = "direct.bx32.by4.bz1.rx1.ry1.rz1.v1";
  trial.platform = {"NVIDIA H200", "sm_90", "13.0", "13.0", template_signature(parse_code(trial.code))};
  trial.timing = {0.3, 0.29, 0.31, 50};
  trial.rate = 400;
  trial.raced = true;
  visit_trial(trial, [&](std::string_view column, auto& value) {
    using Value = std::remove_cvref_t<decltype(value)>;
    const auto given = columns.find(column);
    if (given == columns.end()) return;
    const std::string& text = given->second;
    if constexpr (kIsNamed<Value>) {
      try {
        parse_name(text, value);
      } catch (const Error&) {
      }
    } else if constexpr (std::is_same_v<Value, std::string>) {
      value = text;
    } else if constexpr (std::is_same_v<Value, bool>) {
      value = text == "1";
    } else {
      std::from_chars(text.data(), text.data() + text.size(), value);
    }
  });
  return trial;
}

void change_behind_its_back(Database& database, std::int64_t id, const Columns& columns) {
  const TrialRecord any;
  visit_trial(any, [&](std::string_view column, const auto&) {
    const auto given = columns.find(column);
    if (given == columns.end()) return;
    try {
      Statement(database.handle(), fmt::format("UPDATE trials SET {} = ? WHERE id = ?", column), "change a row")
          .bind(std::string_view(given->second))
          .bind(id)
          .step();
    } catch (const Error&) {  // the column takes no such text
    }
  });
}

/// All that verbs do with a row that is read.
void use(const TrialRecord& trial) {
  const auto objection = objection_to(trial);
  require(!objection || printable(*objection) == *objection, "an objection is not printable");
  require(is_readable(trial) || !is_stale(trial), "what does not parse is stale");
  to_string(trial.problem.extents);
  to_string(trial.problem.boundaries, trial.problem.extents.rank);
}

void run(Database& database, std::string_view text) {
  const Transaction rolled_back(database.handle(), "try a row");
  const Columns stored = take_columns(text);
  const TrialRecord trial = trial_of(stored);
  std::int64_t id = 0;
  try {
    id = insert_trial_row(database, trial);
    update_winner_rows(database, trial, 0);
  } catch (const Error&) {
    return;  // NaN is no value of a column
  }
  change_behind_its_back(database, id, take_columns(text));
  for (const TrialRecord& read : select_trials(database, "TRUE", [](Statement&) {})) use(read);
  for (const WinnerRecord& winner : select_winners(database, "TRUE", [](Statement&) {})) use(winner.trial);
}

/// A database in memory where that can be had; its files are gone with this object.
class ScratchDatabase {
 public:
  ScratchDatabase() {
    execute(database_.handle(), "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF", "make it fast");
  }
  ~ScratchDatabase() {
    std::error_code ignored;
    for (const char* suffix : {"", "-journal"}) std::filesystem::remove(path_ + suffix, ignored);
  }

  Database& get() { return database_; }

 private:
  std::string path_ =
      fmt::format("{}/stencil-tune-row-fuzz-{}.db", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", getpid());
  Database database_ = Database::open(path_);
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static ScratchDatabase scratch;
  run(scratch.get(), text_of(data, size));
  return 0;
}
