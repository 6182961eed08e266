#include "tests/distributed/cut_cases.hpp"

#include "bench/scaling/starting_cells.hpp"
#include "generator/kernel_source/source.hpp"
#include "runtime/cuda/module.hpp"
#include "runtime/library/kernel_state.hpp"
#include "runtime/library/launch/rotation.hpp"
#include "runtime/library/library_parts.hpp"
#include "tests/distributed/fused_winner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace stencil_tune {
namespace {

using Axes = std::array<std::int64_t, kMaxRank>;
using Bytes = std::vector<std::byte>;

constexpr double kRoundings = 4;  // units in the last place of the largest value that a step may differ by

Request request_of(const std::string& stencil, const Axes& extents, Boundary boundary,
                   ElementType type = ElementType::f32) {
  Request request;
  request.stencil = load_stencil(stencil);
  request.type = type;
  request.extents = {3, extents};
  request.boundaries = {boundary, boundary, boundary};
  request.steps = 100;
  return request;
}

std::vector<CutCase> fused_stars(const std::vector<Cut>& cuts, const Axes& extents) {
  std::vector<CutCase> cases;
  for (const Cut& cut : cuts) {
    for (int fused = 1; fused <= 4; ++fused) {
      cases.push_back({.request = request_of("star3d1r", extents, Boundary::hold),
                       .cut = cut,
                       .fused = fused,
                       .steps = {fused, 2 * fused + 1}});
    }
  }
  return cases;
}

std::vector<CutCase> fused_waves(const std::vector<Cut>& cuts, const Axes& extents) {
  std::vector<CutCase> cases;
  for (const Cut& cut : cuts) {
    for (int fused = 1; fused <= 4; ++fused) {
      cases.push_back({.request = request_of("acoustic3d_o4", extents, Boundary::hold),
                       .cut = cut,
                       .fused = fused,
                       .steps = {fused + 1}});
    }
  }
  return cases;
}

std::vector<CutCase> staggered_fields(const std::vector<Cut>& cuts, const Axes& extents) {
  std::vector<CutCase> cases;
  for (const Cut& cut : cuts) {
    const Request yee = request_of("yee3d", extents, Boundary::hold);
    cases.push_back({.request = yee, .cut = cut, .per_exchange = 2, .steps = {5}});
    cases.push_back({.request = yee, .cut = cut, .fused = 2, .steps = {5}});
  }
  return cases;
}

std::vector<CutCase> periodic_axes(const std::vector<Cut>& cuts, const Axes& extents) {
  std::vector<CutCase> cases;
  for (const Cut& cut : cuts) {
    for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
      Request request = request_of("star3d1r", extents, Boundary::reflect, ElementType::f64);
      request.boundaries[axis] = Boundary::periodic;
      cases.push_back({.request = request, .cut = cut, .fused = 2, .steps = {5}});
    }
  }
  return cases;
}

std::vector<CutCase> sixteen_bits(const std::vector<Cut>& cuts, const Axes& extents) {
  std::vector<CutCase> cases;
  for (const Cut& cut : cuts) {
    for (const ElementType type : {ElementType::f16, ElementType::bf16}) {
      cases.push_back(
          {.request = request_of("star3d1r", extents, Boundary::hold, type), .cut = cut, .fused = 2, .steps = {5}});
    }
  }
  return cases;
}

std::vector<CutCase> overlapped(const std::vector<Cut>& cuts, const Axes& extents) {
  std::vector<CutCase> cases;
  for (const Cut& cut : cuts) {
    cases.push_back({.request = request_of("star3d1r", extents, Boundary::clamp),
                     .cut = cut,
                     .fused = 2,
                     .steps = {5},
                     .overlap = true});
    cases.push_back({.request = request_of("yee3d", extents, Boundary::hold),
                     .cut = cut,
                     .per_exchange = 2,
                     .steps = {5},
                     .overlap = true});
  }
  return cases;
}

