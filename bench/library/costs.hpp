// What the library itself takes: host time of lookups, launches and first uses.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace bench {

/// Host time of one kind of call, on one stencil.
struct Cost {
  std::string what;
  double microseconds = 0;  ///< median
};

/// Library::lookup() of a request that was made before.
std::vector<Cost> warm_lookups(const std::filesystem::path& database);

/// Kernel::launch() less the driver's own launch of the same kernel, median of many interleaved batches.
std::vector<Cost> launch_overheads();

/// From no Library to a prepared Kernel in a process that has its context and whose kernels are in the binary cache:
/// opening, lookup, prepare. Each in a process of its own, which is this program with `first_use_verb`.
std::vector<Cost> first_uses(const std::filesystem::path& database);

inline constexpr const char* kFirstUseVerb = "internal-first-use";

/// The inside of such a process: prints microseconds, in all and part by part. Returns the exit status.
int first_use_main(const std::string& stencil, const std::string& database);

}  // namespace bench
