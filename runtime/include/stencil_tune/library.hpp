// From a stencil and a grid to the best kernel known for them.
#pragma once

#include "stencil_tune/definition.hpp"
#include "stencil_tune/kernel.hpp"
#include "stencil_tune/stencil.hpp"
#include "stencil_tune/tuned_kernel.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace stencil_tune {

/// What a kernel is wanted for.
struct Request {
  Stencil stencil{};  ///< make_builtin(), find_builtin(), parse_stencil(), load_stencil(), a StencilBuilder's
  ElementType type =
      ElementType::f32;  ///< what a definition asks for stands in Stencil::element, for the caller to take
  Extents extents{};     ///< cells on each axis
  Boundaries boundaries{Boundary::hold, Boundary::hold, Boundary::hold};  ///< on x, y, z
  std::int64_t pitch = 0;  ///< cells from one row to the next; 0: rows are dense. See padded_pitch()
  /// Whether the array of a field in layers holds these alone, the low slab and then the high one (Kernel::array());
  /// else it is one of the whole grid. Exports and grids over many GPUs take the latter.
  bool slabs = false;
  int device = -1;              ///< ordinal; -1: the GPU of the current context
  std::size_t alignment = 256;  ///< what the fields' addresses are multiples of; cudaMalloc gives 256 bytes
  int steps = 1;                ///< steps of a typical Kernel::advance(): from 2 on, it may fuse as many in one launch
  /// Seconds for a race where the match may cost something (Evidence::loss); 0: what STENCIL_TUNE_RACE says ("2s"),
  /// else none. lookup() then waits: the installed `stencil-tune` compiles and verifies what would run, what won for
  /// similar problems and what the model ranks first, and times them for so long on the request's GPU. The fastest is
  /// kept in the database as a winner. Once for each request. A note of the evidence says that it won a race, or why
  /// there was none. lookup() races, not prepare(): alignment, match and spare buffers are the kernel's own.
  double race_s = 0;
  Objective objective =
      Objective::time;  ///< which winner, where there are several; another one where it is all there is
  /// In place of a GPU that is here, one by name: a model as drivers report it ("NVIDIA H200"), its short name
  /// ("h200"), or an architecture alone ("sm_90"). Needs neither GPU nor driver. The kernel can be read and exported,
  /// not launched.
  std::string gpu{};
};

/// Where winners are from, and what happens when something is missing.
struct LibraryOptions {
  /// Where winners are read from. Empty: STENCIL_TUNE_DB, else the user's data folder, which both may have no file yet:
  /// there is then nothing known. A file that is named here must be there.
  std::filesystem::path database{};

  /// Winners that a site's users share, beneath those of `database` and above those that ship: a file that is only
  /// read, in a folder that all reach. Empty: STENCIL_TUNE_SITE_DB, else none. A winner of an upper layer takes the
  /// place of one of the same problem and GPU model below, unless it has gone stale and that one has not.
  std::filesystem::path site_database{};

  /// Kernel::prepare() does not wait for the compiler (70 ms to seconds where nothing is cached): until the kernel is
  /// there, linear stencils run on a slower one that serves them all. Others wait.
  bool compile_in_background = false;

  /// Seconds to tune for when a lookup finds no exact match, 0: never. lookup() then runs the installed `stencil-tune`
  /// (STENCIL_TUNE_PROGRAM, else on the PATH) on the request's GPU, waits for it, and finds what it found. Once for
  /// each request, also when nothing better came by. The database is made where it is not there.
  ///
  /// It does not wait where the match is stale: that kernel serves, while a thread of the library tunes anew. Lookups
  /// made after that find the new winner, or a note on why tuning failed; handles from before keep their kernel. The
  /// library's destructor waits for a tuning that has begun.
  double tune_on_miss_s = 0;

  /// The `stencil-tune` that tunes on a miss, and races. Empty: STENCIL_TUNE_PROGRAM, else the one on the PATH.
  std::string program{};
};

/// An open database of winners, a compiler and the kernels made so far. Thread-safe; one for a process is enough,
/// however many GPUs it uses. Kernels may outlive it.
///
/// Environment: STENCIL_TUNE_DB (database), STENCIL_TUNE_SITE_DB (a site's, which is only read), STENCIL_TUNE_CACHE
/// (folder of compiled kernels, or "off"), STENCIL_TUNE_NVRTC (libnvrtc.so.N or its folder), STENCIL_TUNE_PRETUNED
/// ("off": winners that ship with the library are not used), STENCIL_TUNE_PROGRAM (the program that tunes on a miss and
/// races), STENCIL_TUNE_RACE (Request::race_s of requests that say none: "2s").
class Library {
 public:
  /// Opens the database for reading. Needs neither a GPU nor NVRTC yet.
  /// Winners that ship with the library serve where the database has none that are as near.
  /// Throws Error: database_io (missing), database_corrupt, database_newer, database_foreign, database_locked,
  /// invalid_argument (tune_on_miss_s, STENCIL_TUNE_RACE).
  explicit Library(const LibraryOptions& options = {});
  Library(Library&&) noexcept;
  Library& operator=(Library&&) noexcept;
  ~Library();

  /// The best kernel known for the request; it says how good the match is. Compiles nothing. Asking the same again is
  /// cheap and gives a handle to the same kernel.
  /// Throws Error: invalid_argument (extents, pitch, alignment, race_s, both device and gpu), unknown_name (gpu),
  /// no_device, missing_library (libcuda), illegal_candidate when no family can serve the request; with tune_on_miss_s
  /// also file_io (no `stencil-tune`) and launch_failed (it failed, with its last words).
  Kernel lookup(const Request& request);

  /// The best configuration known of a kernel of the user's own for these sizes; it says how good the match is. Sizes
  /// that are not named are the definition's. Compiles nothing; reads the definition's files each time.
  /// definition: a path that ends in .cu or .toml, or a name: NAME.toml or NAME.cu in one of the folders of
  /// STENCIL_TUNE_KERNELS, which colons separate. device: as Request::device.
  /// Throws Error: file_io, malformed_definition, unknown_name (no such definition or size), illegal_candidate where no
  /// configuration keeps all rules, no_device, missing_library (libcuda).
  TunedKernel kernel(const std::string& definition, const std::vector<KernelSize>& sizes = {}, int device = -1);

  /// Forgets what was looked up and reads the database anew: after tuning went on.
  void reload();

  struct Impl;
  explicit Library(std::unique_ptr<Impl> impl);  ///< for tests, which make the parts themselves

 private:
  std::unique_ptr<Impl> impl_;
};

/// The array that kernels of the request take for a field: Kernel::array() before there is one.
ArrayLayout array_of_field(const Request& request, int field);

/// A stencil by name ("heat3d", "star3d2r", "yee3d"; find_stencil()) or from a definition file (a path that ends in
/// .toml).
/// Throws Error(unknown_name) with the nearest name, Error(file_io), Error(malformed_definition).
Stencil load_stencil(const std::string& name_or_file);

}  // namespace stencil_tune
