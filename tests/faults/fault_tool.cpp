// What the suites of tests/faults need and the program itself never does:
//
//   fault_tool row DATABASE COLUMN HEX      an ok, raced trial whose text COLUMN holds these bytes, with its checksum
//                                           where the program could have stored them
//   fault_tool kin DATABASE                 a prediction, and winners that only sizes or the objective tell apart
//   fault_tool library                      what calls of the library make of the environment where there is no GPU: a
//                                           kernel by name, a tuner that is started; errors are as good as results
//   fault_tool fill DATABASE COUNT          so many raced trials of so many problems, in one transaction
//   fault_tool cache FOLDER COUNT SEED      so many entries of the binary cache, each changed and asked for; prints how
//                                           many were served wrong, and how many were served at all
#include "db/file/statement.hpp"
#include "db/merge.hpp"
#include "db/rows/fields.hpp"
#include "db/trial_store.hpp"
#include "generator/stencil/problem.hpp"
#include "runtime/compile/binary_cache.hpp"
#include "runtime/compile/compiler.hpp"
#include "runtime/library/lookup/tuning_job.hpp"
#include "stencil_tune/library.hpp"
#include "tests/db/testing.hpp"

#include <fmt/format.h>

#include <random>

namespace stencil_tune {
namespace {

constexpr int kTrialsOfAProblem = 100;

std::string bytes_of(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

TrialRecord a_kernel_trial(const std::string& sizes, double rate) {
  TrialRecord trial = a_trial("direct.bx32.by4.bz1.rx1.ry1.rz1.v1", rate);
  trial.code = "BLOCK=64,ITEMS=2";
  trial.platform.template_signature.clear();
  trial.problem.kind = SubjectKind::kernel;
  trial.problem.stencil_name = "saxpy";
  trial.problem.extents = {1, {1, 1, 1}};
  trial.problem.pitch = 1;
  trial.problem.sizes = sizes;
  trial.problem.unit = "GB/s";
  return trial;
}

/// What no program of ours stores stands in the row behind its back.
void store_refused_row(const std::filesystem::path& path, std::string_view column, const std::string& text) {
  Database database = Database::open(path);
  const auto stored = TrialStore(database).insert(a_trial("direct.bx32.by4.bz1.rx1.ry1.rz1.v1", 400));
  Statement(database.handle(), fmt::format("UPDATE trials SET {} = ? WHERE id = ?", column), "change a row")
      .bind(std::string_view(text))
      .bind(stored.id)
      .step();
}

void store_row(const std::filesystem::path& path, std::string_view column, const std::string& text) {
  if (column == "objective" || column == "kind") return store_refused_row(path, column, text);
  const bool of_kernels = column == "sizes" || column == "unit";
  TrialRecord trial = of_kernels ? a_kernel_trial("n=4096", 400) : a_trial("direct.bx32.by4.bz1.rx1.ry1.rz1.v1", 400);
  if (column == "message") trial = a_failure("direct.bx64.by4.bz1.rx1.ry1.rz1.v1", Outcome::compile_failed);
  visit_trial(trial, [&](std::string_view field, auto& value) {
    if constexpr (std::is_same_v<decltype(value), std::string&>) value = field == column ? text : value;
  });
  Database database = Database::open(path);
  TrialStore(database).insert(trial);
}

void store_kin(const std::filesystem::path& path) {
  Database database = Database::open(path);
  TrialStore store(database);
  for (const char* sizes : {"n=4096", "n=8192"}) store.insert(a_kernel_trial(sizes, 300));
  for (const Objective objective : kObjectives) {
    TrialRecord trial = a_trial(fmt::format("best by {}", name(objective)), 500);
    trial.problem.steps = 10;
    trial.objective = objective;
    trial.sustained_rate = 480;
    trial.nanojoules = 1.5;
    store.insert(trial);
  }
  TrialRecord prediction = a_trial("predicted", 450);
  prediction.problem.steps = 20;
  prediction.predicted = true;
  prediction.platform.driver.clear();
  prediction.platform.model = "a model";
  store.insert(prediction);
}

void fill(const std::filesystem::path& path, int count) {
  std::vector<WinnerRecord> winners;
  for (int i = 0; i < count; ++i) {
    TrialRecord trial = a_trial(fmt::format("candidate{}", i % kTrialsOfAProblem), 100 + i % kTrialsOfAProblem);
    trial.problem.extents.n[0] = 64 + i / kTrialsOfAProblem;
    trial.problem.pitch = trial.problem.extents.n[0];
    winners.push_back({trial, 0, 0});
  }
  Database database = Database::open(path);
  merge_winners(database, winners);
}

template <class Call>
void attempt(const Call& call) {
  try {
    call();
  } catch (const Error&) {
  }
}

void use_library() {
  attempt([] { Library().kernel("saxpy"); });
  const Problem problem = make_problem(make_builtin(Shape::star, 1, 1), ElementType::f32, {}, {1, {64, 1, 1}});
  attempt([&] { run_tuner({.program = tuner_program(), .seconds = 1, .database = "t.db"}, {"0", {problem}}); });
  attempt([] { open_nvrtc(); });
}

/// One to eight bits flipped, or the end cut off.
std::string changed(std::string bytes, std::mt19937_64& random) {
  if (random() % 4 == 0) return bytes.substr(0, random() % bytes.size());
  for (std::uint64_t left = 1 + random() % 8; left > 0; --left) {
    char& byte = bytes[random() % bytes.size()];
    byte = static_cast<char>(byte ^ static_cast<char>(1 << random() % 8));
  }
  return bytes;
}

void damage_cache(const std::filesystem::path& folder, int count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const BinaryCache cache(folder);
  int wrong = 0, served = 0;
  for (int i = 0; i < count; ++i) {
    const std::string source = fmt::format("source {}", i);
    const BinaryKey key{source, "kernel", false, "signature", "-O3", "sm_90", "13.0"};
    CompiledKernel kernel;
    kernel.entry = "kernel";
    kernel.cubin.resize(500 + random() % 20000);
    for (std::byte& byte : kernel.cubin) byte = static_cast<std::byte>(random());
    kernel.resources = {.registers = 40, .spill_bytes = 8, .stack_bytes = 16, .static_shared = 256};
    cache.store(key, kernel);
    const auto path = folder / (key.digest() + ".kernel");
    const std::string whole = read_file(path);
    const std::string bytes = changed(whole, random);
    write_file(path, bytes);
    const auto loaded = cache.load(key);
    if (!loaded) continue;
    served += bytes == whole ? 0 : 1;  // a bit flipped twice is no change
    wrong +=
        loaded->cubin == kernel.cubin && loaded->entry == kernel.entry && loaded->resources == kernel.resources ? 0 : 1;
  }
  fmt::print("{} {}\n", wrong, served);
}

int run(const std::vector<std::string>& words) {
  if (words.size() == 4 && words[0] == "row") {
    store_row(words[1], words[2], bytes_of(words[3]));
  } else if (words.size() == 2 && words[0] == "kin") {
    store_kin(words[1]);
  } else if (words.size() == 1 && words[0] == "library") {
    use_library();
  } else if (words.size() == 3 && words[0] == "fill") {
    fill(words[1], std::stoi(words[2]));
  } else if (words.size() == 4 && words[0] == "cache") {
    damage_cache(words[1], std::stoi(words[2]), std::stoull(words[3]));
  } else {
    fmt::print(stderr,
               "fault_tool row DATABASE COLUMN HEX | kin DATABASE | fill DATABASE COUNT | "
               "cache FOLDER COUNT SEED\n");
    return 2;
  }
  return 0;
}

}  // namespace
}  // namespace stencil_tune

int main(int count, char** words) {
  try {
    return stencil_tune::run({words + 1, words + count});
  } catch (const std::exception& error) {
    fmt::print(stderr, "fault_tool: {}\n", error.what());
    return 1;
  }
}
