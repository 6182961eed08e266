#include "tuner/replay/replay_report.hpp"

#include "tuner/terminal/text_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace stencil_tune {
namespace {

constexpr std::size_t kCurvePoints = 50;  // so many of a curve's thousand are written

struct MeanScore {
  double mean = 0;
  double deviation = 0;  // deviation of the mean over the spaces, from one run to the next
};

MeanScore mean_over_spaces(const std::vector<ReplayedSpace>& spaces, std::size_t strategy) {
  MeanScore result;
  const auto count = static_cast<double>(spaces.size());
  double variance = 0;
  for (const ReplayedSpace& space : spaces) {
    result.mean += space.scores[strategy].mean / count;
    variance += std::pow(space.scores[strategy].deviation / count, 2);
  }
  result.deviation = std::sqrt(variance);
  return result;
}

std::string score_text(double mean, double deviation) { return fmt::format("{:.3f} ±{:.2f}", mean, deviation); }

std::string nearness_text(const Replayed& replayed, const Terminal& terminal) {
  std::vector<TableColumn> columns{{"space", false}, {"after"}};
  for (const std::string& strategy : replayed.strategies) columns.push_back({strategy});
  std::vector<std::vector<std::string>> rows;
  for (const ReplayedSpace& space : replayed.spaces) {
    for (std::size_t i = 0; i < space.nearness.front().size(); ++i) {
      rows.push_back({i == 0 ? space.name : "", std::to_string(space.nearness.front()[i].evaluations)});
      for (const std::vector<Nearness>& of_strategy : space.nearness) {
        rows.back().push_back(fmt::format("{:.1f} % ({})", 100 * of_strategy[i].share, of_strategy[i].within));
      }
    }
  }
  TableLook look;
  look.terminal = terminal;
  return fmt::format(
      "\nShare of the best rate after so many evaluations, mean of {} runs; in brackets how many of them are within "
      "{:.0f} %\n{}",
      replayed.repeats, 100 * kNear, text_table(columns, rows, look));
}

std::string score_table(const Replayed& replayed, const Terminal& terminal) {
  std::vector<TableColumn> columns{{"space", false}, {"configurations"}, {"evaluations"}};
  for (const std::string& strategy : replayed.strategies) columns.push_back({strategy});
  std::vector<std::vector<std::string>> rows;
  for (const ReplayedSpace& space : replayed.spaces) {
    rows.push_back({space.name, std::to_string(space.configurations), std::to_string(space.evaluations)});
    for (const Score& score : space.scores) rows.back().push_back(score_text(score.mean, score.deviation));
  }
  rows.push_back({"mean", "", ""});
  for (std::size_t i = 0; i < replayed.strategies.size(); ++i) {
    const MeanScore mean = mean_over_spaces(replayed.spaces, i);
    rows.back().push_back(score_text(mean.mean, mean.deviation));
  }
  TableLook look;
  look.terminal = terminal;
  look.style = [last = rows.size() - 1](std::size_t row) { return row == last ? Style::winner : Style::plain; };
  return text_table(columns, rows, look);
}

}  // namespace

std::string replay_text(const Replayed& replayed, const Terminal& terminal) {
  std::string text = score_table(replayed, terminal);
  const bool has_nearness = !replayed.spaces.empty() && !replayed.spaces.front().nearness.front().empty();
  if (has_nearness) text += nearness_text(replayed, terminal);
  return text;
}

nlohmann::ordered_json replay_json(const Replayed& replayed) {
  nlohmann::ordered_json json{{"repeats", replayed.repeats}, {"strategies", nlohmann::ordered_json::array()}};
  for (std::size_t i = 0; i < replayed.strategies.size(); ++i) {
    const MeanScore mean = mean_over_spaces(replayed.spaces, i);
    nlohmann::ordered_json strategy{
        {"name", replayed.strategies[i]}, {"score", mean.mean}, {"deviation", mean.deviation}};
    for (const ReplayedSpace& space : replayed.spaces) {
      const Score& score = space.scores[i];
      nlohmann::ordered_json curve = nlohmann::ordered_json::array();  // JSON has no NaN: it becomes null
      const std::size_t every = std::max<std::size_t>(1, score.curve.size() / kCurvePoints);
      for (std::size_t point = 0; point < score.curve.size(); point += every) curve.push_back(score.curve[point]);
      strategy["spaces"].push_back({{"name", space.name},
                                    {"configurations", space.configurations},
                                    {"evaluations", space.evaluations},
                                    {"seconds", space.seconds},
                                    {"score", score.mean},
                                    {"deviation", score.deviation},
                                    {"curve", std::move(curve)}});
      for (const Nearness& nearness : space.nearness[i]) {
        strategy["spaces"].back()["after"].push_back({{"evaluations", nearness.evaluations},
                                                      {"share", nearness.share},
                                                      {"least", nearness.least},
                                                      {"within", nearness.within}});
      }
    }
    json["strategies"].push_back(std::move(strategy));
  }
  return json;
}

}  // namespace stencil_tune
