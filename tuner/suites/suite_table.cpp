#include "tuner/suites/suite_table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace stencil_tune {
namespace {

constexpr const char* kWinner = "winner";

const TrialRecord* trial_of(const Report& report, const std::string& kernel) {
  for (const ReportRow& row : report.rows) {
    if (row.name == kernel && row.trial) return &*row.trial;
  }
  return nullptr;
}

double rate_of(const Report& report, const std::string& kernel) {
  const TrialRecord* const trial = trial_of(report, kernel);
  return trial != nullptr ? trial->rate : 0;
}

/// The winner's rate under continuous load; 0 where it did not race so.
double sustained_rate(const Report& report) {
  const TrialRecord* const trial = trial_of(report, kWinner);
  return trial != nullptr ? trial->sustained_rate : 0;
}

/// The winner's effective bandwidth, GB/s; 0 where there is none.
double bandwidth(const Report& report) {
  const TrialRecord* const trial = trial_of(report, kWinner);
  return trial != nullptr ? effective_gbs(*trial) : 0;
}

std::string rate_text(double rate) {
  if (rate <= 0) return "n/a";
  return rate < 10 ? fmt::format("{:.1f}", rate) : fmt::format("{:.0f}", rate);
}

/// Every kernel but the winner that some report has, in the order of the first that has it.
std::vector<std::string> other_kernels(const std::vector<Report>& reports) {
  std::vector<std::string> names;
  for (const Report& report : reports) {
    for (const ReportRow& row : report.rows) {
      if (row.name != kWinner && std::find(names.begin(), names.end(), row.name) == names.end()) {
        names.push_back(row.name);
      }
    }
  }
  return names;
}

/// The rate of the winner of the case of that number; 0 where it is not among them.
double rate_of_case(std::size_t number, const Suite& cases, const std::vector<Report>& reports) {
  for (std::size_t i = 0; i < reports.size(); ++i) {
    if (cases[i].number == number) return rate_of(reports[i], kWinner);
  }
  return 0;
}

std::string case_text(const Problem& problem) {
  std::string text = fmt::format("{}, {}, {}", problem.stencil.name, name(problem.type), to_string(problem.extents));
  if (problem.pitch != problem.extents.n[0]) text += fmt::format(", rows padded to {}", problem.pitch);
  const std::string boundary = to_string(problem.boundaries, problem.extents.rank);
  return boundary == "hold" ? text : text + ", " + boundary;
}

}  // namespace

std::string suite_table(const Suite& cases, const std::vector<Report>& reports) {
  const std::vector<std::string> others = other_kernels(reports);
  const bool under_load =
      std::any_of(reports.begin(), reports.end(), [](const Report& report) { return sustained_rate(report) > 0; });
  std::string text = under_load ? "| # | GStencil/s | copy | winner, burst | sustained | of copy | against |"
                                : "| # | GStencil/s | copy | winner | of copy | against |";
  std::string rule =
      under_load ? "| --- | --- | --- | --- | --- | --- | --- |" : "| --- | --- | --- | --- | --- | --- |";
  const bool several_fields = std::any_of(reports.begin(), reports.end(),
                                          [](const Report& report) { return report.problem->facts.inputs.size() > 1; });
  if (several_fields) {
    text += " effective GB/s |";
    rule += " --- |";
  }
  for (const std::string& other : others) {
    text += fmt::format(" {} |", other);
    rule += " --- |";
  }
  text += "\n" + rule + "\n";
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const Report& report = reports[i];
    const double ceiling = ceiling_gstencils(*report.problem, report.device.ceiling_gbs);
    const double winner = rate_of(report, kWinner);
    text += fmt::format("| {} | {} | {:.0f} | **{}** |", cases[i].number, case_text(*report.problem), ceiling,
                        rate_text(winner));
    if (under_load) text += fmt::format(" {} |", rate_text(sustained_rate(report)));
    text += fmt::format(" {} |", ceiling > 0 ? fmt::format("{:.1f} %", 100 * winner / ceiling) : "n/a");
    const auto against = cases[i].against;
    const double compared = against ? rate_of_case(*against, cases, reports) : 0;
    text += compared > 0 ? fmt::format(" {:.2f} of {} |", winner / compared, *against) : " |";
    if (several_fields) text += fmt::format(" {} |", rate_text(bandwidth(report)));
    for (const std::string& other : others) text += fmt::format(" {} |", rate_text(rate_of(report, other)));
    text += "\n";
  }
  return text;
}

}  // namespace stencil_tune
