// Candidates by their codes: parts of a session on a stencil's problem.
#pragma once

#include "generator/candidates/textbook/textbook.hpp"
#include "tuner/search/search.hpp"
#include "tuner/session/session.hpp"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace stencil_tune {

/// The same search, whose candidates are codes.
std::unique_ptr<SearchStrategy<std::string>> by_code(std::unique_ptr<Strategy> strategy);

std::vector<NamedCandidate> named_candidates(std::span<const Baseline> baselines);

std::vector<std::string> codes(std::span<const Tuning> tunings);

}  // namespace stencil_tune
