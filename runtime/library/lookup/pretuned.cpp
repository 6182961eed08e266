#include "runtime/library/lookup/pretuned.hpp"

#include "db/exchange.hpp"
#include "db/stored_code.hpp"
#include "db/winner_choice.hpp"
#include "runtime/library/lookup/lookup.hpp"

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

bool speaks_for(const TrialRecord& upper, const TrialRecord& lower) {
  const bool same =
      upper.problem == lower.problem && upper.platform.gpu == lower.platform.gpu && upper.objective == lower.objective;
  return same && !upper.predicted && is_readable(upper) && (!is_stale(upper) || is_stale(lower));
}

}  // namespace

std::vector<WinnerRecord> layered(std::vector<WinnerRecord> upper, std::vector<WinnerRecord> lower) {
  const auto end = upper.size();
  for (WinnerRecord& winner : lower) {
    const bool known = std::any_of(upper.begin(), upper.begin() + static_cast<std::ptrdiff_t>(end),
                                   [&](const WinnerRecord& above) { return speaks_for(above.trial, winner.trial); });
    if (!known) upper.push_back(std::move(winner));
  }
  return upper;
}

std::vector<WinnerRecord> with_pretuned(std::vector<WinnerRecord> tuned, const WinnerQuery& query,
                                        std::span<const TemplateFile> files) {
  if (is_off()) return tuned;
  const std::string stencil_key = query.stencil_key.value_or(""), form = query.form.value_or("");
  std::vector<WinnerRecord> pretuned;
  for (const TemplateFile& file : files) {
    const bool has_some = file.text.find(stencil_key) != std::string_view::npos &&  // parsing takes milliseconds
                          file.text.find(form) != std::string_view::npos;
    if (!has_some) continue;
    for (WinnerRecord& winner : parse_winners(file.text)) {
      const ProblemKey& problem = winner.trial.problem;
      if (!stencil_key.empty() && problem.stencil_key != stencil_key) continue;
      if (!form.empty() && problem.form != form) continue;
      winner.trial.session = kPretunedSession;
      pretuned.push_back(std::move(winner));
    }
  }
  return layered(std::move(tuned), std::move(pretuned));
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
  const auto distance = [](const WinnerRecord& winner) { return objective_distance(winner.trial, Objective::time); };
  std::optional<WinnerRecord> found;
  for (WinnerRecord& winner : shipped_winners(files)) {
    if (winner.trial.problem != problem || winner.trial.platform.gpu != gpu) continue;
    if (!found || distance(winner) < distance(*found)) found = std::move(winner);
  }
  return found;
}

std::string_view origin_of(const TrialRecord& trial) noexcept {
  if (trial.session == kPretunedSession) return "shipped";
  return trial.session == kSiteSession ? "site" : "yours";
}

std::string_view origin_text(const TrialRecord& trial) noexcept {
  if (trial.session == kPretunedSession) return "shipped with stencil-tune";
  return trial.session == kSiteSession ? "of the site's database" : "yours";
}

}  // namespace stencil_tune
