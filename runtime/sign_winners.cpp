// A step of the build: signs the winners that ship, and says their stencils' forms. Where a template's text has changed
// since a winner was timed, its kernel is compiled; a winner whose machine code is the same gets today's signature, any
// other stays as it is, which is stale.
//
//   stencil_tune_sign_winners FILE OUTPUT     reads and writes the text of `stencil-tune db export`
#include "db/exchange.hpp"
#include "db/stored_code.hpp"
#include "generator/definition/corpus.hpp"
#include "runtime/compile/compiler.hpp"
#include "runtime/library/lookup/same_machine_code.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cstddef>
#include <exception>
#include <fstream>
#include <thread>
#include <vector>

namespace {

using namespace stencil_tune;

bool renew(TrialRecord& trial) {
  const auto stencil = known_stencil(trial.problem.stencil_name, trial.problem.stencil_key);
  return stencil && renew_signature(trial, problem_of(trial.problem, *stencil), open_nvrtc);
}

/// Returns how many of them it could renew.
int renew_all(const std::vector<TrialRecord*>& stale) {
  std::atomic<std::size_t> next = 0;
  std::atomic<int> renewed = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < stale.size(); i = next++) renewed += renew(*stale[i]) ? 1 : 0;
  };
  open_nvrtc();  // which throws here where there is none
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < std::thread::hardware_concurrency(); ++i) threads.emplace_back(work);
  threads.clear();
  return renewed;
}

void sign(const char* file, const char* output) {
  std::vector<WinnerRecord> winners = parse_winners(read_winners_file(file));
  std::vector<TrialRecord*> stale;
  for (WinnerRecord& winner : winners) {
    ProblemKey& problem = winner.trial.problem;
    const auto stencil = known_stencil(problem.stencil_name, problem.stencil_key);
    if (stencil) problem.form = stencil_form(*stencil, problem.stage);
    if (is_stale(winner.trial)) stale.push_back(&winner.trial);
  }
  if (!stale.empty()) {
    int renewed = 0;
    try {
      renewed = renew_all(stale);
    } catch (const Error& error) {
      fmt::print(stderr, "{}\n", error.what());
    }
    fmt::print(stderr, "{}: the templates of {} winners have changed; {} compile to the machine code that was timed\n",
               file, stale.size(), renewed);
  }
  std::ofstream written(output, std::ios::binary);
  written << format_winners(winners);
  if (!written.flush()) throw Error(ErrorCode::file_io, fmt::format("cannot write {}", output));
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) throw Error(ErrorCode::invalid_argument, "usage: stencil_tune_sign_winners FILE OUTPUT");
  sign(argv[1], argv[2]);
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
