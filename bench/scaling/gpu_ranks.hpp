// The GPUs of this machine as the ranks of one process, a thread each, over NCCL.
#pragma once

#include "stencil_tune/communicator.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace bench {

/// What every rank does, with its own end of the group.
using RankBody = std::function<void(const std::shared_ptr<stencil_tune::Communicator>&)>;

/// Ranks that work together; tests have their own.
class Ranks {
 public:
  virtual ~Ranks() = default;
  virtual int size() const = 0;
  /// The body once for each rank, on a thread of its own. Throws what the first that failed threw; another rank's
  /// waiting for it ends then, and the group is of no use any more.
  virtual void run(const RankBody& body) = 0;
};

/// The first so many GPUs, each one's context current for its rank.
class GpuRanks final : public Ranks {
 public:
  /// Opens libnccl as the library does (STENCIL_TUNE_NCCL). Throws stencil_tune::Error: missing_library, launch_failed.
  explicit GpuRanks(int gpus);
  GpuRanks(const GpuRanks&) = delete;
  GpuRanks& operator=(const GpuRanks&) = delete;
  ~GpuRanks() override;

  int size() const override { return gpus_; }
  void run(const RankBody& body) override;

 private:
  int gpus_;
  std::vector<ncclComm*> communicators_;  ///< none after a failure: they were aborted then
};

/// "2.28.9". Throws stencil_tune::Error(missing_library).
std::string nccl_version();

}  // namespace bench