std::vector<CutCase> graphs(const std::vector<Cut>& cuts, const Axes& extents) {
  std::vector<CutCase> cases;
  for (const Cut& cut : cuts) {
    const Request star = request_of("star3d1r", extents, Boundary::hold);
    cases.push_back({.request = star, .cut = cut, .fused = 2, .steps = {4}, .launches = 3});
    cases.push_back({.request = star, .cut = cut, .steps = {2}, .overlap = true, .launches = 3});
    cases.push_back({.request = request_of("acoustic3d_o4", extents, Boundary::hold),
                     .cut = cut,
                     .per_exchange = 2,
                     .steps = {6},
                     .launches = 2});
  }
  return cases;
}

std::vector<CutCase> with_points(const std::vector<Cut>& cuts, const Axes& extents) {
  std::vector<CutCase> cases;
  for (const Cut& cut : cuts) {
    cases.push_back({.request = request_of("star3d1r", extents, Boundary::hold),
                     .cut = cut,
                     .fused = 3,
                     .steps = {7},
                     .points = true});
  }
  return cases;
}

constexpr std::array kAllCases{
    CutCases{"FusedStepsOfAStar", fused_stars},
    CutCases{"FusedStepsOfAWaveWithTwoTimeLevels", fused_waves},
    CutCases{"StaggeredFieldsInTwoStages", staggered_fields},
    CutCases{"EachAxisPeriodicAloneInF64", periodic_axes},
    CutCases{"SixteenBitsACell", sixteen_bits},
    CutCases{"HalosBesideLaunches", overlapped},
    CutCases{"CudaGraphs", graphs},
    CutCases{"SourcesAndReceivers", with_points},
};

/// What a run leaves on the first rank, and the sources of all kernels of each rank.
struct Left {
  std::vector<Bytes> fields;
  Bytes records;
  std::vector<std::string> sources;
};

std::string sources_of(const Kernel& kernel) {
  std::string all;
  for (const PlanPart& part : kernel.state().plan) {
    for (const StageKernel& stage : part.stages) all += generate({stage.problem, stage.tuning}).text;
  }
  return all;
}

/// One source in the middle and one off the grid's cells, receivers around them.
PointList points_of(const Request& request) {
  const auto& n = request.extents.n;
  PointList list{.sources = 2, .source_cells = {}, .receivers = 3, .receiver_cells = {}};
  const auto at = [&](double share) {
    std::array<double, kMaxRank> place{};
    for (std::size_t axis = 0; axis < kMaxRank; ++axis) place[axis] = share * static_cast<double>(n[axis] - 3) + 1;
    return place;
  };
  const auto add = [](std::vector<PointCell>& cells, int point, int field, const std::array<double, kMaxRank>& place) {
    const std::vector<PointCell> around = spread(point, field, place);
    cells.insert(cells.end(), around.begin(), around.end());
  };
  add(list.source_cells, 0, 1, at(0.5));
  add(list.source_cells, 1, 1, at(0.31));
  add(list.receiver_cells, 0, 0, at(0.49));
  add(list.receiver_cells, 1, 0, at(0.7));
  add(list.receiver_cells, 2, 0, at(0.3));
  return list;
}

/// One rank of a run.
class RankRun {
 public:
  RankRun(Machine& machine, const CutCase& run, const Cut& cut, Library& library,
          const std::shared_ptr<Communicator>& ranks)
      : run_(run),
        driver_(machine.driver()),
        machine_(machine),
        stream_(driver_),
        kernel_(library, ranks, run.request,
                {.cut = cut, .overlap = run.overlap, .steps_per_exchange = run.per_exchange}),
        fields_(prepared()) {
    const int fused = kernel_.kernel().fused_steps();
    if (fused == run.fused) return;
    throw Error(
        ErrorCode::internal,
        fmt::format("{}: rank {} of {} has cells {} and fuses {} steps: {}", run.describe(), kernel_.rank(),
                    ranks->size(), to_string(fields_.extents()), fused, kernel_.kernel().run_evidence().sentence()));
  }

