// What the tests of the database share: a folder of their own, plausible records, child processes.
#pragma once

#include "db/database.hpp"
#include "db/records.hpp"
#include "stencil_tune/error.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <string>

namespace stencil_tune {

inline constexpr const char* kGpu = "NVIDIA H200";
inline constexpr const char* kOldSignature = "templates-old";  ///< of no template: whoever carries it is stale

/// A folder that is gone with its test.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

/// 3D star order 1, f32, hold, 512^3.
ProblemKey a_problem();

/// A candidate's code by a name that says what it is in a test ("lucky"), always the same for one name.
std::string a_code(const std::string& name);

/// The code of some candidate.
constexpr const char* kCode = "direct.bx32.by4.bz1.rx1.ry1.rz1.v1";

/// An ok, raced trial of a_problem() in GStencil/s, not stale. Of a_code(), or of a code as it is.
TrialRecord a_trial(const std::string& name_or_code, double gstencils);
TrialRecord a_failure(const std::string& name_or_code, Outcome outcome);

/// Equal in everything but the id.
void expect_same(const TrialRecord& actual, const TrialRecord& expected);

std::string read_file(const std::filesystem::path& path);
void write_file(const std::filesystem::path& path, const std::string& bytes);

/// Every file of the folder, by name.
std::vector<std::string> files_of(const std::filesystem::path& folder);

/// Runs `body` in a child process and returns its exit status: what `body` returns, 99 after an exception.
int in_child(const std::function<int()>& body);

/// The same without blocking; ends with wait_for_child.
int start_child(const std::function<int()>& body);
int wait_for_child(int process);

/// Runs SQL on the file behind the library's back.
void run_sql(const std::filesystem::path& path, const std::string& sql);

/// Gives a stored trial another code, whole rows and all, as if the code's meaning were retired after it was stored.
void retire_code(const std::filesystem::path& path, std::int64_t id, const std::string& code);

/// The Error `body` throws; fails the test when it throws none.
template <typename Body>
Error error_of(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error was thrown";
  return Error(ErrorCode::internal, "no error was thrown");
}

}  // namespace stencil_tune
