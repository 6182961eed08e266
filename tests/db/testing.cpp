#include "tests/db/testing.hpp"

#include "db/rows/checksum.hpp"
#include "db/rows/fields.hpp"
#include "db/rows/trial_rows.hpp"
#include "db/winner_store.hpp"
#include "generator/kernel_source/signature.hpp"

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace stencil_tune {

namespace {

/// In memory where that can be had: the tests sync thousands of times and none of them pulls the plug.
std::filesystem::path place_for_folders() {
  const std::filesystem::path memory = "/dev/shm";
  return access(memory.c_str(), W_OK | X_OK) == 0 ? memory : std::filesystem::temp_directory_path();
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::string name = (place_for_folders() / "stencil-tune-db-XXXXXX").string();
  if (!mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
  path_ = std::filesystem::canonical(name);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

ProblemKey a_problem() {
  ProblemKey problem;
  problem.stencil_key = "0123456789abcdef0123456789abcdef";
  problem.stencil_name = "star3d1r";
  problem.extents = {3, {512, 512, 512}};
  problem.pitch = 512;
  return problem;
}

std::string a_code(const std::string& name) {
  std::uint32_t hash = 2166136261;  // FNV-1a: the same in every process
  for (const unsigned char c : name) hash = (hash ^ c) * 16777619;
  return fmt::format("direct.bx{}.by{}.bz1.rx1.ry1.rz1.v1", 1 + hash % 65536, 1 + hash / 65536);
}

TrialRecord a_trial(const std::string& name_or_code, double gstencils) {
  TrialRecord trial;
  trial.problem = a_problem();
  trial.code = name_or_code.find('.') == std::string::npos ? a_code(name_or_code) : name_or_code;
  trial.platform = {kGpu, "sm_90", "13.0", "13.0", template_signature(parse_code(trial.code))};
  trial.timing = {133.4 / gstencils, 133.3 / gstencils, 133.5 / gstencils, 50};
  trial.rate = gstencils;
  trial.ceiling_gbs = 4240;
  trial.share = gstencils / 530;
  trial.registers = 40;
  trial.spill_bytes = 8;
  trial.shared_bytes = 4096;
  trial.occupancy = 0.75;
  trial.raced = true;
  trial.session = "session-1";
  trial.created_at = "2026-01-31T12:00:00.000Z";
  return trial;
}

TrialRecord a_failure(const std::string& name_or_code, Outcome outcome) {
  TrialRecord trial = a_trial(name_or_code, 1);
  trial.outcome = outcome;
  trial.message = "it failed";
  trial.timing = {};
  trial.rate = 0;
  trial.share = 0;
  return trial;
}

void expect_same(const TrialRecord& actual, const TrialRecord& expected) {
  const auto text_of = [](const TrialRecord& trial) {
    std::ostringstream text;
    text.precision(17);
    visit_trial(trial, as_columns([&](std::string_view field, auto value) { text << field << '=' << value << '\n'; }));
    return text.str();
  };
  EXPECT_EQ(text_of(actual), text_of(expected));
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << bytes;
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

std::vector<std::string> files_of(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

int start_child(const std::function<int()>& body) {
  std::fflush(nullptr);
  const pid_t process = fork();
  if (process < 0) throw std::runtime_error("cannot fork");
  if (process == 0) {
    int status = 99;
    try {
      status = body();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "child: %s\n", error.what());
    }
    _exit(status);
  }
  return process;
}

int wait_for_child(int process) {
  int status = 0;
  waitpid(process, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int in_child(const std::function<int()>& body) { return wait_for_child(start_child(body)); }

void run_sql(const std::filesystem::path& path, const std::string& sql) {
  sqlite3* connection = nullptr;
  sqlite3_open(path.c_str(), &connection);
  char* message = nullptr;
  const int code = sqlite3_exec(connection, sql.c_str(), nullptr, nullptr, &message);
  const std::string text = message ? message : "";
  sqlite3_free(message);
  sqlite3_close(connection);
  if (code != SQLITE_OK) throw std::runtime_error("SQL: " + text);
}

void retire_code(const std::filesystem::path& path, std::int64_t id, const std::string& code) {
  std::optional<WinnerRecord> winner;
  Database database = Database::open(path);
  for (WinnerRecord& each : WinnerStore(database).list({.count_trials = false})) {
    if (each.trial.id == id) winner = std::move(each);
  }
  if (!winner) throw std::runtime_error("no such winner");
  winner->trial.code = code;
  Checksum checksum;
  checksum.add(checksum_of(winner->trial));
  checksum.add(winner->naive_rate);
  checksum.add(winner->trials_seen);
  run_sql(path, fmt::format("UPDATE trials SET code = '{}', checksum = {} WHERE id = {};"
                            "UPDATE winners SET checksum = {} WHERE trial_id = {}",
                            code, checksum_of(winner->trial), id, checksum.value(), id));
}

}  // namespace stencil_tune