  void start(const std::vector<Bytes>& cells) {
    for (std::size_t field = 0; field < cells.size(); ++field) {
      const int number = static_cast<int>(field);
      const Extents extents = fields_.extents();
      const std::int64_t all = fields_.pitch() * extents.n[1] * extents.n[2];
      driver_.fill_bytes(reinterpret_cast<DevicePointer>(fields_.data(number)), 0xff,  // NaN in every type
                         static_cast<std::size_t>(all) * size_of(run_.request.type), stream_.get());
      fields_.scatter(number, 0, is_first() ? Span<const std::byte>(cells[field]) : Span<const std::byte>(),
                      stream_.get());
    }
  }

  void make_steps(Left& left) {
    if (run_.points) return make_steps_with_points(left);
    if (run_.launches > 0) {
      kernel_.refresh(stream_.get(), fields_);
      machine_.replay(stream_.get(), run_.launches, [&] { kernel_.advance(stream_.get(), fields_, run_.steps[0]); });
      return kernel_.wait(stream_.get());
    }
    Place place;
    for (const int steps : run_.steps) {
      kernel_.advance(stream_.get(), fields_, steps, {}, place);
      place.step += steps;
    }
    kernel_.wait(stream_.get());
  }

  void gather(Left& left) {
    left.sources[static_cast<std::size_t>(kernel_.rank())] = sources_of(kernel_.kernel());
    const std::size_t bytes = static_cast<std::size_t>(run_.request.extents.cells()) * size_of(run_.request.type);
    for (std::size_t field = 0; field < run_.request.stencil.fields.size(); ++field) {
      Bytes cells(is_first() ? bytes : 0);
      fields_.gather(static_cast<int>(field), 0, cells, stream_.get());
      if (is_first()) left.fields.push_back(std::move(cells));
    }
  }

 private:
  DistributedKernel& prepared() {
    kernel_.prepare(stream_.get());
    return kernel_;
  }
  bool is_first() const { return kernel_.rank() == 0; }

  void make_steps_with_points(Left& left) {
    const int steps = run_.steps[0];
    const PointList list = points_of(run_.request);
    const Points points = kernel_.place_points(list);
    const std::size_t size = run_.request.type == ElementType::f64 ? sizeof(double) : sizeof(float);
    const auto type = size == sizeof(double) ? ElementType::f64 : ElementType::f32;
    const Bytes values = bench::starting_cells(std::int64_t{list.sources} * steps, type, bench::Start::state, 99);
    DeviceBuffer series(driver_, values.size());
    const auto records_bytes = static_cast<std::size_t>(points.records(steps) * list.receivers) * size;
    DeviceBuffer records(driver_, records_bytes);
    series.write(values, stream_.get());
    kernel_.advance_with_points(
        points, {reinterpret_cast<const void*>(series.address()), reinterpret_cast<void*>(records.address())},
        stream_.get(), fields_, steps);
    Bytes sums(is_first() ? records_bytes : 0);
    kernel_.gather_records(points, reinterpret_cast<const void*>(records.address()), steps, 0, sums, stream_.get());
    kernel_.wait(stream_.get());
    if (is_first()) left.records = std::move(sums);
  }

  const CutCase& run_;
  Driver& driver_;
  Machine& machine_;
  Stream stream_;
  DistributedKernel kernel_;
  DistributedFields fields_;
};

Library library_of(Machine& machine, int fused) {
  LibraryParts parts;
  parts.driver = [&]() -> Driver& { return machine.driver(); };
  parts.compiler = [&] { return machine.compiler(); };
  parts.winners = [fused](const Problem& problem, const std::string& architecture) {
    return fused_winner(problem, fused, architecture);
  };
  return Library(std::make_unique<Library::Impl>(std::move(parts)));
}

Left run_over(Machine& machine, const CutCase& run, const Cut& cut, const std::vector<Bytes>& start) {
  const int count = cut[0] * cut[1] * cut[2];
  Left left;
  left.sources.resize(static_cast<std::size_t>(count));
  Library library = library_of(machine, run.fused);
  machine.ranks(count).run([&](const std::shared_ptr<Communicator>& ranks) {
    RankRun rank(machine, run, cut, library, ranks);
    rank.start(start);
    rank.make_steps(left);
    rank.gather(left);
  });
  return left;
}

