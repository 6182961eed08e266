// A file layer under SQLite that fails, or ends the process, at a chosen write.
#pragma once

namespace stencil_tune {

enum class Fault {
  disk_full,   ///< the write reports SQLITE_FULL
  io_error,    ///< the write reports SQLITE_IOERR_WRITE
  torn_crash,  ///< half of the bytes arrive, then the process ends with kCrashStatus
};

inline constexpr int kCrashStatus = 42;

/// Makes the layer the default of this process, for good: call it in a child. Writes, truncations and syncs to disk
/// count; the one with number `at` (from 0), and with disk_full and io_error every one after it, fails.
void install_faults(Fault fault, int at);

/// How many were counted so far.
int counted_writes();

/// Lets everything pass again.
void repair_faults();

}  // namespace stencil_tune
