// How fast are runs of a stencil with layers, by the winners that are known here, and are they right?
//
//   stencil_tune_bench_layers DEFINITION.toml 512x512x512 20 [STEPS] [--slabs]
//
// --slabs: arrays of fields in layers hold these alone (Request::slabs); what it compares with has those of whole
// grids. Compares all cells after some steps with those of the kernels that nobody tuned, which make the whole grid
// stage by stage; then says what a run of so many steps takes, alone and with a source and 126 receivers, the median of
// nine under continuous load: without CUDA graphs and with them, twice (STENCIL_TUNE_GRAPHS). Exit status: 0 right, 1
// wrong or an error, 2 usage.
#include "generator/stencil/problem.hpp"
#include "stencil_tune/stencil_tune.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace st = stencil_tune;
using Clock = std::chrono::steady_clock;

constexpr double kMostDifference = 1e-4;  // between two cells, in units of the field's greatest value

/// Planes of a grid, or rows where it has no planes, work(first, end) by all processors: fields of this bench have
/// billions of cells.
template <class Work>
void beside_each_other(std::int64_t count, const Work& work) {
  const std::int64_t parts = std::clamp<std::int64_t>(std::thread::hardware_concurrency(), 1, count);
  std::vector<std::jthread> threads;
  for (std::int64_t part = 0; part < parts; ++part) {
    threads.emplace_back([&work, first = count * part / parts, end = count * (part + 1) / parts] { work(first, end); });
  }
}

/// Where an array holds the cells of a field, by their indices along each axis: the sum of three. -1: nowhere.
class Places {
 public:
  /// A field in layers has cells within these alone, whether its array holds these alone or the whole grid.
  Places(const st::Request& request, int field, const st::ArrayLayout& array) {
    const int layers = st::layer_axis(request.stencil, field);
    const st::LayerWidths widths = request.stencil.layers.value_or(st::LayerWidths{});
    const std::array<std::int64_t, 3> strides{1, array.row, array.plane};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const bool in_layers = static_cast<int>(axis) == layers;
      const std::int64_t n = in_layers ? request.extents.n[axis] : array.n[axis];
      for (std::int64_t i = 0; i < n; ++i) {
        const bool in_low = i < widths.low[axis], in_high = i >= n - widths.high[axis];
        const std::int64_t index = in_high ? i - (n - array.n[axis]) : i;
        along_[axis].push_back(in_layers && !in_low && !in_high ? -1 : index * strides[axis]);
      }
    }
  }

  /// Calls found(cell of the grid or profile, its place).
  template <class Found>
  void for_each(const Found& found) const {
    const auto& [x, y, z] = along_;
    const std::size_t outer = z.size() > 1 ? 2 : 1;
    const auto size = [](const auto& axis) { return static_cast<std::int64_t>(axis.size()); };
    beside_each_other(size(along_[outer]), [&](std::int64_t first, std::int64_t end) {
      const std::int64_t low_z = outer == 2 ? first : 0, high_z = outer == 2 ? end : size(z);
      const std::int64_t low_y = outer == 1 ? first : 0, high_y = outer == 1 ? end : size(y);
      for (std::int64_t k = low_z; k < high_z; ++k) {
        for (std::int64_t j = low_y; j < high_y; ++j) {
          const std::int64_t row = z[index(k)] < 0 || y[index(j)] < 0 ? -1 : z[index(k)] + y[index(j)];
          std::int64_t cell = (k * size(y) + j) * size(x);
          for (std::int64_t i = 0; row >= 0 && i < size(x); ++i, ++cell) {
            if (x[index(i)] >= 0) found(index(cell), index(row + x[index(i)]));
          }
        }
      }
    });
  }

 private:
  static std::size_t index(std::int64_t value) { return static_cast<std::size_t>(value); }

  std::array<std::vector<std::int64_t>, 3> along_;
};

