// The device worker process: answers open, start, run and race until its parent closes the line.
#include "stencil_tune/error.hpp"
#include "tuner/measure/device_bench.hpp"
#include "tuner/workers/protocol.hpp"
#include "tuner/workers/wire.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>

namespace stencil_tune {
namespace {

class DeviceServer {
 public:
  Message answer(const Message& request) {
    const std::string verb = request.at("verb");
    if (verb == "open") return open(request);
    if (verb == "start") return start(request);
    if (verb == "run") return run(request);
    if (verb == "race") return race(request);
    throw Error(ErrorCode::internal, "the device worker does not know the request '" + verb + "'");
  }

 private:
  Message open(const Message& request) {
    problem_ = problem_from(request.at("problem"));
    options_ = options_from(request.at("options"));
    device_ = find_device(options_.device);
    return to_message(device_);
  }

  Message start(const Message& request) {
    if (!problem_) throw Error(ErrorCode::internal, "the device worker was asked to start before it was opened");
    bench_ = std::make_unique<DeviceBench>(cuda_driver(), device_, *problem_, options_);
    DeviceSession session;
    session.device = device_;
    return to_message(request.at("measure") ? bench_->measure_session() : session);
  }

  DeviceBench& bench() {
    if (!bench_) throw Error(ErrorCode::internal, "the device worker was asked to run before it was started");
    return *bench_;
  }

  Message run(const Message& request) {
    const DeviceResult result = bench().run(parse_code(request.at("code").get<std::string>()),
                                            kernel_from(request.at("kernel")), plan_from(request.at("plan")));
    return {{"result", to_message(result)}, {"usable", bench().usable()}};
  }

  Message race(const Message& request) {
    std::vector<std::pair<Tuning, CompiledKernel>> finalists;
    for (const Message& one : request.at("finalists")) {
      finalists.emplace_back(parse_code(one.at("code").get<std::string>()), kernel_from(one.at("kernel")));
    }
    Message results = Message::array();
    for (const DeviceResult& result : bench().race(finalists, request.at("rounds"))) {
      results.push_back(to_message(result));
    }
    return {{"results", std::move(results)}};
  }

  std::optional<Problem> problem_;
  WorkerOptions options_;
  DeviceFacts device_;
  std::unique_ptr<DeviceBench> bench_;
};

}  // namespace

int device_worker_main() {
  ParentLine parent;
  DeviceServer server;
  while (const std::optional<Message> request = parent.receive()) {
    try {
      parent.send(server.answer(*request));
    } catch (const Error& error) {
      parent.send(to_message(error));
    } catch (const std::exception& error) {
      parent.send(to_message(Error(ErrorCode::internal, fmt::format("the device worker failed: {}", error.what()))));
    }
  }
  return 0;
}

}  // namespace stencil_tune
