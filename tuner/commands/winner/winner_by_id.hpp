// A winner by what `list` calls it, as `show`, `report` and `export` take it.
#pragma once

#include "db/winner_store.hpp"
#include "generator/stencil/problem.hpp"
#include "tuner/commands/program/command_line.hpp"

#include <string>
#include <string_view>

namespace stencil_tune {

/// Whether the id, which may be empty, is of the user's database. "s17" ships, "site17" is the site's.
bool needs_database(const std::string& id);

/// "17", "site17" of the site's, or "s17" of those that ship. No database: nothing was tuned here. Throws NoWinner.
WinnerRecord winner_by_id(Database* database, const std::string& id);

/// An id, the option "id", names one winner: what else says what was tuned, or on which GPU, would be passed over.
/// Where `definition` may be given, --stencil and --expr are no such options. Throws Error(invalid_argument).
void reject_more_than_id(const po::variables_map& values, std::string_view verb, bool definition);

/// The problem that the winner is of. Winners keep the names of definitions, not their text: it is a built-in stencil,
/// or what --stencil or --expr say. Throws Error(invalid_argument) where that is another stencil, or none is given.
Problem problem_of_winner(const ProblemKey& key, const std::string& id, const po::variables_map& values);

}  // namespace stencil_tune
