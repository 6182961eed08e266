// A run with points on the first GPU: fields, series and records in device memory, and how long it takes.
#pragma once

#include "stencil_tune/stencil_tune.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace examples {

class PointRun {
 public:
  /// fused_for: steps of a typical run, which the kernel may fuse; 1: single steps. Fields are dense and hold zeros.
  PointRun(const stencil_tune::Stencil& stencil, const stencil_tune::Extents& extents, int fused_for);

  int field(const std::string& name) const;  ///< its number
  void set(int field, const std::vector<float>& cells);
  std::vector<float> get(int field) const;
  void place(const stencil_tune::PointList& points);

  /// So many steps with the points, whose series has a row a step. Returns the records, a row each.
  std::vector<float> advance(std::int64_t steps, const std::vector<float>& series);

  /// Seconds of so many steps, with the points or without, from a start that does not matter.
  double seconds(std::int64_t steps, bool with_points);

  std::string evidence() const;
  int fused_steps() const { return points_.front().fused_steps(); }

 private:
  stencil_tune::DeviceField array(std::int64_t values) const;
  void run(std::int64_t steps, bool with_points, const stencil_tune::PointData& data);

  stencil_tune::Stencil stencil_;
  stencil_tune::Extents extents_;
  mutable stencil_tune::DeviceContext context_;
  stencil_tune::Library library_;
  stencil_tune::Kernel kernel_;
  std::vector<stencil_tune::DeviceField> storage_;
  std::vector<void*> fields_;
  std::vector<stencil_tune::Points> points_;  ///< none until they are placed
};

/// A plane of cells as a grey picture, mid-grey at 0 and full contrast at its largest magnitude (PGM, which most
/// viewers know).
void write_pgm(const std::string& file, std::int64_t width, std::int64_t height, const std::vector<float>& cells);

/// Prints the largest difference of two lists of records, and whether rounding explains it.
bool agree(const std::vector<float>& records, const std::vector<float>& other);

/// Runs the example: 0 right, 1 wrong or an error, 77 where there is no GPU.
int run_on_gpu(bool (*example)(int argc, char** argv), int argc, char** argv);

}  // namespace examples
