#include "tuner/report/suite_page.hpp"

#include "stencil_tune/error.hpp"
#include "tuner/report/html.hpp"
#include "tuner/terminal/counted.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace stencil_tune {
namespace {

using Json = nlohmann::ordered_json;

// Units of the bars: a row a problem, its name above its bar.
constexpr double kRow = 26, kBarTop = 13, kBarHeight = 8, kWidth = 380, kRightEdge = 340;

double rate_of(const Json& kernel) { return kernel.value("gstencils", 0.0); }

/// Null where the case has no such kernel.
const Json* kernel_of(const Json& item, std::string_view name) {
  if (!item.contains("kernels")) return nullptr;
  for (const Json& kernel : item["kernels"]) {
    if (kernel.value("kernel", "") == name) return &kernel;
  }
  return nullptr;
}

double rate_of(const Json& item, std::string_view name) {
  const Json* kernel = kernel_of(item, name);
  return kernel == nullptr ? 0 : rate_of(*kernel);
}

std::string rate_text(double rate) { return rate > 0 ? fmt::format("{:.1f}", rate) : "n/a"; }

std::string problem_text(const Json& item) {
  std::string text =
      fmt::format("{}, {}, {}", item.value("stencil", ""), item.value("type", ""), item.value("dims", ""));
  if (item.value("steps", 1) > 1) text += fmt::format(", {} steps", item.value("steps", 1));
  if (item.value("boundary", "hold") != "hold") text += ", " + item.value("boundary", "");
  return text;
}

/// As `bench --cases` counts.
std::string number_of(const Json& item, std::size_t place) { return std::to_string(item.value("case", place + 1)); }

std::string facts(const Json& record, const Json& cases) {
  const Json device = cases.front().value("device", Json::object());
  std::string text = fmt::format("{} on {}", counted(cases.size(), "problem"), device.value("name", "an unknown GPU"));
  if (!device.value("driver", "").empty()) text += ", driver " + device.value("driver", "");
  text += fmt::format(", {}, stencil-tune {} ({})", record.value("date", ""), record.value("version", ""),
                      record.value("commit", ""));
  return "<p class=\"faint\">" + escape_html(text) + "</p>\n";
}

/// The rates of winner and naive kernel as shares of the plain copy's.
std::string bars(const Json& cases) {
  double most = 1;
  for (const Json& item : cases) {
    const double copy = item.value("copy_ceiling_gstencils", 0.0);
    if (copy > 0) most = std::max(most, rate_of(item, "winner") / copy);
  }
  const double height = kRow * static_cast<double>(cases.size()) + 18;
  const double copy_at = kRightEdge / most;
  std::string text = fmt::format(
      "<figure><svg style=\"max-width: 32rem\" viewBox=\"0 0 {} {:.0f}\" role=\"img\" aria-label=\"Rates as shares of "
      "a plain copy\" "
      "xmlns=\"http://www.w3.org/2000/svg\">\n",
      kWidth, height);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Json& item = cases[i];
    const double copy = item.value("copy_ceiling_gstencils", 0.0), top = kRow * static_cast<double>(i);
    const double share = copy > 0 ? rate_of(item, "winner") / copy : 0;
    text += fmt::format("<text x=\"0\" y=\"{:.0f}\">{}. {}</text>\n", top + kBarTop - 3, number_of(item, i),
                        escape_html(problem_text(item)));
    const auto bar = [&](double of_copy, std::string_view style, double thick) {
      text += fmt::format("<rect class=\"{}\" x=\"0\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\"/>\n", style,
                          top + kBarTop + (kBarHeight - thick) / 2, of_copy * copy_at, thick);
    };
    bar(share, "bar", kBarHeight);
    if (copy > 0) bar(rate_of(item, "naive") / copy, "other", 3);
    text += fmt::format("<text x=\"{}\" y=\"{:.0f}\" text-anchor=\"end\">{}</text>\n", kWidth,
                        top + kBarTop + kBarHeight, share > 0 ? fmt::format("{:.0f} %", 100 * share) : "n/a");
  }
  text += fmt::format("<line class=\"roof\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"0\" y2=\"{1:.0f}\"/>\n", copy_at,
                      height - 16);
  text += fmt::format("<text x=\"{:.1f}\" y=\"{:.0f}\" text-anchor=\"end\">a plain copy</text>\n</svg>\n", copy_at,
                      height - 4);
  return text +
         "<figcaption>The winner, the naive kernel with its best block (thin), and the rate at which a plain copy "
         "moves "
         "each cell once. Kernels that fuse steps may exceed it.</figcaption></figure>\n";
}

