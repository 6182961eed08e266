#include "generator/candidates/limits.hpp"

#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace stencil_tune {
namespace {

constexpr std::size_t kKiB = 1024;

struct Architecture {
  int compute_capability;
  int threads_per_sm;
  int blocks_per_sm;
  std::size_t shared_per_sm_kib;
  std::size_t shared_per_block_kib;
};

// "Technical Specifications per Compute Capability" of the CUDA C++ Programming Guide 13.0; 1024 threads a block, 255
// registers a thread and 65536 registers an SM hold for all of them. Shared memory per SM agrees with cuda_occupancy.h.
constexpr std::array kArchitectures{
    Architecture{70, 2048, 32, 96, 96},    Architecture{72, 2048, 32, 96, 96},    Architecture{75, 1024, 16, 64, 64},
    Architecture{80, 2048, 32, 164, 163},  Architecture{86, 1536, 16, 100, 99},   Architecture{87, 1536, 16, 164, 163},
    Architecture{89, 1536, 24, 100, 99},   Architecture{90, 2048, 32, 228, 227},  Architecture{100, 2048, 32, 228, 227},
    Architecture{103, 2048, 32, 228, 227}, Architecture{110, 1536, 24, 228, 227}, Architecture{120, 1536, 24, 100, 99},
    Architecture{121, 1536, 24, 100, 99},
};

constexpr int kOldest = kArchitectures.front().compute_capability;

/// An architecture that is not in the table gets the least that any from 8.0 on has.
constexpr Architecture kUnlisted{0, 1536, 16, 100, 99};

/// "sm_90" and its variants "sm_90a", "sm_100f"; 0 for anything else.
int parse_architecture(std::string_view text) {
  constexpr std::string_view kPrefix = "sm_";
  if (text.substr(0, kPrefix.size()) != kPrefix) return 0;
  std::string_view digits = text.substr(kPrefix.size());
  if (!digits.empty() && (digits.back() == 'a' || digits.back() == 'f')) digits.remove_suffix(1);
  if (digits.size() < 2 || digits.size() > 3 || digits.front() == '0') return 0;
  int number = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return status == std::errc{} && end == digits.data() + digits.size() ? number : 0;
}

}  // namespace

Limits limits_of_architecture(std::string_view arch) {
  const int number = parse_architecture(arch);
  if (number < kOldest) {
    throw Error(ErrorCode::unknown_name,
                fmt::format("architecture '{}' is not known; name one as sm_NN with NN of at least {}, such as sm_80, "
                            "sm_90 or sm_100",
                            arch.substr(0, 40), kOldest));
  }
  const auto listed = std::find_if(kArchitectures.begin(), kArchitectures.end(),
                                   [&](const Architecture& entry) { return entry.compute_capability == number; });
  const Architecture& found = listed != kArchitectures.end() ? *listed : kUnlisted;
  Limits limits;
  limits.compute_capability = number;
  limits.max_threads_per_sm = found.threads_per_sm;
  limits.max_blocks_per_sm = found.blocks_per_sm;
  limits.shared_per_sm = found.shared_per_sm_kib * kKiB;
  limits.shared_per_block = found.shared_per_block_kib * kKiB;
  return limits;
}

}  // namespace stencil_tune
