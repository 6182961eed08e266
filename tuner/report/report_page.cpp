#include "tuner/report/report_page.hpp"

#include "runtime/library/lookup/pretuned.hpp"
#include "tuner/report/chart.hpp"
#include "tuner/report/html.hpp"
#include "tuner/session/final_table.hpp"
#include "tuner/terminal/counted.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace stencil_tune {
namespace {

const char* mark(bool predicted) { return predicted ? "~" : ""; }

std::string rate_text(double gstencils, bool predicted = false) {
  return fmt::format("{}{:.1f}", mark(predicted), gstencils);
}

std::string head(const ReportData& data) {
  const TrialRecord& trial = data.winner.trial;
  const ProblemKey& problem = trial.problem;
  const bool is_kernel = problem.kind == SubjectKind::kernel;
  const std::string title =
      is_kernel ? fmt::format("{}, {}", problem.stencil_name, problem.sizes)
                : fmt::format("{}, {}, {}", problem.stencil_name, name(problem.type), to_string(problem.extents));
  const std::string what =
      is_kernel ? "a kernel of your own"
                : fmt::format("boundary {}{}", to_string(problem.boundaries, problem.extents.rank),
                              problem.steps > 1 ? fmt::format(", a run of {} steps", problem.steps) : "");
  return html_head(title) + "<p class=\"faint\">" + escape_html(fmt::format("{} on {}", what, trial.platform.gpu)) +
         "</p>\n";
}

std::string winner_section(const ReportData& data) {
  const TrialRecord& trial = data.winner.trial;
  std::string text =
      fmt::format("<p class=\"rate\">{} {}</p>\n<p><code>{}</code></p>\n", rate_text(trial.rate, trial.predicted),
                  escape_html(trial.problem.unit), escape_html(trial.code));
  std::vector<TableRow> rows;
  if (trial.predicted) {
    rows.push_back({"evidence", "predicted by the performance model: never measured"});
  } else {
    rows.push_back(
        {"one launch", fmt::format("{:.4f} ms, 95 % within {:.4f} to {:.4f} ms, {} samples", trial.timing.median_ms,
                                   trial.timing.low_ms, trial.timing.high_ms, trial.timing.samples)});
  }
  rows.push_back({"share of the copy ceiling", fmt::format("{0}{1:.1f} % of {0}{2:.0f} GB/s", mark(trial.predicted),
                                                           100 * trial.share, trial.ceiling_gbs)});
  if (trial.problem.kind == SubjectKind::stencil) {
    rows.push_back(
        {"effective bandwidth", fmt::format("{}{:.0f} GB/s: fields that a step changes twice, known ones once",
                                            mark(trial.predicted), effective_gbs(trial))});
  }
  if (data.winner.naive_rate > 0) {
    rows.push_back({"naive kernel", fmt::format("{} GStencil/s, the winner is {}{:.2f} times as fast",
                                                rate_text(data.winner.naive_rate, trial.predicted),
                                                mark(trial.predicted), trial.rate / data.winner.naive_rate)});
  }
  rows.push_back(
      {"resources", fmt::format("{} registers, {} B spilled, {} B shared memory, occupancy {:.0f} %", trial.registers,
                                trial.spill_bytes, trial.shared_bytes, 100 * trial.occupancy)});
  if (!trial.plan.empty()) rows.push_back({"launches of a run", trial.plan});
  if (trial.sm_clock_mhz > 0) {
    rows.push_back(
        {"clocks in the race", fmt::format("SM {} MHz, memory {} MHz", trial.sm_clock_mhz, trial.memory_clock_mhz)});
  }
  if (const std::string load = load_text(trial); !load.empty()) {
    rows.push_back({"sustained", load});
    rows.push_back({"won by", std::string(name(trial.objective))});
  } else if (!trial.predicted && trial.problem.steps > 1) {
    rows.push_back({"sustained", "not measured: the rate above is a burst's"});
  }
  if (!trial.throttle.empty()) rows.push_back({"clocks were lowered", trial.throttle});
  rows.push_back({"origin", std::string(origin_text(trial))});
  rows.push_back({"found", fmt::format("best of {}, {}", counted(data.winner.trials_seen, "trial"), trial.created_at)});
  return text + html_table({"", ""}, rows);
}

std::string search_chart(const ReportData& data) {
  std::vector<ChartPoint> trials, best;
  const bool predicted = data.winner.trial.predicted;
  // Trials that were imported may all have one time.
  const bool has_times = data.rates.size() > 1 && data.rates.back().seconds > data.rates.front().seconds;
  for (const ReportedRate& each : data.rates) {
    const double x = has_times ? each.seconds : each.number;
    trials.push_back({x, each.rate, rate_text(each.rate, predicted) + " " + each.code});
    const double before = best.empty() ? 0 : best.back().y;
    if (!best.empty()) best.push_back({x, before, ""});
    best.push_back({x, std::max(before, each.rate), ""});
  }
  Chart chart("Rate of each trial and of the best so far", has_times ? "seconds of the search" : "trial",
              data.winner.trial.problem.unit, Scale::linear);
  chart.dots(std::move(trials), "trial");
  chart.line(std::move(best), "best");
  return fmt::format("<figure>{}<figcaption>Each trial, and the best so far{}.</figcaption></figure>\n", chart.svg(),
                     has_times ? "; the time between sessions is left out" : "");
}

/// The rate that so many bytes a second allow, and no more than arithmetic does, over operations a byte.
std::vector<ChartPoint> roof(const ReportData& data, double gbs, double low, double high) {
  const double flat = data.compute_gflops > 0 ? data.compute_gflops / data.operations : gbs * high / data.operations;
  std::vector<ChartPoint> points;
  const double corner = flat * data.operations / gbs;
  for (const double x : {low, std::clamp(corner, low, high), high}) {
    points.push_back({x, std::min(gbs * x / data.operations, flat), ""});
  }
  return points;
}

/// Over operations a byte from memory, which fused steps multiply.
std::string roofline_chart(const ReportData& data) {
  if (data.rates.empty() || data.operations <= 0) return "";
  const TrialRecord& winner = data.winner.trial;
  const double one_step = data.operations / data.bytes;
  std::vector<ChartPoint> trials, best;
  double most = 1;
  for (const ReportedRate& each : data.rates) {
    most = std::max(most, static_cast<double>(each.steps));
    ChartPoint point{each.steps * one_step, each.rate, rate_text(each.rate, winner.predicted) + " " + each.code};
    (each.code == winner.code ? best : trials).push_back(std::move(point));
  }
  Chart chart("Roofline", "operations a byte of memory", winner.problem.unit, Scale::logarithmic);
  chart.dots(std::move(trials), "trial");
  chart.dots(std::move(best), "best-trial");
  std::string allowed;
  for (const auto& [what, gbs] : {std::pair{"plain copies", winner.ceiling_gbs}, std::pair{"L2", data.l2_gbs}}) {
    if (gbs <= 0) continue;
    chart.line(roof(data, gbs, one_step / 2, one_step * most * 2), "roof");
    const bool modelled = winner.predicted && gbs == winner.ceiling_gbs;
    allowed += fmt::format(", {} at {}{:.0f} GB/s", what, mark(modelled), gbs);
  }
  if (data.compute_gflops > 0) allowed += fmt::format(", arithmetic at {:.0f} GFLOP/s", data.compute_gflops);
  return fmt::format(
      "<figure>{}<figcaption>Each trial, the winner marked, and what limits it{}.</figcaption></figure>\n", chart.svg(),
      allowed);
}

std::string parameters_section(const ReportData& data) {
  if (data.parameters.empty()) return "";
  std::string text = fmt::format(
      "<h2>What each parameter did</h2>\n<p class=\"faint\">The best rate that any trial{} "
      "reached with a value, in {}; a star marks the winner's value.</p>\n",
      data.winner.trial.problem.kind == SubjectKind::stencil ? " of this family" : "",
      escape_html(data.winner.trial.problem.unit));
  std::vector<TableRow> rows;
  for (const ReportedParameter& each : data.parameters) {
    std::string values;
    for (const ReportedValue& value : each.values) {
      values += fmt::format("{}{}{}:\t{}", values.empty() ? "" : ", ", value.value,
                            value.value == each.winners ? "*" : "", rate_text(value.rate, data.winner.trial.predicted));
    }
    rows.push_back({each.name, values, each.meaning});
  }
  return text + html_table({"parameter", "value: best rate", "meaning"}, rows);
}

std::string baselines_section(const ReportData& data) {
  std::vector<TableRow> rows;
  for (const ReportedBaseline& each : data.baselines) {
    rows.push_back(
        {each.name, each.rate > 0 ? rate_text(each.rate, data.winner.trial.predicted) : "not tried", each.code});
  }
  return rows.empty() ? ""
                      : "<h2>The textbook's kernels</h2>\n" + html_table({"kernel", "GStencil/s", "candidate"}, rows);
}

std::string failures_section(const ReportData& data) {
  std::vector<TableRow> rows;
  for (const ReportedFailure& each : data.failures) rows.push_back({fmt::format("{}", each.trials), each.reason});
  return rows.empty() ? "" : "<h2>Trials that failed</h2>\n" + html_table({"trials", "why"}, rows);
}

std::string reproduce_section(const ReportData& data) {
  const PlatformKey& platform = data.winner.trial.platform;
  const std::string where = data.winner.trial.predicted
                                ? fmt::format("Predicted for {}", platform.gpu)
                                : fmt::format("On {}, driver {}", platform.gpu, platform.driver);
  return fmt::format("<h2>How to reproduce it</h2>\n<p>{}, NVRTC {}:</p>\n<pre class=\"commands\">{}</pre>\n",
                     escape_html(where), escape_html(platform.nvrtc), escape_html(data.commands));
}

}  // namespace

std::string report_page(const ReportData& data) {
  std::string text = head(data) + winner_section(data);
  text += "<h2>How it was found</h2>\n";
  if (data.trials == 0) {
    text += "<p>Its trials are not in this database: it ships with stencil-tune, or was imported.</p>\n";
  } else {
    text += fmt::format("<p>{} in the database, {} of them {}.</p>\n", counted(data.trials, "trial"), data.rates.size(),
                        data.winner.trial.predicted ? "compiled and predicted" : "right and timed");
    text += "<div class=\"charts\">\n" + search_chart(data) + roofline_chart(data) + "</div>\n";
  }
  text += parameters_section(data) + baselines_section(data) + failures_section(data) + reproduce_section(data);
  if (!data.kernel.empty()) {
    text += "<h2>The kernel</h2>\n<details><summary>Its source, as `export` writes it</summary>\n<pre>" +
            escape_html(data.kernel) + "</pre></details>\n";
  }
  return text + "</body>\n</html>\n";
}

}  // namespace stencil_tune