std::string table(const Json& cases) {
  std::vector<TableRow> rows;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Json& item = cases[i];
    const double winner = rate_of(item, "winner"), naive = rate_of(item, "naive");
    const double copy = item.value("copy_ceiling_gstencils", 0.0);
    rows.push_back({number_of(item, i), problem_text(item), rate_text(copy), rate_text(winner),
                    copy > 0 && winner > 0 ? fmt::format("{:.1f}\t%", 100 * winner / copy) : "n/a",
                    naive > 0 && winner > 0 ? fmt::format("{:.2f}\tx", winner / naive) : "n/a"});
  }
  return "<h2>All problems</h2>\n<p>In GStencil/s: 10^9 updated cells a second, steps of runs counted.</p>\n" +
         html_table({"#", "problem", "copy", "winner", "of copy", "over naive"}, rows);
}

/// The rate of a kernel that raced under load, with what the GPU drew; empty for others.
std::string load_of(const Json& kernel) {
  const double rate = kernel.value("sustained_gstencils", 0.0), watts = kernel.value("watts", 0.0);
  if (rate <= 0) return "";
  return watts > 0 ? fmt::format("{} at {:.0f} W", rate_text(rate), watts) : rate_text(rate);
}

std::string kernels_table(const Json& item) {
  std::vector<TableRow> rows;
  for (const Json& kernel : item.value("kernels", Json::array())) {
    if (kernel.contains("not_available")) {
      rows.push_back({kernel.value("kernel", ""), "n/a", "", "", "", "", kernel.value("not_available", "")});
      continue;
    }
    const int spilled = kernel.value("spill_bytes", 0);
    rows.push_back(
        {kernel.value("kernel", ""), rate_text(rate_of(kernel)), load_of(kernel),
         fmt::format("{:.1f} %", 100 * kernel.value("share_of_copy", 0.0)),
         fmt::format("{}{}", kernel.value("registers", 0), spilled > 0 ? fmt::format(" (spills {} B)", spilled) : ""),
         fmt::format("{} B", kernel.value("shared_bytes", 0)), kernel.value("code", "")});
  }
  return html_table({"kernel", "GStencil/s", "sustained", "of copy", "registers", "shared", "candidate"}, rows);
}

std::string case_section(const Json& item, std::size_t place) {
  std::string text = fmt::format("<details><summary>{}. {}: {} GStencil/s</summary>\n", number_of(item, place),
                                 escape_html(problem_text(item)), rate_text(rate_of(item, "winner")));
  text += kernels_table(item);
  for (const Json& note : item.value("notes", Json::array())) {
    text += "<p class=\"faint\">" + escape_html(note.get<std::string>()) + "</p>\n";
  }
  return text + "</details>\n";
}

}  // namespace

std::string suite_page(const Json& record) try {
  const Json& cases = record.at("cases");
  if (!cases.is_array() || cases.empty())
    throw Error(ErrorCode::invalid_argument, "the record of `bench` has no cases");
  std::string text = html_head("Kernels side by side") + facts(record, cases) + bars(cases) + table(cases);
  text += "<h2>Kernels of each problem</h2>\n";
  for (std::size_t i = 0; i < cases.size(); ++i) text += case_section(cases[i], i);
  return text + "</body>\n</html>\n";
} catch (const nlohmann::json::exception& error) {
  throw Error(ErrorCode::invalid_argument, fmt::format("no record of `bench --json`: {}", error.what()));
}

}  // namespace stencil_tune
