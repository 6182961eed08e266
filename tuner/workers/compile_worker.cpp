// The compile worker process: one candidate after the other, until its parent closes the line.
#include "runtime/compile/caching_compiler.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/workers/protocol.hpp"
#include "tuner/workers/wire.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <fstream>
#include <new>
#include <optional>

#include <sys/resource.h>
#include <unistd.h>

namespace stencil_tune {
namespace {

/// Beyond what the worker holds when it begins. The largest kernels of the corpus took 0.5 GB; a runaway is stopped
/// before it takes the machine's memory from others.
constexpr rlim_t kMemoryGiB = 4;

void limit_memory() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlimit limit{};
  ::getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = std::min(limit.rlim_max, pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + (kMemoryGiB << 30));
  ::setrlimit(RLIMIT_AS, &limit);
}

CompileResult compile(Compiler& compiler, const Problem& problem, const std::string& architecture,
                      const Tuning& tuning) {
  CompileResult result;
  result.tuning = tuning;
  try {
    result.kernel = compiler.compile(generate({problem, tuning}), architecture);
  } catch (const std::bad_alloc&) {
    result.outcome = Outcome::compile_failed;
    result.message = fmt::format("compiling it takes more than {} GiB of memory", kMemoryGiB);
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
    limit_memory();
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
