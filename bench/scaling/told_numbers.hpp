// A number from each rank to all.
#pragma once

#include "stencil_tune/communicator.hpp"

#include <cstring>
#include <vector>

namespace bench {

/// What each rank told, in their order. Returns when all have.
inline std::vector<double> tell_all(stencil_tune::Communicator& ranks, double mine) {
  std::vector<std::byte> bytes(sizeof(mine));
  std::memcpy(bytes.data(), &mine, sizeof(mine));
  const std::vector<std::byte> all = ranks.all_gather(bytes);
  std::vector<double> told(all.size() / sizeof(mine));
  std::memcpy(told.data(), all.data(), all.size());
  return told;
}

}  // namespace bench
