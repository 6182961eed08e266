#include "distributed/agreement.hpp"
#include "distributed/distributed_state.hpp"
#include "distributed/exchange_choice.hpp"
#include "distributed/local_request.hpp"
#include "runtime/library/kernel_run.hpp"
#include "runtime/library/launch/stage_launch.hpp"
#include "runtime/library/library_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace stencil_tune {
namespace {

/// All ranks see the same numbers, so that all throw or none.
void require_equal(const std::vector<std::int64_t>& numbers, std::string_view what) {
  for (std::size_t rank = 1; rank < numbers.size(); ++rank) {
    if (numbers[rank] == numbers.front()) continue;
    throw Error(ErrorCode::invalid_argument,
                fmt::format("ranks 0 and {} ask for different {}: every rank makes the same request", rank, what));
  }
}

void require_same_request(Communicator& ranks, const Request& request, const DistributedOptions& options) {
  const RequestDigest digest = request_digest(request, 0);
  require_equal(gather_numbers(ranks, static_cast<std::int64_t>(digest.low)), "grids");
  require_equal(gather_numbers(ranks, options.steps_per_exchange), "DistributedOptions::steps_per_exchange");
  require_equal(gather_numbers(ranks, options.overlap ? 1 : 0), "DistributedOptions::overlap");
  for (const int parts : options.cut) require_equal(gather_numbers(ranks, parts), "cuts");
}

}  // namespace

Box DistributedKernel::Impl::inner() const {
  const Box own = grid->owned(rank());
  const Box array = grid->array(rank());
  Box inner;
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    inner.low[axis] = own.low[axis] - array.low[axis];
    inner.high[axis] = own.high[axis] - array.low[axis];
  }
  return inner;
}

/// Own cells that the first launch of each part computes from own cells alone.
std::vector<Box> DistributedKernel::Impl::early_boxes() const {
  std::vector<Box> boxes;
  for (const PlanPart& part : state().plan) {
    const HaloLayers need = halo_need(part.stages.front().problem, part.steps).arrays;
    const Extents& extents = problem().extents;
    Box box = inner();
    for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
      if (box.low[axis] > 0) box.low[axis] += need[axis].low;
      if (box.high[axis] < extents.n[axis]) box.high[axis] -= need[axis].high;
    }
    boxes.push_back(box);
  }
  return boxes;
}

ExchangePlan DistributedKernel::Impl::plan_of_all(const std::vector<int>& fields) const {
  std::vector<FieldHalo> halos;
  for (const int field : fields) halos.push_back({field, grid->halo()});
  return plan_exchange(*grid, rank(), halos);
}

DistributedKernel::DistributedKernel(Library& library, std::shared_ptr<Communicator> ranks, const Request& request,
                                     const DistributedOptions& options)
    : impl_(std::make_shared<Impl>()) {
  Impl& made = *impl_;
  made.ranks = std::move(ranks);
  Communicator& group = *made.ranks;
  require_same_request(group, request, options);
  made.whole = whole_problem(request);
  const Problem& whole = *made.whole;
  ExchangeChoice chosen{options.steps_per_exchange, options.steps_per_exchange};
  if (chosen.per_exchange < 1) chosen = choose_exchange(library, group, request, whole, options);
  made.per_exchange = chosen.per_exchange;
  agree(group, [&] {
    made.grid = decompose(whole, group.size(), options.cut, made.per_exchange);
    made.kernel = look_up_part(library, request, *made.grid, made.grid->array(group.rank()), chosen.fused_steps);
    made.with_halos = fields_with_halos(made.problem());
    for (int steps = 1; steps <= made.per_exchange; ++steps) {
      made.before.push_back(plan_exchange(*made.grid, group.rank(), halos_before(whole, steps)));
    }
    Driver& driver = driver_of(made.state());
    made.exchange = std::make_unique<HaloExchange>(driver, group, made.problem(), *made.state().stages().front().loaded,
                                                   made.plan_of_all(made.with_halos));
    made.exchange->prepare();
    if (!options.overlap) return;
    made.overlap = std::make_unique<Overlap>(driver);
    made.overlap->early = made.early_boxes();
  });
}

DistributedKernel::DistributedKernel(DistributedKernel&&) noexcept = default;
DistributedKernel& DistributedKernel::operator=(DistributedKernel&&) noexcept = default;
DistributedKernel::~DistributedKernel() = default;

