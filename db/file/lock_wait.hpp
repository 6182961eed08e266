// Waiting for a database that another process keeps locked.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>

struct sqlite3;

namespace stencil_tune {

/// What one connection does while it meets a lock. Must outlive the connection that it is installed in.
class LockWait {
 public:
  /// As OpenOptions say: how long at most, and who is told.
  LockWait(std::filesystem::path path, std::chrono::milliseconds timeout,
           std::function<bool(const std::filesystem::path&, int)> while_locked);

  void install(sqlite3* connection);

 private:
  /// Waits a little. False when it is time to give up.
  bool wait(int calls_before);

  std::filesystem::path path_;
  std::chrono::milliseconds timeout_;
  std::function<bool(const std::filesystem::path&, int)> while_locked_;
  std::chrono::steady_clock::time_point began_;
  int told_s_ = 0;
};

}  // namespace stencil_tune
