// Winners that ship with the library: db/pretuned/*.json, the text of `stencil-tune db export`.
#pragma once

#include "db/records.hpp"
#include "db/winner_store.hpp"
#include "generator/kernel_source/source.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stencil_tune {

/// The texts, embedded.
std::span<const TemplateFile> pretuned_files();

/// `upper`, and of `lower` those that `upper` does not speak for: by a winner of the same problem on the same GPU model
/// that was measured, can be read, and is not stale where the lower one is fresh.
std::vector<WinnerRecord> layered(std::vector<WinnerRecord> upper, std::vector<WinnerRecord> lower);

/// `tuned` over the pretuned winners (layered()) of the query's stencil or form: those of every stencil where it names
/// neither. With STENCIL_TUNE_PRETUNED=off, `tuned`.
std::vector<WinnerRecord> with_pretuned(std::vector<WinnerRecord> tuned, const WinnerQuery& query = {},
                                        std::span<const TemplateFile> files = pretuned_files());

/// All that ship, whatever STENCIL_TUNE_PRETUNED says of using them; the id of each is its number, from 1.
std::vector<WinnerRecord> shipped_winners(std::span<const TemplateFile> files = pretuned_files());

/// The one that ships for the same problem on the same GPU model, by time where there are several. With
/// STENCIL_TUNE_PRETUNED=off, nothing.
std::optional<WinnerRecord> shipped_for(const ProblemKey& problem, std::string_view gpu,
                                        std::span<const TemplateFile> files = pretuned_files());

/// Where the winner is from: "shipped", "site" or "yours".
std::string_view origin_of(const TrialRecord& trial) noexcept;

/// The same as a reader is told: "shipped with stencil-tune", "of the site's database" or "yours".
std::string_view origin_text(const TrialRecord& trial) noexcept;

}  // namespace stencil_tune
