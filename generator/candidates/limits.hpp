// What an architecture allows, and a tuner where it cannot verify more; plain numbers, no GPU needed.
#pragma once

#include <cstddef>
#include <limits>
#include <string_view>

namespace stencil_tune {

inline constexpr int kFirstWithAsynchronousCopies = 80;  ///< compute capability
inline constexpr int kFirstWithTensorCopies = 90;        ///< and with clusters, and barriers at which warps can sleep

struct Limits {
  int compute_capability = 90;  ///< 90 for sm_90
  int max_threads_per_block = 1024;
  int max_registers_per_thread = 255;
  int registers_per_sm = 65536;
  int max_threads_per_sm = 2048;
  int max_blocks_per_sm = 32;
  int multiprocessors = 132;              ///< the GPU's; an H200's where the architecture alone is known
  std::size_t shared_per_block = 232448;  ///< with opt-in, bytes
  std::size_t shared_per_sm = 233472;
  int least_fused_steps = 1;                               ///< more where launches of fewer steps are of no use
  int most_fused_steps = std::numeric_limits<int>::max();  ///< as many as can be verified, where candidates are tuned
  bool takes_points = false;                               ///< where a kernel without them is of no use

  bool has_clusters() const noexcept { return compute_capability >= kFirstWithTensorCopies; }
  bool operator==(const Limits&) const = default;
};

/// "sm_90" -> limits. Throws Error(unknown_name) for what is not sm_NN with NN >= 70.
Limits limits_of_architecture(std::string_view arch);

}  // namespace stencil_tune
