// What the C interface's handle of a distributed grid stands for.
#pragma once

#include "stencil_tune/distributed.hpp"
#include "stencil_tune/stencil_tune_distributed.h"

#include <memory>
#include <string>

struct stencil_tune_grid {
  stencil_tune::DistributedKernel kernel;
  stencil_tune::DistributedFields fields;
  CUstream_st* stream;
  std::string evidence;
};

namespace stencil_tune {

/// The caller's cut, the defaults where it is null. Throws Error(invalid_argument).
stencil_tune_cut whole_cut(const stencil_tune_cut* given);

/// Owned by the caller: stencil_tune_grid_release().
stencil_tune_grid* make_c_grid(Library& library, std::shared_ptr<Communicator> ranks,
                               const stencil_tune_request& request, const stencil_tune_cut& cut, CUstream_st* stream);

}  // namespace stencil_tune
