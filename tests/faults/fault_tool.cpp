// What the suites of tests/faults need and the program itself never does:
//
//   fault_tool row DATABASE COLUMN HEX      an ok, raced trial whose text COLUMN holds these bytes, and its checksum
//   fault_tool fill DATABASE COUNT          so many raced trials of so many problems, in one transaction
//   fault_tool cache FOLDER COUNT SEED      so many entries of the binary cache, each changed and asked for; prints how
//                                           many were served wrong, and how many were served at all
#include "db/merge.hpp"
#include "db/rows/fields.hpp"
#include "db/trial_store.hpp"
#include "runtime/compile/binary_cache.hpp"
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

void store_row(const std::filesystem::path& path, std::string_view column, const std::string& text) {
  TrialRecord trial = a_trial("direct.bx32.by4.bz1.rx1.ry1.rz1.v1", 400);
  if (column == "message") trial = a_failure("direct.bx64.by4.bz1.rx1.ry1.rz1.v1", Outcome::compile_failed);
  visit_trial(trial, [&](std::string_view field, auto& value) {
    if constexpr (std::is_same_v<decltype(value), std::string&>) value = field == column ? text : value;
  });
  Database database = Database::open(path);
  TrialStore(database).insert(trial);
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
  } else if (words.size() == 3 && words[0] == "fill") {
    fill(words[1], std::stoi(words[2]));
  } else if (words.size() == 4 && words[0] == "cache") {
    damage_cache(words[1], std::stoi(words[2]), std::stoull(words[3]));
  } else {
    fmt::print(stderr, "fault_tool row DATABASE COLUMN HEX | fill DATABASE COUNT | cache FOLDER COUNT SEED\n");
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
