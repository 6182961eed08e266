// A diagram as inline SVG, drawn to be legible from 360 pixels on.
#pragma once

#include <string>
#include <vector>

namespace stencil_tune {

struct ChartPoint {
  double x = 0;
  double y = 0;
  std::string label;  ///< shown under the pointer
};

enum class Scale { linear, logarithmic };

class Chart {
 public:
  /// Axes begin at 0, or at the least value where they are logarithmic. name: what it shows, for who cannot see it.
  Chart(std::string name, std::string x_axis, std::string y_axis, Scale scale)
      : name_(std::move(name)), x_axis_(std::move(x_axis)), y_axis_(std::move(y_axis)), scale_(scale) {}

  /// style: a class of the page's style sheet.
  void dots(std::vector<ChartPoint> points, std::string style) {
    series_.push_back({std::move(points), std::move(style), false});
  }
  void line(std::vector<ChartPoint> points, std::string style) {
    series_.push_back({std::move(points), std::move(style), true});
  }

  std::string svg() const;

 private:
  struct Series {
    std::vector<ChartPoint> points;
    std::string style;
    bool connected;
  };

  std::string name_, x_axis_, y_axis_;
  Scale scale_;
  std::vector<Series> series_;
};

}  // namespace stencil_tune
