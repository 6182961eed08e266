#include "tuner/session/final_table.hpp"

#include "db/stored_code.hpp"
#include "generator/printable.hpp"
#include "runtime/library/lookup/lookup.hpp"
#include "runtime/library/lookup/pretuned.hpp"
#include "tuner/terminal/counted.hpp"
#include "tuner/terminal/text_table.hpp"
#include "tuner/terminal/wrap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace stencil_tune {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kIndent = "  ";  // begins a line that goes on
constexpr std::string_view kUnit = "GStencil/s";

const std::vector<TableColumn> kColumns{{"kernel", false},
                                        {"rate"},
                                        {"% of copy"},
                                        {"winner is"},
                                        {"registers", true, Narrow::leaves},
                                        {"shared", true, Narrow::leaves},
                                        {"occupancy", true, Narrow::leaves},
                                        {"code", false, Narrow::below}};
constexpr std::size_t kRate = 1;
constexpr std::size_t kComparison = 3;
// Beside the rate, which is then a burst's, where some kernel raced under load too.
const std::vector<TableColumn> kUnderLoad{{"sustained"}, {"W", true, Narrow::leaves}, {"energy", true, Narrow::leaves}};
constexpr std::size_t kEnergy = 2;

/// Energy of one of what a rate counts in billions.
std::string energy_unit(std::string_view rate_unit) {
  if (rate_unit == "GStencil/s") return "nJ/update";
  return fmt::format("nJ/{}", rate_unit.substr(rate_unit.starts_with('G') ? 1 : 0, rate_unit.find('/') - 1));
}

std::string shared_text(std::int64_t bytes) {
  return bytes < 1024 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} KB", static_cast<double>(bytes) / 1024);
}

const TrialRecord* winner_of(const Report& report) {
  const ReportRow* row = leading_row(report);
  return row == nullptr ? nullptr : &*row->trial;
}

double winner_rate(const Report& report) {
  const TrialRecord* winner = winner_of(report);
  return winner == nullptr ? 0 : winner->rate;
}

std::vector<std::string> row_cells(const ReportRow& row, double winner, bool predicted) {
  const char* mark = predicted ? "~" : "";
  const TrialRecord& trial = *row.trial;
  const bool compare = winner > 0 && row.name != kWinnerRow && row.name != kBestPredictedRow;
  const std::string spills = trial.spill_bytes > 0 ? fmt::format(" (spills {} B)", trial.spill_bytes) : "";
  return {row.name,
          fmt::format("{}{:.1f}", mark, trial.rate),
          fmt::format("{}{:.1f}", mark, 100 * trial.share),
          compare ? fmt::format("{}{:.2f} x", mark, winner / trial.rate) : "",
          fmt::format("{}{}", trial.registers, spills),
          shared_text(trial.shared_bytes),
          fmt::format("{:.0f} %", 100 * trial.occupancy),
          trial.code};
}

bool raced_under_load(std::span<const ReportRow> rows) {
  return std::any_of(rows.begin(), rows.end(),
                     [](const ReportRow& row) { return row.trial && row.trial->sustained_rate > 0; });
}

const ReportRow* leading_row(std::span<const ReportRow> rows) {
  const auto row = std::find_if(rows.begin(), rows.end(), [](const ReportRow& r) {
    return (r.name == kWinnerRow || r.name == kBestPredictedRow) && r.trial;
  });
  return row == rows.end() ? nullptr : &*row;
}

/// Empty where it did not race so, or where there is no NVML.
std::vector<std::string> load_cells(const TrialRecord& trial) {
  if (trial.sustained_rate <= 0) return {"", "", ""};
  std::vector<std::string> cells{fmt::format("{:.1f}", trial.sustained_rate), "", ""};
  if (trial.watts > 0) cells[1] = fmt::format("{:.0f}", trial.watts), cells[2] = nanojoules_text(trial.nanojoules);
  return cells;
}

/// A compiler's log has many lines.
std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

