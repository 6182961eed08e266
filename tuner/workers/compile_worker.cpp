// The compile worker process: one candidate after the other, until its parent closes the line.
#include "runtime/compile/caching_compiler.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/workers/protocol.hpp"
#include "tuner/workers/wire.hpp"

#include <exception>
#include <optional>

namespace stencil_tune {
namespace {

CompileResult compile(Compiler& compiler, const Problem& problem, const std::string& architecture,
                      const Tuning& tuning) {
  CompileResult result;
  result.tuning = tuning;
  try {
    result.kernel = compiler.compile(generate({problem, tuning}), architecture);
  } catch (const std::exception& error) {
    result.outcome = Outcome::compile_failed;
    result.message = error.what();
  }
  return result;
}

}  // namespace

int compile_worker_main() {
  ParentLine parent;
  try {
    const std::optional<Message> opening = parent.receive();
    if (!opening) return 0;
    const auto problem = opening->at("problem").get<Problem>();
    const std::string architecture = opening->at("options").get<WorkerOptions>().architecture;
    const std::unique_ptr<Compiler> compiler = open_cached_nvrtc();
    parent.send({{"ready", compiler->version()}});
    while (const std::optional<Message> job = parent.receive()) {
      parent.send(compile(*compiler, problem, architecture, job->at("tuning").get<Tuning>()));
    }
    return 0;
  } catch (const Error& error) {
    parent.send(to_message(error));
  } catch (const std::exception& error) {
    parent.send(to_message(Error(ErrorCode::internal, error.what())));
  }
  return 1;
}

}  // namespace stencil_tune
