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

/// So many more than the worker holds now.
void limit_memory(std::uint64_t bytes) {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlimit limit{};
  ::getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + bytes);
  ::setrlimit(RLIMIT_AS, &limit);
}

CompileResult compile(Compiler& compiler, const Subject& subject, const WorkerOptions& options,
                      const std::string& code) {
  CompileResult result;
  result.code = code;
  try {
    result.kernel = compiler.compile(subject.source(code), options.architecture);
  } catch (const std::bad_alloc&) {
    result.outcome = Outcome::compile_failed;
    result.message = fmt::format("compiling it takes more than {:.3g} GiB of memory",
                                 static_cast<double>(options.compile_memory_bytes) / (1 << 30));
  } catch (const std::exception& error) {
    result.outcome = Outcome::compile_failed;
    result.message = error.what();
  }
  return result;
}

}  // namespace

int compile_worker_main() {
  return compile_worker_main([] { return open_cached_nvrtc(); });
}

int compile_worker_main(const std::function<std::unique_ptr<Compiler>()>& open_compiler) {
  ParentLine parent;
  try {
    const std::optional<Message> opening = parent.receive();
    if (!opening) return 0;
    const std::unique_ptr<Subject> subject = read_subject(opening->at("subject"));
    const auto options = opening->at("options").get<WorkerOptions>();
    const std::unique_ptr<Compiler> compiler = open_compiler();
    limit_memory(options.compile_memory_bytes);
    parent.send({{"ready", compiler->version()}});
    while (const std::optional<Message> job = parent.receive()) {
      parent.send(compile(*compiler, *subject, options, job->at("candidate")));
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
