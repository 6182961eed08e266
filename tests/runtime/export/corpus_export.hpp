// Exports of the corpus, and nvcc to compile them.
#pragma once

#include "generator/candidates/space.hpp"
#include "runtime/export/export.hpp"
#include "tests/runtime/library/corpus_cases.hpp"
#include "tests/runtime/temporary_folder.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

namespace stencil_tune {

/// One stage, or the whole step with NAME_advance, in one family as an exported file; nothing where the family does not
/// serve it.
inline std::optional<std::string> corpus_export(const std::string& name, int stage, const Family& family,
                                                bool with_main) {
  const Problem problem = corpus_problem(corpus(name), stage);
  const auto tuning = default_candidate(family, problem, limits_of_architecture("sm_90"));
  if (!tuning) return std::nullopt;
  const std::string part = stage == kWholeStep ? "step" : std::to_string(stage);
  const std::string launcher = name + "_" + part + "_" + std::string(family.name);
  return export_kernel(problem, *tuning, {.name = launcher, .with_main = with_main},
                       stage == kWholeStep ? tuning : std::nullopt)
      .source;
}

/// Parts of the corpus's stencil: the whole step, where that has several stages, then each of them.
inline std::vector<int> corpus_parts(const std::string& name) {
  const int stages = static_cast<int>(corpus(name).stages.size());
  std::vector<int> parts;
  if (stages > 1) parts.push_back(kWholeStep);
  for (int stage = 0; stage < stages; ++stage) parts.push_back(stage);
  return parts;
}

inline bool has_nvcc() { return std::system("nvcc --version > /dev/null 2>&1") == 0; }

/// What nvcc says about the source, warnings being errors; empty when it compiles.
inline std::string nvcc_complaints(const std::string& source, const std::string& architecture = "sm_90") {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "export.cu") << source;
  const std::string command = "cd " + folder.path().string() + " && nvcc -std=c++17 -arch=" + architecture +
                              " -Xcompiler -Wall,-Wextra -Werror all-warnings "
                              "-c export.cu -o export.o > log 2>&1";
  if (std::system(command.c_str()) == 0) return {};
  std::ifstream log(folder.path() / "log");
  const std::string complaints{std::istreambuf_iterator<char>(log), std::istreambuf_iterator<char>()};
  return complaints.empty() ? "nvcc failed and said nothing" : complaints;
}

}  // namespace stencil_tune