std::string rows_table(std::span<const ReportRow> report_rows, std::string_view unit, bool predicted,
                       const Terminal& terminal) {
  std::vector<std::vector<std::string>> rows;
  const bool under_load = raced_under_load(report_rows);
  const ReportRow* const leader = leading_row(report_rows);
  for (const ReportRow& row : report_rows) {
    if (!row.trial) continue;
    rows.push_back(row_cells(row, leader == nullptr ? 0 : leader->trial->rate, predicted));
    if (!under_load) continue;
    const auto cells = load_cells(*row.trial);
    rows.back().insert(rows.back().begin() + kRate + 1, cells.begin(), cells.end());
  }
  for (const ReportRow& row : report_rows) {
    if (!row.trial) rows.push_back({row.name, "n/a: " + first_line(row.reason)});
  }
  std::vector<TableColumn> columns = kColumns;
  columns[kRate].title = unit;
  if (leader != nullptr && leader->name == kBestPredictedRow) columns[kComparison].title = "best is";
  if (under_load) {
    columns[kRate].title += ": burst";
    columns.insert(columns.begin() + kRate + 1, kUnderLoad.begin(), kUnderLoad.end());
    columns[kRate + 1 + kEnergy].title = energy_unit(unit);
  }
  const auto style = [&](std::size_t row) { return rows[row][0] == kWinnerRow ? Style::winner : Style::plain; };
  return text_table(columns, rows, {"  ", terminal, style});
}

namespace {

std::string device_line(const Report& report) {
  const double ceiling = report.device.ceiling_gbs;
  std::string line =
      fmt::format("{0} ({1}){2}, copy ceiling {3}{4:.0f} GB/s = {3}{5:.1f} GStencil/s", report.platform.gpu,
                  report.platform.architecture, report.predicted ? "" : ", driver " + report.platform.driver,
                  report.predicted ? "~" : "", ceiling, ceiling_gstencils(*report.problem, ceiling));
  if (report.device.fits_in_l2) line += ", grid fits in L2";
  return line;
}

/// Where a known winner comes from and what it reached.
std::string known_text(const TrialRecord& known) {
  const std::string_view from = origin_text(known);
  const char* stale = is_stale(known) ? " (stale: its template has changed since)" : "";
  return fmt::format("{}, measured on {}, {}{}:\n  {}, {:.1f} % of copy, {}\n", from, known.platform.gpu,
                     known.created_at.substr(0, 10), stale, rates_text(known), 100 * known.share, known.code);
}

/// What the winner's check could not show; empty where it showed all.
std::string check_note(const Report& report) {
  const TrialRecord* winner = winner_of(report);
  if (winner == nullptr || winner->sharpness_note.empty()) return {};
  return "of the winner's check: " + winner->sharpness_note;
}

/// The GPU while the winner raced; empty where it is not known.
std::string clocks_note(const Report& report) {
  const TrialRecord* winner = winner_of(report);
  if (winner == nullptr || winner->sm_clock_mhz == 0) return {};
  std::string note = fmt::format("the winner raced at {} MHz{}", winner->sm_clock_mhz,
                                 winner->sustained_rate > 0 ? " at the least" : "");
  if (!winner->throttle.empty()) note += ", slowed down by: " + winner->throttle;
  return note;
}

/// What each step moves, where there are several fields, whose updates a rate counts as one; empty for a single field.
std::string bandwidth_note(const Report& report) {
  const ReportRow* row = leading_row(report);
  if (row == nullptr || report.problem->facts.inputs.size() < 2 || !(row->trial->ceiling_gbs > 0)) return {};
  return fmt::format(
      "effective bandwidth {}{:.0f} GB/s: each step reads and writes the fields that it changes, and reads the others",
      report.predicted ? "~" : "", effective_gbs(*row->trial));
}

}  // namespace

std::string nanojoules_text(double nanojoules) { return fmt::format("{:.3g}", nanojoules); }

