// --db, shared by all verbs that read or write the database.
#pragma once

#include "db/database.hpp"
#include "tuner/commands/program/command_line.hpp"

#include <optional>

namespace stencil_tune {

void add_database_option(CommandLine& line);

/// Opens what --db names, else the default, and tells on standard error what opening had to do (moved a damaged file
/// aside, say). Throws what open_database throws.
Database open_database_for(const po::variables_map& values, Access access);

/// The same for reading; nothing where --db names none and tuning has not made the file yet: winners that ship answer
/// all the same.
std::optional<Database> read_database(const po::variables_map& values);

}  // namespace stencil_tune
