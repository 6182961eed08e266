// The ranks of a distributed grid: who they are, and how cells travel between them.
#pragma once

#include "stencil_tune/span.hpp"

#include <cstddef>
#include <memory>
#include <vector>

struct CUstream_st;
struct ncclComm;  // what NCCL calls *ncclComm_t

namespace stencil_tune {

/// Bytes of device memory that go to a rank, or come from it.
struct Transfer {
  int peer = 0;           ///< the other rank
  void* data = nullptr;   ///< device address
  std::size_t bytes = 0;  ///< how many
};

/// One rank's end of a group of ranks. nccl_communicator() makes one of NCCL; a program may bring its own.
///
/// Every rank of a group makes the same calls in the same order. One thread at a time uses an object. All functions
/// throw Error(launch_failed) where another rank is lost, and Error(timeout) where it does not answer; the group is of
/// no use then.
class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int rank() const noexcept = 0;  ///< from 0
  virtual int size() const noexcept = 0;  ///< ranks

  /// All transfers of one exchange; none waits for another. From one rank to another, the first send meets the first
  /// receive of this call, the second the second. Asynchronous on the stream, in the current context.
  virtual void exchange(Span<const Transfer> sends, Span<const Transfer> receives, CUstream_st* stream) = 0;

  /// Each rank's bytes, in the order of ranks; equally many from each. On the host; returns when all have called it.
  virtual std::vector<std::byte> all_gather(Span<const std::byte> mine) = 0;

  /// Returns when the stream's work is done, exchanges included.
  virtual void wait(CUstream_st* stream) = 0;

  /// Throws where a rank is known to be lost, and waits for nothing.
  virtual void check() = 0;

  /// Gives the group up, so that ranks that wait for this one learn of it.
  virtual void abort() noexcept = 0;
};

/// Over an NCCL communicator of the caller's, whose GPU is that of the current context. libnccl is opened at run time:
/// STENCIL_TUNE_NCCL (libnccl.so.2 or its folder), else where the dynamic linker finds it, which is the one that the
/// program has loaded. Set-up waits for other ranks `timeout_s` seconds at most, and so does wait().
///
/// The NCCL communicator outlives this object. Only where a function here throws Error(launch_failed) or Error(timeout)
/// was it aborted (ncclCommAbort), and must not be destroyed. Where ranks are threads of one process, device memory is
/// best freed while no rank waits for another: the driver may wait for all GPUs that are joined (NCCL issue 744).
/// Throws Error(missing_library), Error(invalid_argument).
std::unique_ptr<Communicator> nccl_communicator(ncclComm* communicator, double timeout_s = 300);

}  // namespace stencil_tune
