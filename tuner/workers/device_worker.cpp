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
    subject_ = read_subject(request.at("subject"));
    options_ = request.at("options").get<WorkerOptions>();
    device_ = find_device(options_.device);
    return device_;
  }

  Message start(const Message& request) {
    if (!subject_) throw Error(ErrorCode::internal, "the device worker was asked to start before it was opened");
    bench_ =
        std::make_unique<DeviceBench>(cuda_driver(), device_, *subject_, options_.seed, open_sensors(device_.uuid));
    DeviceSession session;
    session.device = device_;
    return request.at("measure") ? bench_->measure_session() : session;
  }

  DeviceBench& bench() {
    if (!bench_) throw Error(ErrorCode::internal, "the device worker was asked to run before it was started");
    return *bench_;
  }

  Message run(const Message& request) {
    const DeviceResult result = bench().run(request.at("candidate"), request.at("kernel").get<CompiledKernel>(),
                                            request.at("plan").get<MeasurePlan>());
    return {{"result", result}, {"usable", bench().usable()}};
  }

  Message race(const Message& request) {
    std::vector<CodedKernel> finalists;
    for (const Message& one : request.at("finalists")) {
      finalists.emplace_back(one.at("candidate"), one.at("kernel").get<CompiledKernel>());
    }
    return {{"results", bench().race(finalists, request.at("plan").get<RacePlan>())}};
  }

  std::unique_ptr<Subject> subject_;
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
