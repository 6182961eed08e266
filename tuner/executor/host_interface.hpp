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
  unsigned cluster_rank;  ///< the block's place in its cluster
  unsigned char* shared;  ///< the block's dynamic shared memory
};

/// Where in the kernel's source a thread stands; `file` is a literal of the kernel library.
struct Site {
  const char* file;
  int line;
};

/// How a thread was found to break a rule that a GPU enforces, or fails to.
enum class Rule { alignment, shared_range, other };

/// What stands in a tensor map's 128 bytes instead of the GPU's own encoding.
struct TensorMapContent {
  unsigned long long mark;
  unsigned long long address;
  unsigned long long extents[3];  ///< cells
  unsigned long long strides[2];  ///< bytes from one row, plane to the next
  unsigned box[3];                ///< cells of one copy
  unsigned cell_bytes;
};
inline constexpr unsigned long long kTensorMapMark = 0x70616d726f736e74;

/// What stands in an mbarrier's 8 bytes: a phase ends when no arrivals and no bytes are outstanding.
struct MbarrierContent {
  unsigned short arrivals;  ///< arrivals that every phase needs
  unsigned short left;      ///< arrivals that this phase still waits for
  int phase_and_bytes;      ///< the phase's parity in the last bit, outstanding bytes above it

  int parity() const { return phase_and_bytes & 1; }
  void add_bytes(int bytes) { phase_and_bytes += 2 * bytes; }
  void arrive() { --left; }
  void end_phase_if_complete() {
    if (left != 0 || phase_and_bytes >> 1 != 0) return;
    left = arrivals;
    phase_and_bytes ^= 1;
  }
};

/// The executor's side: one table, bound to a kernel library when it is loaded.
struct Services {
  const ThreadView* current;  ///< changes whenever another thread runs

  void (*barrier)(Site site);
  void (*cluster_barrier)(Site site);
  /// All live lanes of the warp meet; `received` gets what lane `source` brought.
  void (*exchange)(const void* brought, void* received, unsigned bytes, unsigned source, Site site);

  void (*copy_async)(void* shared, const void* global, unsigned bytes, unsigned bytes_read, Site site);
  void (*commit_copies)();
  /// Completes this thread's committed groups but for the latest `groups_left`.
  void (*wait_copies)(unsigned groups_left);

  /// One box of the field that `map` describes, whose bytes then count towards the barrier's phase.
  void (*copy_box)(const void* map, void* shared, void* barrier, int x, int y, int z, Site site);
  /// A line of the field, likewise.
  void (*load_line)(void* shared, const void* global, int bytes, void* barrier, Site site);
  /// A line to a field; the lanes of the warp have fenced what they wrote.
  void (*store_line)(void* global, const void* shared, int bytes, Site site);
  /// Closes a group of them.
  void (*commit_lines)();
  /// Until all of the thread's groups but the `groups_left` latest have been read from shared memory.
  void (*wait_lines)(unsigned groups_left);
  /// The thread has stored to shared memory.
  void (*wrote_shared)();
  /// The thread is done with what boxes and lines brought, and with what it wrote for lines to take; whoever waited for
  /// one has to say so before the next one comes.
  void (*fence_copies)();
  /// What `local`, in the block's shared memory, is in that of the cluster's block `rank`.
  void* (*peer_address)(const void* local, unsigned rank, Site site);
  /// A word to any block of the cluster, whose bytes then count towards the phase of a barrier in the same block.
  void (*send)(void* to, const void* word, unsigned bytes, void* barrier, Site site);
  /// Until the barrier's phase of that parity has ended.
  void (*wait_phase)(void* barrier, int parity, Site site);

  /// The thread looked for what another one is to leave in memory. It goes on when no other can.
  void (*let_others_run)();

  /// Ends the launch with a fault; does not return.
  void (*fail)(Rule rule, const void* address, const char* what, Site site);
};

}  // namespace stencil_tune::host
