// CUDA of the user's own as the host compiler can take it.
#pragma once

#include <string>

namespace stencil_tune {

/// The source with each declaration of dynamic shared memory in a function (extern __shared__ float s[];) as a pointer
/// to the block's. All else is left to cuda.cuh.
std::string with_dynamic_shared_memory(const std::string& source);

}  // namespace stencil_tune