/// Fields in host memory, as a solver would begin: a random state between small numbers, profiles that damp.
class Start {
 public:
  explicit Start(const st::Request& request) : request_(request) {
    const st::Stencil& stencil = request.stencil;
    for (int field = 0; field < static_cast<int>(stencil.fields.size()); ++field) {
      auto& cells = fields.emplace_back();
      const std::string& name = stencil.fields[static_cast<std::size_t>(field)];
      if (st::is_profile(stencil, field)) {
        const int axis = st::axes_of(st::profile_along(stencil, field)).front();
        cells.resize(static_cast<std::size_t>(request.extents.n[static_cast<std::size_t>(axis)]));
        for (std::size_t i = 0; i < cells.size(); ++i) {
          const float depth = depth_in_layer(axis, static_cast<std::int64_t>(i));
          cells[i] = name[0] == 'b' ? 0.9F - 0.3F * depth : -0.2F * depth * depth;
        }
      } else if (st::layer_axis(stencil, field) < 0) {
        cells.resize(static_cast<std::size_t>(request.extents.cells()));
        const float material = material_of(stencil, field);
        beside_each_other(static_cast<std::int64_t>(cells.size()), [&](std::int64_t first, std::int64_t end) {
          std::minstd_rand random(static_cast<unsigned>(first % 1000003 + field + 1));
          for (std::int64_t i = first; i < end; ++i) {
            const float uniform = static_cast<float>(random()) / static_cast<float>(std::minstd_rand::max());
            cells[static_cast<std::size_t>(i)] = material != 0 ? material : 0.02F * uniform - 0.01F;
          }
        });
      }
    }
  }

  std::vector<std::vector<float>> fields;  ///< those in layers are empty, and begin with zeros

 private:
  /// Cells of a field that no step changes are so small, or large where updates divide by them, that waves stay stable.
  /// 0: steps change it.
  static float material_of(const st::Stencil& stencil, int field) {
    const bool changes = std::any_of(stencil.rotations.begin(), stencil.rotations.end(),
                                     [&](const st::Rotation& made) { return made.from == field || made.to == field; });
    const std::string& name = stencil.fields[static_cast<std::size_t>(field)];
    if (changes) return 0;
    return name == "rho" || name == "softness" ? 10.0F : 0.1F;
  }

  /// 0 outside, 1 in the outermost cell.
  float depth_in_layer(int axis, std::int64_t index) const {
    const auto a = static_cast<std::size_t>(axis);
    const st::LayerWidths widths = request_.stencil.layers.value_or(st::LayerWidths{});
    const std::int64_t low = widths.low[a] - index, high = index - (request_.extents.n[a] - 1 - widths.high[a]);
    if (low > 0) return static_cast<float>(low) / static_cast<float>(widths.low[a]);
    return high > 0 ? static_cast<float>(high) / static_cast<float>(widths.high[a]) : 0;
  }

  const st::Request& request_;
};

/// The fields on the GPU, and which buffer each is in.
class OnDevice {
 public:
  OnDevice(const st::Request& request, const Start& start) : request_(request) {
    for (std::size_t field = 0; field < start.fields.size(); ++field) {
      const st::ArrayLayout array = st::array_of_field(request, static_cast<int>(field));
      st::DeviceField& buffer = buffers_.emplace_back(st::Extents{3, array.n}, request.type, array.row);
      fields.push_back(buffer.data());
      bytes += static_cast<std::size_t>(array.cells()) * sizeof(float);
      if (start.fields[field].empty()) continue;
      array_.assign(static_cast<std::size_t>(array.cells()), 0);
      Places(request, static_cast<int>(field), array).for_each([&](std::size_t cell, std::size_t place) {
        array_[place] = start.fields[field][cell];
      });
      buffer.copy_from(std::as_bytes(std::span(array_)));
    }
  }

