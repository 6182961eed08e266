#include "tuner/commands/winner/winner_by_id.hpp"

#include "db/stored_code.hpp"
#include "generator/definition/corpus.hpp"
#include "generator/definition/definition.hpp"
#include "runtime/library/lookup/pretuned.hpp"
#include "runtime/library/lookup/site_winners.hpp"
#include "stencil_tune/error.hpp"
#include "stencil_tune/library.hpp"
#include "tuner/commands/options/problem_options.hpp"
#include "tuner/commands/winner/no_winner.hpp"
#include "tuner/commands/winner/winner_lookup.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

namespace stencil_tune {
namespace {

std::optional<Stencil> named_stencil(const po::variables_map& values, int rank) {
  if (values.count("stencil") > 0) return load_stencil(values["stencil"].as<std::string>());
  if (values.count("expr") > 0) return parse_stencil(values["expr"].as<std::string>(), rank);
  return std::nullopt;
}

}  // namespace

bool needs_database(const std::string& id) { return !id.starts_with('s'); }

WinnerRecord winner_by_id(Database* database, const std::string& id) {
  std::vector<WinnerRecord> winners = shipped_winners();
  if (database != nullptr) {
    const auto tuned = WinnerStore(*database).list();
    winners.insert(winners.end(), tuned.begin(), tuned.end());
  }
  auto site = open_site_database();
  const auto shared = site_winners(site ? &*site : nullptr);
  winners.insert(winners.end(), shared.begin(), shared.end());
  for (const WinnerRecord& winner : winners) {
    if (winner_id(winner.trial) == id) return winner;
  }
  throw NoWinner(
      fmt::format("no winner '{}': give an id of `stencil-tune list`, or --dims and what else was tuned", id));
}

void reject_more_than_id(const po::variables_map& values, std::string_view verb, bool definition) {
  po::variables_map others = values;
  if (definition) {
    others.erase("stencil");
    others.erase("expr");
  }
  auto option = given_problem_option(others);
  for (const char* choice : {"gpu", "objective"}) {
    if (!option && values.count(choice) > 0) option = choice;
  }
  if (!option) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{} {} --{}: give an id of `stencil-tune list`, or --dims and what else was tuned, not both",
                          verb, values["id"].as<std::vector<std::string>>().front(), *option));
}

Problem problem_of_winner(const ProblemKey& key, const std::string& id, const po::variables_map& values) {
  if (key.kind == SubjectKind::kernel) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("winner {} is of {}, a kernel of your own: `stencil-tune kernel FILE` and `stencil-tune show "
                    "{}` say what is known of it",
                    id, key.stencil_name, id));
  }
  std::optional<Stencil> stencil = named_stencil(values, key.extents.rank);
  if (stencil && stencil_key(*stencil) != key.stencil_key) {
    throw Error(ErrorCode::invalid_argument, fmt::format("winner {} is of {}, which computes something else than {}",
                                                         id, key.stencil_name, stencil->name));
  }
  if (!stencil) stencil = known_stencil(key.stencil_name, key.stencil_key);
  if (!stencil) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("winner {} is of {}, of which only the name is stored: add --stencil and its definition "
                            "file",
                            id, key.stencil_name));
  }
  return problem_of(key, *std::move(stencil));
}

}  // namespace stencil_tune
