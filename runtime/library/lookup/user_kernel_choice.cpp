#include "runtime/library/lookup/user_kernel_choice.hpp"

#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>

namespace stencil_tune {
namespace {

/// "m=1024 n=1024" by name; what is no number is left out.
std::map<std::string, double, std::less<>> parsed_sizes(std::string_view text) {
  std::map<std::string, double, std::less<>> sizes;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    const std::size_t equals = part.find('=');
    double value = 0;
    if (equals == std::string_view::npos) continue;
    const auto [end, error] = std::from_chars(part.data() + equals + 1, part.data() + part.size(), value);
    if (error == std::errc()) sizes.emplace(part.substr(0, equals), value);
  }
  return sizes;
}

/// Infinite for sizes of other names.
double distance(const UserKernel& kernel, const std::string& tuned) {
  const auto sizes = parsed_sizes(tuned);
  double sum = 0;
  for (const UserKernelSize& size : kernel.sizes) {
    const auto found = sizes.find(size.name);
    if (found == sizes.end()) return std::numeric_limits<double>::infinity();
    sum += std::fabs(std::log2((found->second + 1) / (static_cast<double>(size.value) + 1)));
  }
  return sum;
}

/// Nothing where the winner says nothing of this GPU.
std::optional<Match> match_of(const TrialRecord& trial, const ProblemKey& wanted, const DeviceFacts& device) {
  const bool same_kernel = trial.problem.stencil_key == wanted.stencil_key;
  const bool same_sizes = trial.problem.sizes == wanted.sizes;
  if (trial.platform.gpu == device.name && same_sizes) return same_kernel ? Match::exact : Match::stale;
  if (!same_kernel) return std::nullopt;
  if (trial.platform.gpu == device.name) return Match::nearest_size;
  if (trial.platform.architecture == device.architecture) return Match::same_architecture;
  return std::nullopt;
}

TunedEvidence evidence_of(const TrialRecord& trial, Match match) {
  TunedEvidence evidence;
  evidence.match = match;
  evidence.code = trial.code;
  evidence.tuned_sizes = trial.problem.sizes;
  evidence.gpu = trial.platform.gpu;
  evidence.driver = trial.platform.driver;
  evidence.nvrtc = trial.platform.nvrtc;
  evidence.tuned_at = trial.created_at;
  evidence.rate = trial.rate;
  evidence.unit = trial.problem.unit;
  return evidence;
}

/// The values of a winner that is legal here; otherwise says why not.
std::optional<ParameterValues> legal_values(const UserKernel& kernel, const std::string& code,
                                            std::vector<std::string>& notes) {
  try {
    ParameterValues values = parse_configuration(kernel, code);
    const auto broken = broken_rule(kernel, values);
    if (!broken) return values;
    notes.push_back(fmt::format("passed over {}: {}: {}", code, broken->rule, broken->message));
  } catch (const Error& error) {
    notes.push_back(fmt::format("passed over {}: {}", code, error.what()));
  }
  return std::nullopt;
}

}  // namespace

UserKernelChoice choose_configuration(const UserKernel& kernel, const DeviceFacts& device,
                                      std::span<const WinnerRecord> winners) {
  ProblemKey wanted;
  wanted.stencil_key = user_kernel_key(kernel);
  wanted.sizes = sizes_text(kernel);
  std::optional<UserKernelChoice> best;
  std::tuple<Match, double, bool> best_rank;
  std::vector<std::string> notes;
  for (const WinnerRecord& winner : winners) {
    const TrialRecord& trial = winner.trial;
    const auto match = match_of(trial, wanted, device);
    if (!match) continue;
    const std::tuple rank{*match, distance(kernel, trial.problem.sizes), trial.objective != Objective::burst};
    if (best && rank >= best_rank) continue;
    auto values = legal_values(kernel, trial.code, notes);
    if (!values) continue;
    best = UserKernelChoice{std::move(*values), evidence_of(trial, *match)};
    best_rank = rank;
  }
  if (!best) {
    best.emplace();
    DefaultConfiguration begin = default_configuration(kernel);
    if (!begin.objection.empty()) notes.push_back(std::move(begin.objection));
    best->values = std::move(begin.values);
    best->evidence.code = configuration_code(kernel, best->values);
    notes.push_back(
        fmt::format("nothing is known of {} on {}: `stencil-tune kernel` tunes it", kernel.name, device.name));
  }
  best->evidence.notes = std::move(notes);
  return std::move(*best);
}

std::string TunedEvidence::sentence() const {
  std::string text = fmt::format("{} (match: {})", code, name(match));
  if (!tuned_at.empty()) {
    text += fmt::format(": tuned at {} on {}: {:.1f} {}, {}", tuned_sizes, gpu, rate, unit, tuned_at);
  }
  for (const std::string& note : notes) text += "; " + note;
  return text;
}

}  // namespace stencil_tune