  /// Puts the field's cells on the whole grid into `cells`, 0 where it does not exist.
  void read(std::size_t field, std::vector<float>& cells) {
    const st::ArrayLayout array = st::array_of_field(request_, static_cast<int>(field));
    array_.resize(static_cast<std::size_t>(array.cells()));
    for (const st::DeviceField& buffer : buffers_) {
      if (buffer.data() == fields[field]) buffer.copy_to(std::as_writable_bytes(std::span(array_)));
    }
    cells.assign(static_cast<std::size_t>(request_.extents.cells()), 0);
    Places(request_, static_cast<int>(field), array).for_each([&](std::size_t cell, std::size_t place) {
      cells[cell] = array_[place];
    });
  }

  std::vector<void*> fields;
  std::size_t bytes = 0;  ///< all arrays together

 private:
  const st::Request& request_;
  std::deque<st::DeviceField> buffers_;
  std::vector<float> array_;  // kept from field to field: new pages cost more than what is written to them
};

/// A NaN stays.
double larger(double a, double b) { return std::isnan(a) || a >= b ? a : b; }

bool agree(const st::Request& request, OnDevice& a, OnDevice& b) {
  bool right = true;
  std::vector<float> x, y;
  for (const st::Rotation& rotation : request.stencil.rotations) {
    const auto field = static_cast<std::size_t>(rotation.to);
    a.read(field, x);
    b.read(field, y);
    double greatest = 0, worst = 0;
    std::mutex together;
    beside_each_other(static_cast<std::int64_t>(x.size()), [&](std::int64_t first, std::int64_t end) {
      double greatest_here = 0, worst_here = 0;
      for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(end); ++i) {
        greatest_here = std::max(greatest_here, std::fabs(static_cast<double>(y[i])));
        const double difference = std::fabs(static_cast<double>(x[i]) - y[i]);
        worst_here = larger(worst_here, difference);
      }
      const std::lock_guard lock(together);
      greatest = std::max(greatest, greatest_here);
      worst = larger(worst, worst_here);
    });
    const bool is_right = worst <= kMostDifference * greatest && greatest > 0 && std::isfinite(greatest);
    fmt::print("  {:<10} greatest {:.3g}, largest difference {:.3g}{}\n", request.stencil.fields[field], greatest,
               worst, is_right ? "" : "  WRONG");
    right = right && is_right;
  }
  return right;
}

/// A source in the middle of the grid, and receivers in a row across the cells that steps update: of what a step makes
/// anew everywhere, the first.
class Shot {
 public:
  Shot(const st::Request& request, st::Kernel& kernel, int steps)
      : series_({1, {steps, 1, 1}}, request.type, steps),
        records_({1, {std::int64_t{steps} * kReceivers, 1, 1}}, request.type, std::int64_t{steps} * kReceivers) {
    const st::Stencil& stencil = request.stencil;
    const auto whole = std::find_if(stencil.rotations.begin(), stencil.rotations.end(),
                                    [&](const st::Rotation& made) { return st::layer_axis(stencil, made.from) < 0; });
    std::array<double, st::kMaxRank> middle{};
    for (int axis = 0; axis < stencil.rank; ++axis) {
      middle[static_cast<std::size_t>(axis)] =
          static_cast<double>(request.extents.n[static_cast<std::size_t>(axis)] / 2);
    }
    const st::Box updated = st::updated_box(
        st::make_problem(stencil, request.type, request.boundaries, request.extents, 0, 1, st::kWholeStep));
    const auto first = static_cast<double>(updated.low[0]), last = static_cast<double>(updated.high[0] - 1);
    st::PointList list{.sources = 1, .source_cells = st::spread(0, whole->from, middle), .receivers = kReceivers};
    for (int receiver = 0; receiver < kReceivers; ++receiver) {
      std::array<double, st::kMaxRank> at = middle;
      at[0] = first + (last - first) * (receiver + 1) / (kReceivers + 1);
      for (const st::PointCell& cell : st::spread(receiver, whole->to, at)) list.receiver_cells.push_back(cell);
    }
    points_.emplace(kernel.place_points(list));
    std::vector<float> ones(static_cast<std::size_t>(steps), 1e-3F);
    series_.copy_from(std::as_bytes(std::span(ones)));
  }

