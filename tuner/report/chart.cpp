#include "tuner/report/chart.hpp"

#include "tuner/report/html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace stencil_tune {
namespace {

constexpr double kLeft = 46, kRight = 372, kTop = 8, kBottom = 206;  // edges of the plot, in a picture of 380 x 240

/// From values to units along one axis.
struct Axis {
  Scale scale;
  double low, high;  ///< values
  double from, to;   ///< units

  double at(double value) const {
    const auto place = [&](double v) { return scale == Scale::linear ? v : std::log(v); };
    return from + (to - from) * (place(value) - place(low)) / (place(high) - place(low));
  }

  /// 1, 2 or 5 times a power of ten apart; with a logarithmic scale powers of two.
  std::vector<double> ticks() const {
    std::vector<double> all;
    if (scale == Scale::logarithmic) {
      const double factor = std::log2(high / low) > 8 ? 4 : 2;
      for (double tick = std::exp2(std::ceil(std::log2(low))); tick <= high; tick *= factor) all.push_back(tick);
      return all;
    }
    const double rough = (high - low) / 5;
    const double power = std::pow(10, std::floor(std::log10(rough)));
    const double step = power * (rough / power < 2 ? 2 : rough / power < 5 ? 5 : 10);
    for (double tick = low; tick <= high; tick += step) all.push_back(tick);
    return all;
  }
};

Axis axis_of(const std::vector<double>& values, Scale scale, double from, double to) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  if (scale == Scale::linear) return {scale, 0, *most > 0 ? *most * 1.05 : 1, from, to};
  return {scale, *least / 1.3, *most * 1.3, from, to};
}

std::string axis_svg(const Axis& x, const Axis& y) {
  std::string text;
  for (const double tick : x.ticks()) {
    text += fmt::format(
        "<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/>"
        "<text x=\"{0:.1f}\" y=\"{3}\" text-anchor=\"middle\">{4:.4g}</text>\n",
        x.at(tick), kTop, kBottom, kBottom + 13, tick);
  }
  for (const double tick : y.ticks()) {
    text += fmt::format(
        "<line class=\"grid\" y1=\"{0:.1f}\" y2=\"{0:.1f}\" x1=\"{1}\" x2=\"{2}\"/>"
        "<text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5:.4g}</text>\n",
        y.at(tick), kLeft, kRight, kLeft - 4, y.at(tick) + 3.5, tick);
  }
  return text;
}

}  // namespace

std::string Chart::svg() const {
  std::vector<double> xs, ys;
  for (const Series& each : series_) {
    for (const ChartPoint& point : each.points) {
      xs.push_back(point.x);
      ys.push_back(point.y);
    }
  }
  if (xs.empty()) return "<p>Nothing was measured.</p>\n";
  const Axis x = axis_of(xs, scale_, kLeft, kRight), y = axis_of(ys, scale_, kBottom, kTop);
  std::string text = fmt::format(
      "<svg viewBox=\"0 0 380 240\" role=\"img\" aria-label=\"{}\" "
      "xmlns=\"http://www.w3.org/2000/svg\">\n",
      escape_html(name_));
  text += axis_svg(x, y);
  text += fmt::format("<text x=\"{}\" y=\"236\" text-anchor=\"middle\">{}</text>\n", (kLeft + kRight) / 2,
                      escape_html(x_axis_));
  text += fmt::format("<text transform=\"translate(10 {}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
                      (kTop + kBottom) / 2, escape_html(y_axis_));
  for (const Series& each : series_) {
    std::string path;
    for (const ChartPoint& point : each.points) {
      if (each.connected) {
        path += fmt::format("{:.1f},{:.1f} ", x.at(point.x), y.at(point.y));
      } else {
        text += fmt::format("<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\"><title>{}</title></circle>\n",
                            each.style, x.at(point.x), y.at(point.y), escape_html(point.label));
      }
    }
    if (!path.empty()) text += fmt::format("<polyline class=\"{}\" points=\"{}\"/>\n", each.style, path);
  }
  return text + "</svg>\n";
}

}  // namespace stencil_tune
