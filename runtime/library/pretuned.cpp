#include "runtime/library/pretuned.hpp"

#include "db/exchange.hpp"
#include "db/stored_code.hpp"
#include "runtime/library/lookup.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace stencil_tune {

namespace {

bool is_off() {
  const char* value = std::getenv("STENCIL_TUNE_PRETUNED");
  return value != nullptr && std::string_view(value) == "off";
}

bool speaks_for(const TrialRecord& tuned, const TrialRecord& pretuned) {
  const bool same = tuned.problem == pretuned.problem && tuned.platform.gpu == pretuned.platform.gpu &&
                    tuned.objective == pretuned.objective;
  return same && !tuned.predicted && is_readable(tuned) && (!is_stale(tuned) || is_stale(pretuned));
}

}  // namespace

std::vector<WinnerRecord> with_pretuned(std::vector<WinnerRecord> tuned, const std::string& stencil_key,
                                        std::span<const TemplateFile> files) {
  if (is_off()) return tuned;
  const std::size_t tuned_here = tuned.size();
  for (const TemplateFile& file : files) {
    if (file.text.find(stencil_key) == std::string_view::npos) continue;  // parsing takes milliseconds
    for (WinnerRecord& winner : parse_winners(file.text)) {
      const bool known = std::any_of(tuned.begin(), tuned.begin() + static_cast<std::ptrdiff_t>(tuned_here),
                                     [&](const WinnerRecord& own) { return speaks_for(own.trial, winner.trial); });
      if (known || (!stencil_key.empty() && winner.trial.problem.stencil_key != stencil_key)) continue;
      winner.trial.session = kPretunedSession;
      tuned.push_back(std::move(winner));
    }
  }
  return tuned;
}

std::vector<WinnerRecord> shipped_winners(std::span<const TemplateFile> files) {
  std::vector<WinnerRecord> all;
  for (const TemplateFile& file : files) {
    for (WinnerRecord& winner : parse_winners(file.text)) {
      winner.trial.session = kPretunedSession;
      winner.trial.id = static_cast<std::int64_t>(all.size()) + 1;
      all.push_back(std::move(winner));
    }
  }
  return all;
}

std::optional<WinnerRecord> shipped_for(const ProblemKey& problem, std::string_view gpu,
                                        std::span<const TemplateFile> files) {
  if (is_off()) return std::nullopt;
  for (WinnerRecord& winner : shipped_winners(files)) {
    if (winner.trial.problem == problem && winner.trial.platform.gpu == gpu) return std::move(winner);
  }
  return std::nullopt;
}

std::string_view origin_of(const TrialRecord& trial) noexcept {
  return trial.session == kPretunedSession ? "shipped" : "yours";
}

}  // namespace stencil_tune