  void advance(const st::Kernel& kernel, std::vector<void*>& fields, int steps) const {
    kernel.advance_with_points(*points_, {.series = series_.data(), .records = records_.data()}, nullptr, fields,
                               steps);
  }

  static constexpr int kReceivers = 126;

 private:
  st::DeviceField series_, records_;
  std::optional<st::Points> points_;
};

/// The median.
template <class Advance>
double seconds_of_run(st::DeviceContext& context, const Advance& advance) {
  constexpr int kRuns = 9;
  std::vector<double> seconds;
  for (int run = 0; run <= kRuns; ++run) {
    context.synchronize();
    const Clock::time_point begun = Clock::now();
    advance();
    context.synchronize();
    if (run > 0) seconds.push_back(std::chrono::duration<double>(Clock::now() - begun).count());
  }
  std::nth_element(seconds.begin(), seconds.begin() + kRuns / 2, seconds.end());
  return seconds[kRuns / 2];
}

st::Kernel untuned(const st::Request& request) {
  setenv("STENCIL_TUNE_DB", "/nonexistent/none.db", 1);
  setenv("STENCIL_TUNE_SITE_DB", "", 1);
  setenv("STENCIL_TUNE_PRETUNED", "off", 1);
  static st::Library library;
  st::Request steps_alone = request;
  steps_alone.steps = 1;
  return library.lookup(steps_alone);
}

int run(std::vector<std::string> words) {
  const bool slabs = words.back() == "--slabs";
  if (slabs) words.pop_back();
  const int steps = words.size() > 3 ? std::atoi(words[3].c_str()) : 100;
  st::Request request{.stencil = st::load_stencil(words[0])};
  request.stencil.layers = st::parse_layer_widths(words[2], request.stencil.rank);
  request.extents = st::parse_extents(words[1], request.stencil.rank);
  request.steps = steps;
  st::Request whole = request;
  request.slabs = slabs;
  st::DeviceContext context;
  st::Library library;
  st::Kernel kernel = library.lookup(request);
  kernel.prepare();
  fmt::print("{}\n", kernel.run_evidence().sentence());
  const Start start(request);
  OnDevice fast(request, start);
  bool right = true;
  {
    st::Kernel plain = untuned(whole);
    plain.prepare();
    OnDevice slow(whole, start);
    const int compared = 2 * kernel.fused_steps() + 1;
    kernel.advance(nullptr, fast.fields, compared);
    plain.advance(nullptr, slow.fields, compared);
    context.synchronize();
    fmt::print("after {} steps, beside kernels that nobody tuned:\n", compared);
    right = agree(request, fast, slow);
    std::fflush(stdout);
  }
  fmt::print("arrays {:.3f} GiB, spare buffers {:.3f} GiB\n", static_cast<double>(fast.bytes) / 0x1p30,
             static_cast<double>(kernel.workspace_bytes()) / 0x1p30);
  const auto say = [&](const std::string& what, const auto& advance) {
    const double seconds = seconds_of_run(context, advance);
    fmt::print("{} steps{} in {:.3f} ms: {:.1f} GStencil/s, all cells counted\n", steps, what, 1e3 * seconds,
               static_cast<double>(request.extents.cells()) * steps / seconds / 1e9);
  };
  const Shot shot(request, kernel, steps);
  for (const char* graphs : {"0", "1", "0", "1"}) {
    setenv("STENCIL_TUNE_GRAPHS", graphs, 1);
    const std::string how = *graphs == '1' ? ", CUDA graphs," : "";
    say(how, [&] { kernel.advance(nullptr, fast.fields, steps); });
    say(fmt::format(" with a source and {} receivers{}", Shot::kReceivers, how),
        [&] { shot.advance(kernel, fast.fields, steps); });
  }
  return right ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
  if (count < 4) {
    std::fprintf(stderr, "usage: stencil_tune_bench_layers DEFINITION.toml NXxNYxNZ LAYER [STEPS] [--slabs]\n");
    return 2;
  }
  try {
    return run({words + 1, words + count});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
