#include "db/file/lock_wait.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <thread>
#include <utility>

namespace stencil_tune {
namespace {

using std::chrono::milliseconds;

/// Most locks are held for the time of one commit. Pauses do not grow: where others write all the time, who has waited
/// long would else ask too seldom to find it open.
constexpr milliseconds kPause{2};

}  // namespace

LockWait::LockWait(std::filesystem::path path, milliseconds timeout,
                   std::function<bool(const std::filesystem::path&, int)> while_locked)
    : path_(std::move(path)), timeout_(timeout), while_locked_(std::move(while_locked)) {}

void LockWait::install(sqlite3* connection) {
  sqlite3_busy_handler(
      connection, [](void* self, int calls) { return static_cast<LockWait*>(self)->wait(calls) ? 1 : 0; }, this);
}

bool LockWait::wait(int calls_before) {
  const auto now = std::chrono::steady_clock::now();
  if (calls_before == 0) {
    began_ = now;
    told_s_ = 0;
  }
  const auto waited = std::chrono::duration_cast<milliseconds>(now - began_);
  if (waited >= timeout_) return false;
  if (waited.count() / 1000 > told_s_ && while_locked_ && !while_locked_(path_, ++told_s_)) return false;
  std::this_thread::sleep_for(std::min(kPause, timeout_ - waited));
  return true;
}

}  // namespace stencil_tune