std::string rates_text(const TrialRecord& trial) {
  const std::string rate = fmt::format("{}{:.1f} {}", trial.predicted ? "~" : "", trial.rate, trial.problem.unit);
  if (trial.predicted) return rate;
  if (trial.sustained_rate > 0) {
    return fmt::format("{} in a burst, {:.1f} sustained", rate, trial.sustained_rate);
  }
  return trial.problem.steps > 1 ? rate + " in a burst" : rate;
}

std::string load_text(const TrialRecord& trial) {
  if (trial.sustained_rate <= 0) return "";
  std::string text = fmt::format("{:.1f} {} under continuous load", trial.sustained_rate, trial.problem.unit);
  if (trial.watts > 0) {
    text += fmt::format(", {:.0f} W, {} {}", trial.watts, nanojoules_text(trial.nanojoules),
                        trial.problem.kind == SubjectKind::stencil ? "nJ an update" : energy_unit(trial.problem.unit));
  }
  return text;
}

double effective_gbs(const TrialRecord& trial) { return trial.share * trial.ceiling_gbs; }

double ceiling_gstencils(const Problem& problem, double ceiling_gbs) {
  const double bytes = minimal_traffic_bytes(problem);
  return bytes > 0 ? ceiling_gbs * static_cast<double>(updated_box(problem).cells()) / bytes : 0;
}

std::string describe(const Problem& problem) {
  const int order = *std::max_element(problem.facts.radius.begin(), problem.facts.radius.end());
  const std::size_t stages = problem.stencil.stages.size();
  std::string text = problem.stencil.name;
  if (problem.stage == kWholeStep) {
    text += fmt::format(", steps of {} stages", stages);
  } else if (stages > 1) {
    text += fmt::format(", stage {} of 0 to {}", problem.stage, stages - 1);
  }
  text +=
      fmt::format(": {}, order {}, {}, {}, boundary {}", counted(problem.facts.taps.size(), "point"), order,
                  name(problem.type), to_string(problem.extents), to_string(problem.boundaries, problem.extents.rank));
  if (problem.pitch != problem.extents.n[0]) text += fmt::format(", pitch {}", problem.pitch);
  if (problem.steps > 1) text += fmt::format(", {} steps", problem.steps);
  return text;
}

std::string bytes_text(double bytes) {
  constexpr std::array<const char*, 5> kUnits{"B", "KB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  while (bytes >= 1000 && unit + 1 < kUnits.size()) bytes /= 1000, ++unit;
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.1f} {}", bytes, kUnits[unit]);
}

const ReportRow* leading_row(const Report& report) { return leading_row(std::span(report.rows)); }

Report make_report(const Problem& problem, const PlatformKey& platform, const SessionResult& result, bool predicted,
                   std::optional<WinnerRecord> known) {
  Report report{&problem, result.device, platform, predicted, {}, {}, false, std::move(known)};
  if (predicted && report.known) {
    if (const auto& best = result.winner ? result.winner : result.best) {
      report.rows.push_back({kBestPredictedRow, best, ""});
    }
  } else if (result.winner) {
    report.rows.push_back({kWinnerRow, result.winner, ""});
  }
  for (const BaselineResult& baseline : result.baselines) {
    report.rows.push_back({baseline.name, baseline.trial, baseline.reason});
  }
  return report;
}

std::string format_report(const Report& report, const Terminal& terminal) {
  std::string text = describe(*report.problem) + "\n";
  if (report.predicted && report.known) text += "The winner is " + known_text(report.known->trial);
  if (report.predicted) {
    text += fmt::format("PREDICTED for {}: nothing below was measured, \"~\" marks what the performance model says.\n",
                        device_line(report));
  } else {
    text += device_line(report) + "\n";
  }
  std::string notes;
  if (!report.predicted && report.known) notes += "known before: " + known_text(report.known->trial);
  for (const std::string& note : {bandwidth_note(report), clocks_note(report), check_note(report)})
    notes += note.empty() ? "" : note + "\n";
  for (const std::string& note : report.notes) notes += note + "\n";
  const auto fitted = [&](const std::string& lines) {
    return wrap_lines(printable_lines(lines), terminal.columns, kIndent);
  };
  return fitted(text) + "\n" + rows_table(report.rows, kUnit, report.predicted, terminal) +
         (notes.empty() ? "" : "\n") + fitted(notes);
}

