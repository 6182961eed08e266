// What a kernel compiled for the host asks of the executor. Compiled twice: into the executor, and (shipped as text)
// into every kernel library, so it is plain C++17 and includes nothing.
#pragma once

namespace stencil_tune::host {

struct Index {
  unsigned x, y, z;
};

/// The running thread, as CUDA's built-in variables would describe it.
struct ThreadView {
  Index thread;
  Index block;
  Index block_extent;
  Index grid_extent;
  unsigned lane;          ///< place in its warp
  unsigned char* shared;  ///< the block's dynamic shared memory
};

/// Where in the kernel's source a thread stands; `file` is a literal of the kernel library.
struct Site {
  const char* file;
  int line;
};

/// How a thread was found to break a rule that a GPU enforces, or fails to.
enum class Rule { alignment, shared_range, other };

/// The executor's side: one table, bound to a kernel library when it is loaded.
struct Services {
  const ThreadView* current;  ///< changes whenever another thread runs

  void (*barrier)(Site site);
  /// All live lanes of the warp meet; `received` gets what lane `source` brought.
  void (*exchange)(const void* brought, void* received, unsigned bytes, unsigned source, Site site);

  void (*copy_async)(void* shared, const void* global, unsigned bytes, unsigned bytes_read, Site site);
  void (*commit_copies)();
  /// Completes this thread's committed groups but for the latest `groups_left`.
  void (*wait_copies)(unsigned groups_left);

  /// Ends the launch with a fault; does not return.
  void (*fail)(Rule rule, const void* address, const char* what, Site site);
};

}  // namespace stencil_tune::host
