// The stored winner of a problem, as `show` and `export` ask for it.
#pragma once

#include "db/winner_store.hpp"
#include "runtime/library/lookup/lookup.hpp"

#include <optional>
#include <string>

namespace stencil_tune {

/// The GPU model that a command without one is about: the first GPU's here, else the one that is predicted for.
std::string gpu_meant();

/// The winner of the same problem; on `gpu` where it is given. A measured one goes before a predicted one, a fresh one
/// before a stale one; what was tuned here before the site's, and that before what ships with the library. Without
/// `gpu` it is one on the first GPU here or, where there is none, on the model that is predicted for. No database:
/// nothing was tuned here. A winner that cannot run (db/stored_code.hpp) is passed over, which standard error says.
/// Throws NoWinner when there is none, saying how to get one.
WinnerRecord winner_of_problem(Database* database, const Problem& problem, const std::optional<std::string>& gpu,
                               Objective objective);

/// The measured winner of the problem on that GPU model, of any layer; nothing where there is none.
std::optional<WinnerRecord> measured_winner(Database& database, const Problem& problem, const std::string& gpu);

/// The one that the site's database has, else the one that ships.
std::optional<WinnerRecord> measured_elsewhere(const Problem& problem, const std::string& gpu);

/// What `list` calls it and `show` takes: "17", "site17" of the site's, or "s17" of those that ship.
std::string winner_id(const TrialRecord& winner);

/// What is known best for single steps of the problem's run, on this grid or the nearest one: tuned here, the site's,
/// or shipped with the library. Nothing where no winner of one sweep serves.
std::optional<Choice> kernel_of_one_sweep(Database& database, Problem problem, const PlatformKey& platform,
                                          const Limits& limits);

}  // namespace stencil_tune
