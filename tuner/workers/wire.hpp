// The values that cross between the session and its workers, to and from messages.
#pragma once

#include "stencil_tune/error.hpp"
#include "tuner/workers/protocol.hpp"
#include "tuner/workers/worker.hpp"

namespace stencil_tune {

Message to_message(const Problem& problem);
Message to_message(const WorkerOptions& options);
Message to_message(const CompiledKernel& kernel);
Message to_message(const CompileResult& result);
Message to_message(const MeasurePlan& plan);
Message to_message(const DeviceFacts& facts);
Message to_message(const DeviceSession& session);
Message to_message(const DeviceResult& result);

/// Throw nlohmann::json::exception for a message of another shape.
Problem problem_from(const Message& message);
WorkerOptions options_from(const Message& message);
CompiledKernel kernel_from(const Message& message);
CompileResult compile_result_from(const Message& message);
MeasurePlan plan_from(const Message& message);
DeviceFacts facts_from(const Message& message);
DeviceSession session_from(const Message& message);
DeviceResult device_result_from(const Message& message);

/// An Error as a message {"error": code, "message": text}, and back: throws it if the message is one.
Message to_message(const Error& error);
void throw_if_error(const Message& message);

}  // namespace stencil_tune
