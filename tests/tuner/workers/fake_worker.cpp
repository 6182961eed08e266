// A worker that does what its first argument says when it gets a job: the faults that the session must survive.
#include "stencil_tune/error.hpp"
#include "tuner/workers/protocol.hpp"
#include "tuner/workers/wire.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#include <unistd.h>

namespace {

using namespace stencil_tune;

[[noreturn]] void hang() {
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

/// What a candidate's code asks this worker to do, by its block size in x.
void misbehave(int block_x) {
  if (block_x == 11) {
    std::fputs("about to crash\n", stderr);
    std::signal(SIGSEGV, SIG_DFL);
    std::raise(SIGSEGV);
  }
  if (block_x == 13) hang();
  if (block_x == 17) std::_Exit(3);
  if (block_x == 19) {
    const char garbage[] = "this is not the protocol at all";
    if (::write(STDIN_FILENO, garbage, sizeof garbage) < 0) std::_Exit(4);  // one socket both ways
    hang();
  }
}

int compile() {
  ParentLine parent;
  const auto opening = parent.receive();
  if (opening->contains("missing")) {
    parent.send(to_message(Error(ErrorCode::missing_library, "NVRTC was not found")));
    return 1;
  }
  parent.send({{"ready", "0.0"}});
  while (const auto job = parent.receive()) {
    CompileResult result;
    result.code = job->at("candidate");
    const int block_x = parse_code(result.code).block_x;
    misbehave(block_x);
    result.kernel.cubin.assign(200000, std::byte{7});  // more than a socket holds at once
    result.kernel.resources.registers = block_x;
    parent.send(result);
  }
  return 0;
}

/// Its first kernel takes a GiB, the others next to nothing.
class GreedyCompiler : public Compiler {
 public:
  CompiledKernel compile(const KernelSource&, std::string_view) override {
    if (compiled_++ == 0) greed_.resize(std::size_t{1} << 30);
    return {};
  }
  std::string version() const override { return "0.0"; }

 private:
  int compiled_ = 0;
  std::vector<char> greed_;
};

Message judge(const Message& request) {
  const Tuning tuning = parse_code(request.at("candidate").get<std::string>());
  misbehave(tuning.block_x);
  DeviceResult result;
  result.timing = {1.0 * tuning.block_x, 0.9, 1.1, 11};
  if (tuning.block_x == 23) result.outcome = Outcome::launch_failed;
  return {{"result", result}, {"usable", tuning.block_x != 23}};
}

Message judge_raced(const Message& finalist, bool under_load) {
  const int block_x = parse_code(finalist.at("candidate").get<std::string>()).block_x;
  if (block_x == 29) std::_Exit(3);                // right alone
  if (block_x == 31 && under_load) std::_Exit(3);  // right in bursts
  Message result = judge(finalist).at("result");
  result["raced"] = true;
  if (under_load) result["sustained_ms"] = 2.0 * block_x;
  return result;
}

/// Counts its starts in the file it is told, and fails to open from start number `last` on.
int device(const std::string& count_file, int last) {
  int starts = 0;
  std::ifstream(count_file) >> starts;
  std::ofstream(count_file) << ++starts;
  ParentLine parent;
  bool start_hangs = false;
  while (const auto request = parent.receive()) {
    const std::string verb = request->at("verb");
    if (verb == "open") start_hangs = request->contains("start_hangs");
    if (verb == "start" && start_hangs) hang();
    if (verb == "open" && starts > last) parent.send(to_message(Error(ErrorCode::no_device, "no GPU")));
    if (verb == "open" && starts <= last) {
      DeviceFacts facts;
      facts.uuid = "GPU-fake";
      parent.send(facts);
    }
    if (verb == "start") {
      DeviceSession session;
      session.ceiling_gbs = request->at("measure") ? 100 : 0;
      parent.send(session);
    }
    if (verb == "run") parent.send(judge(*request));
    if (verb == "race") {
      Message results = Message::array();
      const int under_load = request->at("plan").get<RacePlan>().under_load;
      for (const Message& one : request->at("finalists")) {
        results.push_back(judge_raced(one, static_cast<int>(results.size()) < under_load));
      }
      parent.send({{"results", results}});
    }
  }
  return 0;
}

int echo() {
  ParentLine parent;
  std::puts("what a library prints goes to standard error");
  while (const auto message = parent.receive()) parent.send(*message);
  return 0;
}

/// Says that it lives, then does not look at its line any more.
int cling(int descriptor) {
  const ParentLine parent;
  if (::write(descriptor, "alive", 5) != 5) return 4;
  hang();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string role = argc > 1 ? argv[1] : "";
  if (role == "echo") return echo();
  if (role == "compile") return compile();
  if (role == "compile greedily") return compile_worker_main([] { return std::make_unique<GreedyCompiler>(); });
  if (role == "device") return device(argv[2], std::atoi(argv[3]));
  if (role == "hang") hang();
  if (role == "cling") return cling(std::atoi(argv[2]));
  return 2;
}
