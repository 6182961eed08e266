// Children that are forked while another thread of their parent is in this library.
#pragma once

namespace stencil_tune {

/// While one lives, its thread may hold locks: the library's own, SQLite's, NVRTC's. A child that is forked then has
/// copies of them that nobody will ever release. Where a thread waits for none of them, a child may go on as usual.
class InsideLibrary {
 public:
  /// Throws Error(launch_failed) in such a child, which would wait for ever.
  InsideLibrary();
  ~InsideLibrary();
  InsideLibrary(const InsideLibrary&) = delete;
  InsideLibrary& operator=(const InsideLibrary&) = delete;
};

/// Whether this process is such a child. What its parent made must not even be freed there.
bool has_lost_locks() noexcept;

}  // namespace stencil_tune
