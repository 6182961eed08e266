// What `tune` says beneath its table: how the search went, what the rates rest on, where all is stored.
#pragma once

#include "db/database.hpp"
#include "tuner/session/assembly.hpp"
#include "tuner/session/final_table.hpp"

#include <string>
#include <vector>

namespace stencil_tune {

/// How many trials were made, why no more, and what failed.
std::string search_note(const SessionResult& result);

/// What took much of the session beside trials; empty where nothing did.
std::string getting_ready_note(const SessionResult& result);

/// A line each.
std::vector<std::string> tuning_notes(const Problem& problem, const TuningOutcome& outcome, const Target& target,
                                      const TuningSettings& settings, Database& database, const Report& report);

}  // namespace stencil_tune
