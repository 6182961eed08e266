#include "tuner/session/several.hpp"

#include "generator/printable.hpp"
#include "runtime/library/lookup/pretuned.hpp"
#include "tuner/terminal/text_table.hpp"
#include "tuner/terminal/wrap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace stencil_tune {
namespace {

const std::vector<TableColumn> kColumns{
    {"dims", false}, {"type", false}, {"steps"},         {"GStencil/s"},
    {"% of copy"},   {"x naive"},     {"origin", false}, {"code", false, Narrow::leaves}};
constexpr std::size_t kRate = 3;

double naive_rate(const Report& report) {
  const auto naive = std::find_if(report.rows.begin(), report.rows.end(),
                                  [](const ReportRow& row) { return row.name == "naive" && row.trial; });
  return naive == report.rows.end() ? 0 : naive->trial->rate;
}

/// What a report shows: a measured winner that is known, or the best of its table; null where there is none.
const TrialRecord* shown_trial(const Report& report) {
  if (report.predicted && report.known) return &report.known->trial;
  const ReportRow* const leader = leading_row(report);
  return leader != nullptr ? &*leader->trial : nullptr;
}

std::vector<std::string> cells(const Report& report) {
  const Problem& problem = *report.problem;
  std::vector<std::string> row{to_string(problem.extents), std::string(name(problem.type)),
                               std::to_string(problem.steps)};
  const TrialRecord* const shown = shown_trial(report);
  if (shown == nullptr) {
    row.emplace_back("no winner yet");
    return row;
  }
  const TrialRecord& trial = *shown;
  const bool is_known = report.predicted && report.known;
  const double naive = is_known ? report.known->naive_rate : naive_rate(report);
  const char* mark = trial.predicted ? "~" : "";
  row.push_back(fmt::format("{}{:.1f}", mark, trial.rate));
  row.push_back(fmt::format("{}{:.1f}", mark, 100 * trial.share));
  row.push_back(naive > 0 ? fmt::format("{}{:.2f}", mark, trial.rate / naive) : "");
  row.emplace_back(trial.predicted ? "predicted" : origin_of(trial));
  row.push_back(trial.code);
  return row;
}

}  // namespace

std::string format_reports(std::span<const Report> reports, const Terminal& terminal) {
  if (reports.empty()) return "";
  const Report& first = reports.front();
  const Problem& problem = *first.problem;
  std::vector<std::vector<std::string>> rows;
  const bool under_load = std::any_of(reports.begin(), reports.end(), [](const Report& report) {
    const TrialRecord* const shown = shown_trial(report);
    return shown != nullptr && shown->sustained_rate > 0;
  });
  std::vector<TableColumn> columns = kColumns;
  if (under_load) columns.insert(columns.begin() + kRate + 1, {"sustained"});
  for (const Report& report : reports) {
    rows.push_back(cells(report));
    const TrialRecord* const shown = shown_trial(report);
    if (!under_load || shown == nullptr) continue;
    const double rate = shown->sustained_rate;
    rows.back().insert(rows.back().begin() + kRate + 1, rate > 0 ? fmt::format("{:.1f}", rate) : "");
  }
  const std::string boundary = to_string(problem.boundaries, problem.extents.rank);
  const std::string text =
      fmt::format("{}, boundary {}, {}{} ({})\n", problem.stencil.name, boundary,
                  first.predicted ? "predicted for " : "on ", first.platform.gpu, first.platform.architecture);
  const std::string note =
      first.predicted ? "\"~\" marks what the performance model says; the rest was measured\n" : "";
  return wrap_lines(printable_lines(text + note), terminal.columns, "  ") + "\n" +
         text_table(columns, rows, {"  ", terminal});
}

}  // namespace stencil_tune
