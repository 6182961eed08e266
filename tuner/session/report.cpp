#include "tuner/session/report.hpp"

#include "generator/printable.hpp"
#include "tuner/session/text_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace stencil_tune {
namespace {

using Json = nlohmann::ordered_json;

const std::vector<TableColumn> kColumns{{"kernel", false}, {"GStencil/s"}, {"% of copy"}, {"winner is"},
                                        {"registers"},     {"shared"},     {"occupancy"}, {"code", false}};

std::string shared_text(std::int64_t bytes) {
  return bytes < 1024 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} KB", static_cast<double>(bytes) / 1024);
}

const TrialRecord* winner_of(const Report& report) {
  const auto row = std::find_if(report.rows.begin(), report.rows.end(),
                                [](const ReportRow& r) { return r.name == "winner" && r.trial; });
  return row == report.rows.end() ? nullptr : &*row->trial;
}

double winner_rate(const Report& report) {
  const TrialRecord* winner = winner_of(report);
  return winner == nullptr ? 0 : winner->gstencils;
}

std::vector<std::string> row_cells(const ReportRow& row, double winner, bool predicted) {
  const char* mark = predicted ? "~" : "";
  const TrialRecord& trial = *row.trial;
  const bool compare = winner > 0 && row.name != "winner";
  const std::string spills = trial.spill_bytes > 0 ? fmt::format(" (spills {} B)", trial.spill_bytes) : "";
  return {row.name,
          fmt::format("{}{:.1f}", mark, trial.gstencils),
          fmt::format("{}{:.1f}", mark, 100 * trial.share),
          compare ? fmt::format("{}{:.2f} x", mark, winner / trial.gstencils) : "",
          fmt::format("{}{}", trial.registers, spills),
          shared_text(trial.shared_bytes),
          fmt::format("{:.0f} %", 100 * trial.occupancy),
          trial.code};
}

/// Of a compiler's log, which has many lines.
std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string table(const Report& report) {
  std::vector<std::vector<std::string>> rows;
  for (const ReportRow& row : report.rows) {
    if (row.trial) rows.push_back(row_cells(row, winner_rate(report), report.predicted));
  }
  for (const ReportRow& row : report.rows) {
    if (!row.trial) rows.push_back({row.name, "n/a: " + first_line(row.reason)});
  }
  return text_table(kColumns, rows, "  ");
}

std::string device_line(const Report& report) {
  const double ceiling = report.device.ceiling_gbs;
  std::string line = fmt::format("{} ({}){}, copy ceiling {:.0f} GB/s = {:.1f} GStencil/s", report.platform.gpu,
                                 report.platform.architecture,
                                 report.platform.driver.empty() ? "" : ", driver " + report.platform.driver, ceiling,
                                 ceiling_gstencils(*report.problem, ceiling));
  if (report.device.fits_in_l2) line += ", grid fits in L2";
  return line;
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
  std::string note = fmt::format("the winner raced at {} MHz", winner->sm_clock_mhz);
  if (!winner->throttle.empty()) note += ", slowed down by: " + winner->throttle;
  return note;
}

}  // namespace

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
      fmt::format(": {} points, order {}, {}, {}, boundary {}", problem.facts.taps.size(), order, name(problem.type),
                  to_string(problem.extents), to_string(problem.boundaries, problem.extents.rank));
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

Report make_report(const Problem& problem, const PlatformKey& platform, const SessionResult& result, bool predicted) {
  Report report{&problem, result.device, platform, predicted, {}, {}};
  if (result.winner) report.rows.push_back({"winner", result.winner, ""});
  for (const BaselineResult& baseline : result.baselines) {
    report.rows.push_back({baseline.name, baseline.trial, baseline.reason});
  }
  return report;
}

std::string format_report(const Report& report) {
  std::string text = describe(*report.problem) + "\n";
  if (report.predicted) {
    text += fmt::format("PREDICTED for {}: nothing here was measured, \"~\" marks what the performance model says.\n",
                        device_line(report));
  } else {
    text += device_line(report) + "\n";
  }
  text += "\n" + table(report);
  if (!report.notes.empty()) text += "\n";
  for (const std::string& note : {clocks_note(report), check_note(report)}) text += note.empty() ? "" : note + "\n";
  for (const std::string& note : report.notes) text += note + "\n";
  return printable_lines(text);
}

std::string json_text(const Json& json) { return json.dump(2, ' ', true, Json::error_handler_t::replace) + "\n"; }

Json trial_json(const TrialRecord& trial) {
  Json json;
  json["code"] = trial.code;
  json["outcome"] = name(trial.outcome);
  if (!trial.message.empty()) json["message"] = trial.message;
  json["predicted"] = trial.predicted;
  json["raced"] = trial.raced;
  json["gstencils"] = trial.gstencils;
  json["share_of_copy"] = trial.share;
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
                    {"driver", report.platform.driver},
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
      if (winner > 0 && row.trial->gstencils > 0) entry["winner_speed_up"] = winner / row.trial->gstencils;
    } else {
      entry["not_available"] = row.reason;
    }
    json["kernels"].push_back(std::move(entry));
  }
  json["notes"] = report.notes;
  return json;
}

}  // namespace stencil_tune
