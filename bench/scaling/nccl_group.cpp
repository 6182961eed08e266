#include "bench/scaling/nccl_group.hpp"

#include "distributed/nccl_api.hpp"
#include "stencil_tune/device_memory.hpp"
#include "stencil_tune/error.hpp"

#include <exception>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

namespace bench {
namespace {

using namespace stencil_tune;

constexpr double kTimeoutS = 60;

/// One for each GPU. They are left to the process's end, as errors may have aborted them.
std::vector<ncclComm*> communicators(int gpus) {
  int (*init_all)(ncclComm**, int, const int*) = nullptr;
  nccl_api().library.require(init_all, "ncclCommInitAll");
  std::vector<ncclComm*> all(static_cast<std::size_t>(gpus));
  std::vector<int> devices(all.size());
  std::iota(devices.begin(), devices.end(), 0);
  const int result = init_all(all.data(), gpus, devices.data());
  if (result == kNcclSuccess) return all;
  throw Error(ErrorCode::launch_failed, std::string("ncclCommInitAll: ") + nccl_api().error_string(result));
}

}  // namespace

void require_nccl() { nccl_api(); }

void on_gpus(int gpus, const std::function<void(const std::shared_ptr<Communicator>&)>& body) {
  const std::vector<ncclComm*> all = communicators(gpus);
  std::vector<std::exception_ptr> failures(all.size());
  std::vector<std::thread> threads;
  for (std::size_t gpu = 0; gpu < all.size(); ++gpu) {
    threads.emplace_back([&, gpu] {
      std::shared_ptr<Communicator> ranks;
      try {
        const DeviceContext context(static_cast<int>(gpu));
        ranks = nccl_communicator(all[gpu], kTimeoutS);
        body(ranks);
      } catch (...) {
        failures[gpu] = std::current_exception();
        if (ranks) ranks->abort();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace bench
