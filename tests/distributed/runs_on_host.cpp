#include "tests/distributed/runs_on_host.hpp"

#include "generator/stencil/problem.hpp"
#include "runtime/library/kernel_state.hpp"
#include "runtime/library/launch/rotation.hpp"
#include "tests/distributed/fused_winner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace stencil_tune {
namespace {

Cells part_of(const Cells& whole, const Extents& extents, const Box& box) {
  Cells part;
  for (std::int64_t z = box.low[2]; z < box.high[2]; ++z) {
    for (std::int64_t y = box.low[1]; y < box.high[1]; ++y) {
      const auto row = whole.begin() + (z * extents.n[1] + y) * extents.n[0];
      part.insert(part.end(), row + box.low[0], row + box.high[0]);
    }
  }
  return part;
}

void fill_with_nan(const DistributedFields& fields, int field) {
  const Extents extents = fields.extents();
  auto* cells = static_cast<double*>(fields.data(field));
  std::fill_n(cells, fields.pitch() * extents.n[1] * extents.n[2], std::numeric_limits<double>::quiet_NaN());
}

}  // namespace

std::string DistributedRun::describe() const {
  return fmt::format("{} {} {} cut {} T={} per exchange {}{}", request.stencil.name, to_string(request.extents),
                     to_string(request.boundaries, request.extents.rank), to_string(cut, request.extents.rank), fused,
                     per_exchange, overlap ? ", overlapped" : "");
}

SharedHostDriver& RunsOnHost::driver() {
  static SharedHostDriver driver;
  return driver;
}

Library RunsOnHost::library(int fused) {
  LibraryParts parts;
  parts.driver = []() -> Driver& { return driver(); };
  parts.compiler = [] { return std::make_shared<SourceCompiler>(); };
  parts.winners = [fused](const Problem& problem, const std::string& architecture) {
    return fused_winner(problem, fused, architecture);
  };
  return Library(std::make_unique<Library::Impl>(std::move(parts)));
}

std::vector<Cells> RunsOnHost::on_one_domain(const DistributedRun& run, const std::vector<Cells>& start) {
  Library library = this->library(run.fused);
  Kernel kernel = library.lookup(run.request);
  kernel.prepare();
  EXPECT_EQ(kernel.fused_steps(), run.fused) << kernel.run_evidence().sentence();
  std::vector<Cells> arrays = start;
  std::vector<void*> fields;
  for (Cells& array : arrays) fields.push_back(array.data());
  Place place = run.place;
  for (const int steps : run.steps) {
    kernel.advance_at(place, nullptr, fields, steps);
    place.step += steps;
  }
  std::vector<Cells> after;
  for (std::size_t field = 0; field < fields.size(); ++field) {
    const auto* cells = static_cast<const double*>(fields[field]);
    after.emplace_back(cells, cells + start[field].size());
  }
  return after;
}

std::vector<Cells> RunsOnHost::on_ranks(const DistributedRun& run, const std::vector<Cells>& start) {
  ThreadRanks ranks(run.cut[0] * run.cut[1] * run.cut[2]);
  const auto slowest = static_cast<std::size_t>(run.request.extents.rank) - 1;
  if (run.overlap && run.cut[slowest] == ranks.size()) ranks.arrive_late();
  Library library = this->library(run.fused);
  std::vector<Cells> gathered(start.size());
  const Stencil& stencil = run.request.stencil;
  const auto errors = ranks.run([&](const std::shared_ptr<Communicator>& communicator) {
    DistributedKernel kernel(library, communicator, run.request,
                             {.cut = run.cut, .overlap = run.overlap, .steps_per_exchange = run.per_exchange});
    CUstream_st* stream = driver().create_stream();
    kernel.prepare(stream);
    DistributedFields fields(kernel);
    for (std::size_t field = 0; field < start.size(); ++field) {
      const int number = static_cast<int>(field);
      const bool profile = is_profile(stencil, number);
      if (!profile) fill_with_nan(fields, number);
      fields.write(number,
                   as_bytes(profile ? start[field] : part_of(start[field], run.request.extents, kernel.owned())));
    }
    Place place = run.place;
    for (const int steps : run.steps) {
      kernel.advance(stream, fields, steps, {}, place);
      place.step += steps;
    }
    for (std::size_t field = 0; field < start.size(); ++field) {
      if (is_profile(stencil, static_cast<int>(field))) continue;
      Cells all(communicator->rank() == 0 ? start[field].size() : 0);
      fields.gather(static_cast<int>(field), 0, as_writable_bytes(all));
      if (communicator->rank() == 0) gathered[field] = std::move(all);
    }
  });
  for (std::size_t rank = 0; rank < errors.size(); ++rank) EXPECT_EQ(errors[rank], "") << "rank " << rank;
  return gathered;
}

void RunsOnHost::expect_equal(const DistributedRun& run) {
  SCOPED_TRACE(run.describe());
  const std::vector<Cells> start = random_cells(run.request);
  const std::vector<Cells> expected = on_one_domain(run, start);
  const std::vector<Cells> found = on_ranks(run, start);
  if (HasFailure()) return;
  const Problem problem = make_problem(run.request.stencil, run.request.type, run.request.boundaries,
                                       run.request.extents, 0, 1, kWholeStep);
  const std::vector<bool> counts = fields_that_count(problem);
  for (std::size_t field = 0; field < start.size(); ++field) {
    if (!counts[field] || is_profile(run.request.stencil, static_cast<int>(field))) continue;
    for (std::size_t i = 0; i < expected[field].size(); ++i) {
      ASSERT_TRUE(std::isfinite(expected[field][i]));
      ASSERT_EQ(found[field][i], expected[field][i])
          << "field '" << run.request.stencil.fields[field] << "', cell " << i;
    }
  }
}

Request request_for(const std::string& stencil, const std::array<std::int64_t, kMaxRank>& extents, Boundary boundary) {
  Request request;
  request.stencil = load_stencil(stencil);
  request.type = ElementType::f64;
  request.extents = {request.stencil.rank, extents};
  request.boundaries = {boundary, boundary, boundary};
  request.steps = 100;
  request.alignment = 16;
  return request;
}

std::vector<Cells> random_cells(const Request& request) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<Cells> fields;
  for (std::size_t field = 0; field < request.stencil.fields.size(); ++field) {
    const Along along = profile_along(request.stencil, static_cast<int>(field));
    std::int64_t cells = along == 0 ? request.extents.cells() : along == kAlongTime ? 20 : 1;
    for (const int axis : axes_of(along)) cells *= request.extents.n[static_cast<std::size_t>(axis)];
    fields.emplace_back(static_cast<std::size_t>(cells));
    std::generate(fields.back().begin(), fields.back().end(), [&] { return uniform(random); });
  }
  return fields;
}

}  // namespace stencil_tune
