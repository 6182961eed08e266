// A stencil on a grid on the GPU: fields to set, steps to take, fields to read, and how fast it went.
#pragma once

#include "stencil_tune/stencil_tune.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace examples {

struct Grid {
  stencil_tune::Extents extents;
  stencil_tune::ElementType type = stencil_tune::ElementType::f32;  ///< f32 or f64
  stencil_tune::Boundary boundary = stencil_tune::Boundary::hold;   ///< on all axes
};

struct Rate {
  double gstencils = 0;  ///< GStencil/s: 1e9 updated cells a second, of whole runs
  int fused_steps = 1;   ///< steps that a launch makes
  double one_step = 0;   ///< GStencil/s of the best kernel that makes one step a launch; the same where none are fused
  double copy_gbps = 0;  ///< GB/s, read + written, of a copy from one field to another
  double share = 0;      ///< share of that copy's rate to which the stencil's least traffic amounts at this rate
};

/// Where there is no GPU to run on.
class NoGpu : public stencil_tune::Error {
 public:
  using Error::Error;
};

class Simulation {
 public:
  /// Looks the kernel up for runs of that many steps, which it may fuse, compiles it and makes the fields, filled with
  /// zeros, on the first GPU. An empty database is the user's own. Throws NoGpu; Error.
  Simulation(const stencil_tune::Stencil& stencil, const Grid& grid, int steps, const std::string& database);

  /// All cells of a field, x fastest. Values are rounded to the grid's element type.
  void set(std::size_t field, std::span<const double> cells);
  std::vector<double> get(std::size_t field) const;

  /// One coefficient for each of the stencil's; else its own.
  void use_coefficients(std::vector<double> coefficients) { coefficients_ = std::move(coefficients); }

  /// Asynchronous; the fields rotate as the stencil says.
  void advance(std::int64_t steps);

  /// Repeats runs for a while with the clock running, then single steps, then copies fields. What they hold is lost.
  Rate measure_rate();

  /// Why this kernel, for people.
  std::string evidence() const { return kernel_.evidence().sentence(); }

 private:
  stencil_tune::DeviceField& owner(void* address) const;
  double measure_gstencils(const stencil_tune::Kernel& kernel, int steps);
  double measure_copy_gbps();

  stencil_tune::Stencil stencil_;
  Grid grid_;
  int steps_;
  stencil_tune::DeviceContext context_;
  stencil_tune::Library library_;
  mutable std::vector<stencil_tune::DeviceField> storage_;
  std::vector<void*> fields_;  ///< addresses in storage_, in the order of the stencil's fields as of now
  stencil_tune::Kernel kernel_;
  std::vector<double> coefficients_;
};

}  // namespace examples
