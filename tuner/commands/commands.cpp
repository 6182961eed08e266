#include "tuner/commands/command.hpp"

#include "tuner/workers/worker.hpp"

#include <array>

namespace stencil_tune {
namespace {

constexpr std::array<Command, 14> kCommands{{
    {"tune", "find the fastest kernel for a stencil and a grid (what runs when no verb is given)", run_tune},
    {"kernel", "find the fastest configuration of a CUDA kernel of your own", run_kernel},
    {"list", "winners found so far, a line each", run_list},
    {"show", "one winner in depth: parameters, evidence, its trials", run_show},
    {"report", "one winner as a page: how it was found, what limits it, its source", run_report},
    {"export", "the winner as a plain CUDA source file", run_export},
    {"bench", "copy ceiling, naive, textbook kernels and the winner side by side", run_bench},
    {"explain", "why a candidate is legal or not, and what it costs", run_explain},
    {"stencils", "stencils known by name, or what one of them is", run_stencils},
    {"devices", "GPUs of this machine, and models that predictions can be made for", run_devices},
    {"replay", "how good search strategies are on recorded search spaces", run_replay},
    {"db", "the database: path, check, prune, remove, merge, export, import", run_db},
    {"internal-compile-worker", "", run_compile_worker},
    {"internal-device-worker", "", run_device_worker},
}};

}  // namespace

std::span<const Command> commands() { return kCommands; }

int run_compile_worker(const Arguments&) { return compile_worker_main(); }
int run_device_worker(const Arguments&) { return device_worker_main(); }

}  // namespace stencil_tune
