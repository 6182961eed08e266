// Which database: --db, else STENCIL_TUNE_DB, else the XDG data folder.
#pragma once

#include "db/database.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace stencil_tune {

struct DatabaseLocation {
  std::filesystem::path path;
  std::string source;       ///< "--db", "STENCIL_TUNE_DB", "XDG_DATA_HOME" or "HOME"
  bool by_default = false;  ///< nobody named it: its folders may be made
};

/// `option` is what --db was given, empty without. Touches no file.
/// Throws Error(invalid_argument) when nothing says where, not even HOME.
DatabaseLocation locate_database(std::string_view option);

/// Whether no file is there. One that cannot be looked for (a name that is too long, a closed folder) is not missing:
/// opening it says why.
bool is_missing(const DatabaseLocation& location);

/// Locates and opens. Folders of the default path are made when writing; a path somebody named must have its folder.
Database open_database(std::string_view option, OpenOptions options);

}  // namespace stencil_tune
