// Every stage of every stencil of the corpus, for the tests that take each of them the whole way.
#pragma once

#include "generator/stencil/problem.hpp"
#include "tests/generator/corpus.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace stencil_tune {

/// Names of the files of corpus/, sorted.
inline std::vector<std::string> corpus_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator("corpus")) names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

inline Extents corpus_extents(int rank) { return {rank, {128, rank > 1 ? 64 : 1, rank > 2 ? 32 : 1}}; }

/// One stage in the definition's own element type, boundary hold.
inline Problem corpus_problem(const Stencil& stencil, int stage) {
  return make_problem(stencil, stencil.element.value_or(ElementType::f32), Boundaries{}, corpus_extents(stencil.rank),
                      0, 1, stage);
}

}  // namespace stencil_tune