std::string json_text(const Json& json) { return json.dump(2, ' ', true, Json::error_handler_t::replace) + "\n"; }

Json trial_json(const TrialRecord& trial) {
  Json json;
  json["code"] = trial.code;
  json["outcome"] = name(trial.outcome);
  if (!trial.message.empty()) json["message"] = trial.message;
  json["predicted"] = trial.predicted;
  json["raced"] = trial.raced;
  const bool is_stencils = trial.problem.kind == SubjectKind::stencil;
  json[is_stencils ? "gstencils" : "rate"] = trial.rate;
  if (!is_stencils) json["unit"] = trial.problem.unit;
  json["share_of_copy"] = trial.share;
  if (trial.ceiling_gbs > 0) json["effective_gbs"] = effective_gbs(trial);
  json["median_ms"] = trial.timing.median_ms;
  json["low_ms"] = trial.timing.low_ms;
  json["high_ms"] = trial.timing.high_ms;
  json["samples"] = trial.timing.samples;
  json["registers"] = trial.registers;
  json["spill_bytes"] = trial.spill_bytes;
  json["shared_bytes"] = trial.shared_bytes;
  json["occupancy"] = trial.occupancy;
  if (trial.sharpness >= 0) json["sharpness"] = trial.sharpness;
  if (!trial.sharpness_note.empty()) json["sharpness_note"] = trial.sharpness_note;
  if (!trial.plan.empty()) json["plan"] = trial.plan;
  if (trial.raced) json["objective"] = name(trial.objective);
  if (trial.sustained_rate > 0) {
    json[is_stencils ? "sustained_gstencils" : "sustained_rate"] = trial.sustained_rate;
  }
  if (trial.watts > 0) {
    json["watts"] = trial.watts;
    json["nanojoules"] = trial.nanojoules;
  }
  if (trial.sm_clock_mhz > 0) {
    json["sm_clock_mhz"] = trial.sm_clock_mhz;
    json["memory_clock_mhz"] = trial.memory_clock_mhz;
    json["throttle"] = trial.throttle;
  }
  if (!trial.created_at.empty()) json["created_at"] = trial.created_at;
  return json;
}

Json report_json(const Report& report) {
  const Problem& problem = *report.problem;
  Json json;
  json["stencil"] = problem.stencil.name;
  json["stencil_key"] = stencil_key(problem.stencil);
  json["stage"] = problem.stage;
  json["type"] = name(problem.type);
  json["dims"] = to_string(problem.extents);
  json["pitch"] = problem.pitch;
  json["boundary"] = to_string(problem.boundaries, problem.extents.rank);
  json["steps"] = problem.steps;
  json["predicted"] = report.predicted;
  json["device"] = {{"name", report.platform.gpu},
                    {"architecture", report.platform.architecture},
                    {"driver", report.predicted ? "" : report.platform.driver},
                    {"nvrtc", report.platform.nvrtc},
                    {"uuid", report.device.device.uuid}};
  json["copy_ceiling_gbs"] = report.device.ceiling_gbs;
  json["copy_ceiling_gstencils"] = ceiling_gstencils(problem, report.device.ceiling_gbs);
  json["fits_in_l2"] = report.device.fits_in_l2;
  const double winner = winner_rate(report);
  for (const ReportRow& row : report.rows) {
    Json entry{{"kernel", row.name}};
    if (row.trial) {
      entry.update(trial_json(*row.trial));
      if (winner > 0 && row.trial->rate > 0) entry["winner_speed_up"] = winner / row.trial->rate;
    } else {
      entry["not_available"] = row.reason;
    }
    json["kernels"].push_back(std::move(entry));
  }
  if (report.known) {
    json["known_winner"] = {{"origin", origin_of(report.known->trial)}};
    json["known_winner"].update(trial_json(report.known->trial));
  }
  json["notes"] = report.notes;
  return json;
}

}  // namespace stencil_tune
