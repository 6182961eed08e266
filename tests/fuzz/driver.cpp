// Runs a fuzz target without libFuzzer, with the options of libFuzzer that the tests use:
//
//   TARGET [-runs=N] [-seed=N] FOLDER|FILE...
//
// Every file is an input, then N mutations of them are. The input that ended the program is left in fuzz-failure.
#include "tests/fuzz/mutator.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" void __sanitizer_set_death_callback(void (*)()) __attribute__((weak));  // there under a sanitizer

namespace stencil_tune {
namespace {

namespace fs = std::filesystem;

std::string current_input;

void leave_input() {
  std::ofstream("fuzz-failure", std::ios::binary) << current_input;
  std::fprintf(stderr, "the input is in %s\n", (fs::current_path() / "fuzz-failure").c_str());
}

/// A sanitizer reports these by itself.
void leave_input_of(int fault) {
  leave_input();
  std::signal(fault, SIG_DFL);
  std::raise(fault);
}

void leave_input_at_the_end() {
  std::signal(SIGABRT, [](int) { leave_input(); });
  if (__sanitizer_set_death_callback != nullptr) {
    __sanitizer_set_death_callback(leave_input);
    return;
  }
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) std::signal(fault, leave_input_of);
}

void run(std::string input) {
  current_input = std::move(input);
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(current_input.data()), current_input.size());
}

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// In an order that is the same everywhere.
std::vector<std::string> read_seeds(const std::vector<fs::path>& paths) {
  std::vector<fs::path> files;
  for (const fs::path& path : paths) {
    if (!fs::is_directory(path)) files.push_back(path);
    if (!fs::is_directory(path)) continue;
    for (const fs::directory_entry& entry : fs::directory_iterator(path)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> seeds;
  std::transform(files.begin(), files.end(), std::back_inserter(seeds), read);
  return seeds;
}

struct Options {
  std::uint64_t runs = 0;
  std::uint64_t seed = 1;
  std::vector<fs::path> seeds;
};

Options parse(int count, char** words) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    const auto value = [&] { return std::stoull(std::string(word.substr(word.find('=') + 1))); };
    if (word.starts_with("-runs=")) {
      options.runs = value();
    } else if (word.starts_with("-seed=")) {
      options.seed = value();
    } else if (!word.starts_with("-")) {
      options.seeds.emplace_back(word);
    }
  }
  return options;
}

}  // namespace
}  // namespace stencil_tune

int main(int count, char** words) {
  using namespace stencil_tune;
  leave_input_at_the_end();
  const Options options = parse(count, words);
  const std::vector<std::string> seeds = read_seeds(options.seeds);
  if (seeds.empty()) {
    std::fprintf(stderr, "no seeds: name a folder with inputs\n");
    return 2;
  }
  for (const std::string& seed : seeds) run(seed);
  Mutator mutator(options.seed);
  for (std::uint64_t i = 0; i < options.runs; ++i) {
    const std::string& text = seeds[mutator.below(seeds.size())];
    run(mutator.mutate(text, seeds[mutator.below(seeds.size())]));
  }
  std::fprintf(stderr, "%zu seeds and %llu mutations, no harm\n", seeds.size(),
               static_cast<unsigned long long>(options.runs));
}
