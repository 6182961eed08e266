// The GPUs of this machine as the ranks of one process, a thread each, over NCCL.
#pragma once

#include "stencil_tune/communicator.hpp"

#include <functional>
#include <memory>

namespace bench {

/// Opens libnccl as the library does (STENCIL_TUNE_NCCL). Throws stencil_tune::Error(missing_library).
void require_nccl();

/// Runs the body once for each of the first `gpus` GPUs, on a thread of its own, with that GPU's context current.
/// Throws what the first that failed threw; another rank's waiting for it ends then.
void on_gpus(int gpus, const std::function<void(const std::shared_ptr<stencil_tune::Communicator>&)>& body);

}  // namespace bench
