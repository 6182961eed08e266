#include "bench/scaling/gpu_ranks.hpp"

#include "distributed/nccl_api.hpp"
#include "stencil_tune/device_memory.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <exception>
#include <numeric>
#include <thread>

namespace bench {
namespace {

using namespace stencil_tune;

constexpr double kTimeoutS = 60;

std::vector<ncclComm*> make_communicators(int gpus) {
  int (*init_all)(ncclComm**, int, const int*) = nullptr;
  nccl_api().library.require(init_all, "ncclCommInitAll");
  std::vector<ncclComm*> all(static_cast<std::size_t>(gpus));
  std::vector<int> devices(all.size());
  std::iota(devices.begin(), devices.end(), 0);
  const int result = init_all(all.data(), gpus, devices.data());
  if (result == kNcclSuccess) return all;
  throw Error(ErrorCode::launch_failed, fmt::format("ncclCommInitAll: {}", nccl_api().error_string(result)));
}

}  // namespace

GpuRanks::GpuRanks(int gpus) : gpus_(gpus), communicators_(make_communicators(gpus)) {}

GpuRanks::~GpuRanks() {
  int (*destroy)(ncclComm*) = nullptr;
  if (!communicators_.empty()) nccl_api().library.require(destroy, "ncclCommDestroy");
  for (ncclComm* communicator : communicators_) destroy(communicator);
}

void GpuRanks::run(const RankBody& body) {
  if (communicators_.empty()) throw Error(ErrorCode::launch_failed, "a rank of these GPUs failed before");
  std::vector<std::exception_ptr> failures(communicators_.size());
  std::vector<std::shared_ptr<Communicator>> ranks(communicators_.size());
  std::vector<std::thread> threads;
  for (std::size_t gpu = 0; gpu < communicators_.size(); ++gpu) {
    threads.emplace_back([&, gpu] {
      try {
        const DeviceContext context(static_cast<int>(gpu));
        ranks[gpu] = nccl_communicator(communicators_[gpu], kTimeoutS);
        body(ranks[gpu]);
      } catch (...) {
        failures[gpu] = std::current_exception();
        if (ranks[gpu]) ranks[gpu]->abort();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& failure : failures) {
    if (!failure) continue;
    for (const auto& rank : ranks) {
      if (rank) rank->abort();
    }
    communicators_.clear();
    std::rethrow_exception(failure);
  }
}

std::string nccl_version() {
  int version = 0;
  nccl_api().version(&version);  // 22809: 2.28.9
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

}  // namespace bench
