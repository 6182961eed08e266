#include "generator/definition.hpp"
#include "generator/source.hpp"
#include "generator/space.hpp"
#include "tests/generator/hostile_definitions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>

namespace stencil_tune {
namespace {

namespace fs = std::filesystem;

TEST(HostileDefinitions, AreRejectedOrHarmless) {
  const std::vector<std::string> definitions = hostile_definitions();
  ASSERT_GE(definitions.size(), 200u);
  std::size_t rejected = 0;
  for (const std::string& definition : definitions) rejected += accepts_harmlessly(definition) ? 0 : 1;
  // Some pieces are legal in some places: "9999.." in a name, say. Most are legal nowhere.
  EXPECT_GT(rejected, definitions.size() * 9 / 10);
}

TEST(HostileDefinitions, AreRejectedOrHarmlessAsOneLiners) {
  for (const std::string& piece : hostile_pieces()) {
    for (int rank = 1; rank <= 3; ++rank) {
      accepts_expression_harmlessly(piece, rank);
      accepts_expression_harmlessly("v = u + " + piece + "; a = 1", rank);
    }
  }
}

TEST(HostileDefinitions, NothingButExpressionsIsTaken) {
  for (const std::string piece :
       {"u // comment", "u /* c */", "u; } int f() {", "#include <x>", "__asm(\"x\")", "threadIdx.x", "u ? u : u",
        "u++", "nan*u", "1e999*u", "u\n#define u v", "u ?\?/\n"}) {
    EXPECT_FALSE(accepts_harmlessly("rank = 1\nfields = [\"u\", \"v\"]\n[update]\nv = '''" + piece + "'''\n")) << piece;
  }
}

TEST(HostileDefinitions, NoNameReachesTheKernelSource) {
  const Stencil stencil = parse_definition(R"(
name = "injected-name"
rank = 2
description = "injected description"
fields = ["injected_in", "injected_out"]
[coefficients]
injected_weight = 0.5   # injected comment
[let]
injected_sum = "injected_in[x-1] + injected_in[x+1]"
[update]
injected_out = "injected_weight * injected_sum"
)",
                                           "injected.toml");
  const Boundaries hold{Boundary::hold, Boundary::hold, Boundary::hold};
  const Problem problem = make_problem(stencil, ElementType::f32, hold, {2, {64, 64, 1}});
  for (const Family family : families()) {
    const std::optional<Tuning> tuning = default_candidate(family, problem, Limits{});
    ASSERT_TRUE(tuning) << name(family);
    const std::string text = generate(problem, *tuning).text;
    EXPECT_FALSE(text.empty());
    EXPECT_EQ(text.find("injected"), std::string::npos) << name(family);
  }
}

// ---- a bounded fuzzer: the corpus, mutated; the same inputs on every machine

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<std::string> seeds() {
  std::vector<fs::path> paths;
  for (const fs::directory_entry& entry : fs::directory_iterator("corpus")) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> all;
  for (const fs::path& path : paths) all.push_back(read(path));
  return all;
}

class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random_() % bound); }

  std::string mutate(std::string text, const std::string& other) {
    for (std::size_t i = 1 + below(6); i > 0; --i) change(text, other);
    return text;
  }

 private:
  void change(std::string& text, const std::string& other) {
    static const std::array<std::string, 16> words{"(",  ")",          "[",  "]",       "\"", "\"\"\"",
                                                   "^2", "laplacian(", "u",  "1e999",   "\n", "[[stage]]\n",
                                                   "= ", "-",          "\\", "\xc3\xa9"};
    if (text.empty()) text = "u";
    const std::size_t at = below(text.size());
    const std::size_t length = 1 + below(std::min<std::size_t>(20, text.size() - at));
    switch (below(6)) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text[at] = static_cast<char>(below(256));
        break;
      case 2:
        text.insert(at, words[below(words.size())]);
        break;
      case 3:
        text.insert(at, text.substr(at, length));
        break;
      case 4:
        text.replace(at, length, words[below(words.size())]);
        break;
      default:
        text.insert(at, other.substr(below(other.size()), 1 + below(30)));
        break;
    }
  }

  std::mt19937_64 random_;
};

TEST(DefinitionFuzz, MutatedCorpusIsRejectedOrHarmless) {
  const std::vector<std::string> corpus = seeds();
  ASSERT_GE(corpus.size(), 20u);
  Mutator mutator(5);
  std::size_t accepted = 0;
  constexpr std::size_t kInputs = 4000;
  for (std::size_t i = 0; i < kInputs; ++i) {
    const std::string& text = corpus[mutator.below(corpus.size())];
    accepted += accepts_harmlessly(mutator.mutate(text, corpus[mutator.below(corpus.size())])) ? 1 : 0;
  }
  EXPECT_GT(accepted, kInputs / 20) << "mutations that never pass do not reach past the first line";
  EXPECT_LT(accepted, kInputs);
}

TEST(DefinitionFuzz, MutatedOneLinersAreRejectedOrHarmless) {
  const std::array<std::string, 4> expressions{"u_next = u + alpha * laplacian(u, accuracy=4); alpha = 0.1",
                                               "select(u[x-1] < v && !w, min(u, v), sqrt(abs(u)))^2",
                                               "a = d_x_forward(k*d_x_backward(u)); b = exp(-u/2) >= 1",
                                               "0.25*(u[x-1] + u[x+1] + u[-1] + u[1])"};
  Mutator mutator(6);
  for (int i = 0; i < 20000; ++i) {
    const std::string& text = expressions[mutator.below(expressions.size())];
    accepts_expression_harmlessly(mutator.mutate(text, expressions[mutator.below(expressions.size())]), 1 + i % 3);
  }
}

}  // namespace
}  // namespace stencil_tune
