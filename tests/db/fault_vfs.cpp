#include "tests/db/fault_vfs.hpp"

#include <sqlite3.h>
#include <unistd.h>

#include <cstring>
#include <limits>

namespace stencil_tune {
namespace {

// Children of the tests run one thread, so plain variables do.
Fault the_fault = Fault::disk_full;
int fails_at = std::numeric_limits<int>::max();
int writes = 0;
sqlite3_vfs* real_vfs = nullptr;

/// Our handle; the real one's bytes follow it.
struct File {
  sqlite3_file base;
  sqlite3_file* real;
};

sqlite3_file* real(sqlite3_file* file) { return reinterpret_cast<File*>(file)->real; }

/// The code to fail with, or SQLITE_OK.
int count() {
  if (writes++ < fails_at) return SQLITE_OK;
  if (the_fault == Fault::torn_crash) return SQLITE_ABORT;
  return the_fault == Fault::disk_full ? SQLITE_FULL : SQLITE_IOERR_WRITE;
}

int write(sqlite3_file* file, const void* data, int bytes, sqlite3_int64 at) {
  const int fault = count();
  if (fault == SQLITE_OK) return real(file)->pMethods->xWrite(real(file), data, bytes, at);
  if (fault != SQLITE_ABORT) return fault;
  real(file)->pMethods->xWrite(real(file), data, bytes / 2, at);
  _exit(kCrashStatus);
}

int truncate(sqlite3_file* file, sqlite3_int64 size) {
  const int fault = count();
  if (fault == SQLITE_ABORT) _exit(kCrashStatus);
  return fault == SQLITE_OK ? real(file)->pMethods->xTruncate(real(file), size) : fault;
}

int sync(sqlite3_file* file, int flags) {
  const int fault = count();
  if (fault == SQLITE_ABORT) _exit(kCrashStatus);
  return fault == SQLITE_OK ? real(file)->pMethods->xSync(real(file), flags) : fault;
}

const sqlite3_io_methods kMethods = [] {
  sqlite3_io_methods m{};
  m.iVersion = 1;
  m.xClose = [](sqlite3_file* f) { return real(f)->pMethods->xClose(real(f)); };
  m.xRead = [](sqlite3_file* f, void* to, int n, sqlite3_int64 at) {
    return real(f)->pMethods->xRead(real(f), to, n, at);
  };
  m.xWrite = write;
  m.xTruncate = truncate;
  m.xSync = sync;
  m.xFileSize = [](sqlite3_file* f, sqlite3_int64* size) { return real(f)->pMethods->xFileSize(real(f), size); };
  m.xLock = [](sqlite3_file* f, int level) { return real(f)->pMethods->xLock(real(f), level); };
  m.xUnlock = [](sqlite3_file* f, int level) { return real(f)->pMethods->xUnlock(real(f), level); };
  m.xCheckReservedLock = [](sqlite3_file* f, int* out) { return real(f)->pMethods->xCheckReservedLock(real(f), out); };
  m.xFileControl = [](sqlite3_file* f, int op, void* arg) { return real(f)->pMethods->xFileControl(real(f), op, arg); };
  m.xSectorSize = [](sqlite3_file* f) { return real(f)->pMethods->xSectorSize(real(f)); };
  m.xDeviceCharacteristics = [](sqlite3_file* f) { return real(f)->pMethods->xDeviceCharacteristics(real(f)); };
  return m;
}();

int open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  auto* const ours = reinterpret_cast<File*>(file);
  ours->real = reinterpret_cast<sqlite3_file*>(ours + 1);
  std::memset(static_cast<void*>(ours->real), 0, static_cast<std::size_t>(real_vfs->szOsFile));
  const int code = real_vfs->xOpen(real_vfs, name, ours->real, flags, out_flags);
  ours->base.pMethods = ours->real->pMethods ? &kMethods : nullptr;
  return code;
}

}  // namespace

void install_faults(Fault fault, int at) {
  the_fault = fault;
  fails_at = at;
  writes = 0;
  if (real_vfs) return;
  real_vfs = sqlite3_vfs_find(nullptr);
  static sqlite3_vfs vfs;
  vfs = *real_vfs;  // all but opening is the real one's, which finds its own state in pAppData
  vfs.zName = "faults";
  vfs.szOsFile = static_cast<int>(sizeof(File)) + real_vfs->szOsFile;
  vfs.xOpen = open;
  vfs.pNext = nullptr;
  sqlite3_vfs_register(&vfs, 1);
}

int counted_writes() { return writes; }

void repair_faults() { fails_at = std::numeric_limits<int>::max(); }

}  // namespace stencil_tune
