// Which candidate to run: the rules, without database or GPU.
#pragma once

#include "db/records.hpp"
#include "generator/candidates/constraints.hpp"
#include "runtime/compile/compiled_kernel.hpp"
#include "runtime/model/device_model.hpp"
#include "stencil_tune/kernel.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stencil_tune {

/// Where the kernel will run, and what can be promised of its fields.
struct LookupTarget {
  std::string gpu;           ///< model; empty: any of the architecture
  std::string architecture;  ///< "sm_90"
  std::string driver;        ///< empty: not known
  Limits limits;
  std::size_t alignment = 256;  ///< bytes that the fields' addresses are multiples of
  Objective objective = Objective::time;
  /// Whether a trial whose template's text has changed still compiles to the machine code that was timed
  /// (same_machine_code.hpp). Empty: the text alone decides.
  std::function<bool(const TrialRecord&, const Problem&)> same_machine_code{};
  /// What the compiler said of a kernel that was compiled before; nothing where none was. Empty: nobody asks.
  std::function<std::optional<KernelResources>(const Candidate&)> compiled{};
  std::optional<DeviceModel> device{};  ///< what the performance model knows of it; empty: what its name says
};

struct Choice {
  Tuning tuning;
  Evidence evidence;
};

/// The session of winners that ship with the library.
inline constexpr std::string_view kPretunedSession = "pretuned";
/// The session of the winners in the site's database.
inline constexpr std::string_view kSiteSession = "site";

/// What the sessions of short races begin with: "race of 2 s at 2026-11-30T16:00:00Z".
inline constexpr std::string_view kRaceSession = "race of ";

/// Sum over the axes of ln(a/b)^2: doubling one axis counts as much as halving it.
double log_distance(const Extents& a, const Extents& b);

/// The best of the winners that is legal for this problem and target, else what predict_choice() makes of `all`, else a
/// default candidate.
///
/// Winners of a stencil of another form (stencil_form), of another stage, element type, boundary or architecture are
/// not considered. The rest compete first by their match, in the order of enum Match; of one match, fresh ones come
/// before stale ones (stored_code.hpp), then those of the stencil itself, then the least log_distance, then the nearest
/// objective, then the highest rate. One whose code does not parse, or whose constraints this grid, pitch or alignment
/// breaks, is passed over, with a note; where it can run with narrower vectors, or with rows that come another way, it
/// competes so, as if its grid were one axis-doubling further away. Where the best won on other grids alone, the
/// performance model chooses among all of its match, and what lies beside them (by_model.hpp).
///
/// Runs: where the problem has several steps, winners of runs of any length compete, those with more fused steps than
/// the problem's passed over. Where it has one, kernels of one sweep do, whatever run they won.
///
/// Throws Error(illegal_candidate) when not even a default candidate is legal.
Choice choose(const Problem& problem, const LookupTarget& target, std::span<const WinnerRecord> winners,
              std::span<const WinnerRecord> all = {});

/// The winners' alone: nothing where no winner can run here. For whole steps of several stages, which no
/// default candidate makes: winners of single steps serve runs too.
std::optional<Choice> choose_winner(const Problem& problem, const LookupTarget& target,
                                    std::span<const WinnerRecord> winners);

/// What the performance model has as the fastest among the codes that won for other stencils of the same rank, in types
/// as wide where there are any, and among what lies beside them. Predictions of others are left out. Nothing where none
/// can run here.
std::optional<Choice> predict_choice(const Problem& problem, const LookupTarget& target,
                                     std::span<const WinnerRecord> all);

/// The command that tunes the problem, for the sentences of kernels that are not exact: "stencil-tune --dims 512 ...".
std::string tuning_command(const Problem& problem);

}  // namespace stencil_tune