/// What differs between cells that are raw bytes of the type; empty where they are near enough.
std::string difference(const Bytes& one, const Bytes& all, ElementType type, double bound, const std::string& what) {
  if (one == all) return "";
  if (one.size() != all.size()) return fmt::format("{}: {} and {} bytes", what, one.size(), all.size());
  const std::vector<double> expected = bench::values_of(one, type), found = bench::values_of(all, type);
  double largest = 0, apart = 0;
  std::size_t differing = 0;
  bool finite = true;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    finite = finite && std::isfinite(expected[i]) && std::isfinite(found[i]);
    largest = std::max(largest, std::fabs(expected[i]));
    apart = std::max(apart, std::fabs(expected[i] - found[i]));
    if (expected[i] != found[i]) ++differing;
  }
  if (finite && apart <= bound * largest) return "";
  return fmt::format("{}: {} of {} cells differ, by up to {:.2g} of the largest{}", what, differing, expected.size(),
                     apart / largest, finite ? "" : "; some are no numbers");
}

bool has_numbers_alone(const Bytes& cells, ElementType type) {
  const std::vector<double> values = bench::values_of(cells, type);
  return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

}  // namespace

std::string CutCase::describe() const {
  std::string text =
      fmt::format("{} {} {} {} cut {}, {} fused", request.stencil.name, name(request.type), to_string(request.extents),
                  to_string(request.boundaries, request.extents.rank), to_string(cut, request.extents.rank), fused);
  if (per_exchange > 0) text += fmt::format(", {} an exchange", per_exchange);
  if (overlap) text += ", overlapped";
  if (launches > 0) text += ", as a graph";
  if (points) text += ", with points";
  return text;
}

std::span<const CutCases> all_cut_cases() { return kAllCases; }

std::vector<Cut> cuts_into(int ranks, int rank) {
  std::vector<Cut> cuts;
  for (int x = 1; x <= ranks; ++x) {
    for (int y = 1; x * y <= ranks; ++y) {
      const int z = ranks / (x * y);
      if (x * y * z != ranks || (rank < 3 && z > 1) || (rank < 2 && y > 1)) continue;
      cuts.push_back({x, y, z});
    }
  }
  return cuts;
}

Compared compare_with_one_rank(Machine& machine, const CutCase& run) {
  const Request& request = run.request;
  const Problem problem =
      make_problem(request.stencil, request.type, request.boundaries, request.extents, 0, 1, kWholeStep);
  const std::vector<int>& known = problem.step.constants;
  std::vector<Bytes> start;
  for (int field = 0; field < static_cast<int>(request.stencil.fields.size()); ++field) {
    const bool is_known = std::find(known.begin(), known.end(), field) != known.end();
    start.push_back(bench::starting_cells(request.extents.cells(), request.type,
                                          is_known ? bench::Start::known : bench::Start::state,
                                          static_cast<std::uint64_t>(field)));
  }
  const Left one = run_over(machine, run, {1, 1, 1}, start);
  const Left all = run_over(machine, run, run.cut, start);
  const bool same = std::all_of(all.sources.begin(), all.sources.end(),
                                [&](const std::string& source) { return source == one.sources.front(); });
  const int steps = std::accumulate(run.steps.begin(), run.steps.end(), 0) * std::max(run.launches, 1);
  const double bound = kRoundings * bench::epsilon_of(request.type) * steps;
  const std::vector<bool> counts = fields_that_count(problem);
  std::string differences;
  for (std::size_t field = 0; field < start.size(); ++field) {
    if (!counts[field]) continue;
    const std::string what = "field " + request.stencil.fields[field];
    if (!has_numbers_alone(one.fields[field], request.type)) differences += what + " of one rank has no numbers; ";
    differences += difference(one.fields[field], all.fields[field], request.type, same ? 0 : bound, what);
  }
  const ElementType records = request.type == ElementType::f64 ? ElementType::f64 : ElementType::f32;
  differences +=
      difference(one.records, all.records, records, kRoundings * bench::epsilon_of(records) * steps, "records");
  return {.difference = differences, .to_the_bit = same};
}

}  // namespace stencil_tune
