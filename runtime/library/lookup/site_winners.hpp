// Winners that a site's users share: a database in a folder that all reach, which is only read.
#pragma once

#include "db/database.hpp"
#include "db/winner_store.hpp"

#include <filesystem>
#include <optional>
#include <vector>

namespace stencil_tune {

/// `option`, else STENCIL_TUNE_SITE_DB; nothing where neither names one. Throws what Database::open throws: a site's
/// database that is named has to be there.
std::optional<Database> open_site_database(const std::filesystem::path& option = {});

/// Winners of the site's database, marked as such (kSiteSession). Null: none.
std::vector<WinnerRecord> site_winners(Database* site, const WinnerQuery& query = {});

/// Winners like the query in all layers: those of the user's database (null: none) over the site's (layered()). Those
/// that ship lie beneath both, of the query's stencil or form. `site`: the site's database, which the short form opens.
std::vector<WinnerRecord> winners_of_all_layers(Database* database, const WinnerQuery& query, Database* site);
std::vector<WinnerRecord> winners_of_all_layers(Database* database, const WinnerQuery& query);

}  // namespace stencil_tune
