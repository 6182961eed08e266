// A launch of an exported file that host_cuda.h passes on.
#pragma once

#include <cstddef>

struct HostLaunch {
  const char* kernel;
  unsigned grid[3];
  unsigned block[3];
  std::size_t shared_bytes;
  const void* arguments;
  std::size_t argument_bytes;
};