const Decomposition& DistributedKernel::decomposition() const noexcept { return *impl_->grid; }
int DistributedKernel::rank() const noexcept { return impl_->rank(); }
Box DistributedKernel::owned() const { return impl_->grid->owned(rank()); }
const Kernel& DistributedKernel::kernel() const noexcept { return *impl_->kernel; }
int DistributedKernel::steps_per_exchange() const noexcept { return impl_->per_exchange; }

std::size_t DistributedKernel::bytes_received() const {
  return static_cast<std::size_t>(impl_->before.back().cells_received()) * size_of(impl_->problem().type);
}

void DistributedKernel::prepare(CUstream_st* stream) {
  agree(*impl_->ranks, [&] {
    impl_->kernel->prepare(stream);
    impl_->exchange->prepare();
  });
}

void DistributedKernel::wait(CUstream_st* stream) { impl_->ranks->wait(stream); }

void DistributedKernel::Impl::check(const DistributedFields::Impl& fields, std::int64_t steps,
                                    Span<const double> coefficients, const Place& place) const {
  if (fields.kernel.get() != this) {
    throw Error(ErrorCode::invalid_argument, "the fields were made for another DistributedKernel");
  }
  check_advance(state(), fields.buffers, steps, coefficients);
  for (const Profile& profile : problem().stencil.profiles) {
    if (profile.along != kAlongTime || steps == 0) continue;
    const auto field = static_cast<std::size_t>(profile.field);
    const auto entries = static_cast<std::int64_t>(fields.memory[field].size() / size_of(problem().type));
    if (place.step >= 0 && place.step + steps <= entries) continue;
    throw Error(ErrorCode::invalid_argument,
                fmt::format("field '{}' has {} entries, and steps {} to {} were asked for: write() them all first",
                            problem().stencil.fields[field], entries, place.step, place.step + steps - 1));
  }
  ranks->check();
}

void DistributedKernel::Impl::advance_once(KernelRun& run, std::int64_t steps, CUstream_st* stream) const {
  const ExchangePlan& plan = before[static_cast<std::size_t>(steps - 1)];
  if (!overlap) {
    exchange->run(plan, run.buffers(), stream);
    return run.advance(steps);
  }
  overlap->ready.record(stream);
  overlap->ready.hold_back(overlap->stream.get());
  exchange->run(plan, run.buffers(), overlap->stream.get());
  overlap->arrived.record(overlap->stream.get());
  const SplitLaunch split{.early = overlap->early, .arrive = [&] { overlap->arrived.hold_back(stream); }};
  run.advance(steps, &split);
}

void DistributedKernel::Impl::advance_all(CUstream_st* stream, DistributedFields::Impl& fields, std::int64_t steps,
                                          Span<const double> coefficients, const Place& place, PointRun* points) const {
  bool right = fields.refresh(stream);
  Place start = place;
  const Box array = grid->array(rank());
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) start.origin[axis] += array.low[axis];
  KernelRun run(state(), points, start, stream, fields.buffers, coefficients);
  for (std::int64_t left = steps; left > 0;) {
    const std::int64_t now = std::min<std::int64_t>(left, per_exchange);
    if (right) {
      run.advance(now);
    } else {
      advance_once(run, now, stream);
    }
    right = false;
    left -= now;
  }
  run.leave(fields.buffers);
}

void DistributedKernel::Impl::advance(CUstream_st* stream, DistributedFields::Impl& fields, std::int64_t steps,
                                      Span<const double> coefficients, const Place& place, PointRun* points) const {
  if (steps > 0) or_give_up([&] { advance_all(stream, fields, steps, coefficients, place, points); });
}

void DistributedKernel::refresh(CUstream_st* stream, DistributedFields& fields) {
  impl_->check(*fields.impl_, 0, {});
  impl_->or_give_up([&] { fields.impl_->refresh(stream); });
}

void DistributedKernel::advance(CUstream_st* stream, DistributedFields& fields, std::int64_t steps,
                                Span<const double> coefficients, const Place& place) {
  impl_->check(*fields.impl_, steps, coefficients, place);
  impl_->advance(stream, *fields.impl_, steps, coefficients, place, nullptr);
}

}  // namespace stencil_tune
