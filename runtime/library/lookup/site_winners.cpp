#include "runtime/library/lookup/site_winners.hpp"

#include "runtime/library/lookup/lookup.hpp"
#include "runtime/library/lookup/pretuned.hpp"

#include <cstdlib>
#include <utility>

namespace stencil_tune {

std::optional<Database> open_site_database(const std::filesystem::path& option) {
  const char* named = std::getenv("STENCIL_TUNE_SITE_DB");
  const std::filesystem::path path = option.empty() && named != nullptr ? std::filesystem::path(named) : option;
  if (path.empty()) return std::nullopt;
  return Database::open(path, {.access = Access::read});
}

std::vector<WinnerRecord> site_winners(Database* site, const WinnerQuery& query) {
  if (site == nullptr) return {};
  std::vector<WinnerRecord> winners = WinnerStore(*site).list(query);
  for (WinnerRecord& winner : winners) winner.trial.session = kSiteSession;
  return winners;
}

std::vector<WinnerRecord> winners_of_all_layers(Database* database, const WinnerQuery& query, Database* site) {
  auto own = database != nullptr ? WinnerStore(*database).list(query) : std::vector<WinnerRecord>();
  return with_pretuned(layered(std::move(own), site_winners(site, query)), query);
}

std::vector<WinnerRecord> winners_of_all_layers(Database* database, const WinnerQuery& query) {
  auto site = open_site_database();
  return winners_of_all_layers(database, query, site ? &*site : nullptr);
}

}  // namespace stencil_tune
