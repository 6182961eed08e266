#include "tuner/session/predict.hpp"

#include "generator/candidates/constraints.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace stencil_tune {
namespace {

constexpr std::size_t kChecked = 4;      // finalists that run on the host executor
constexpr std::int64_t kPitchUnit = 16;  // cells: whole vectors of any type

}  // namespace

Problem small_problem(const Problem& problem, const Tuning& tuning) {
  std::array<std::int64_t, kMaxRank> small{67, 19, 11};
  const Candidate candidate(problem, tuning);
  const KernelShape& shape = candidate.shape();
  if (shape.placement == Placement::inside) {
    const Lengths least{shape.whole_tile[0], shape.whole_tile[1], 2 * shape.fused.delay + shape.tiles[2]};
    for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
      if (shape.axes.has(axis)) small[static_cast<std::size_t>(shape.axes.grid_axis[axis])] = least[axis] + 3;
    }
  }
  Extents extents = problem.extents;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(extents.rank); ++axis) {
    const std::int64_t halo = std::int64_t{2} * problem.facts.radius[axis];
    extents.n[axis] = std::min(extents.n[axis], small[axis] + halo);
  }
  const std::int64_t pitch = (extents.n[0] + kPitchUnit - 1) / kPitchUnit * kPitchUnit;
  return make_problem(problem.stencil, problem.type, problem.boundaries, extents, pitch, problem.steps, problem.stage);
}

PredictedDevice::PredictedDevice(const Problem& problem, const Limits& limits, DeviceModel device, HostChecker checker)
    : problem_(problem), limits_(limits), model_(problem, limits, std::move(device)), checker_(std::move(checker)) {}

DeviceSession PredictedDevice::start() {
  const DeviceModel& device = model_.device();
  DeviceSession session;
  session.device.name = device.gpu;
  session.device.architecture = device.architecture;
  session.device.multiprocessors = device.multiprocessors;
  session.device.memory_bytes = static_cast<std::size_t>(device.memory_gb * 1e9);
  session.device.l2_bytes = static_cast<std::size_t>(device.l2_mb * (1 << 20));
  session.device.limits = limits_;
  session.ceiling_gbs = model_.copy_ceiling_gbs();
  session.fits_in_l2 = 2 * problem_.field_bytes() <= session.device.l2_bytes;
  return session;
}

DeviceResult PredictedDevice::run(const std::string& code, const CompiledKernel& kernel, const MeasurePlan& /*plan*/) {
  const Prediction prediction = model_.predict(parse_code(code), kernel.resources);
  DeviceResult result;
  result.occupancy = prediction.occupancy.share;
  if (!std::isfinite(prediction.time_ms)) {
    result.outcome = Outcome::exceeds_limits;
    result.message = fmt::format("a block does not fit an SM: {}", prediction.occupancy.limited_by);
    return result;
  }
  result.timing = {prediction.time_ms, prediction.time_ms, prediction.time_ms, 0};
  return result;
}

std::vector<DeviceResult> PredictedDevice::race(const std::vector<CodedKernel>& finalists, const RacePlan& /*plan*/) {
  std::vector<DeviceResult> results;
  for (const auto& [candidate, kernel] : finalists) results.push_back(run(candidate, kernel, {}));
  check(finalists, results);
  return results;
}

void PredictedDevice::check(const std::vector<CodedKernel>& finalists, std::vector<DeviceResult>& results) {
  if (!checker_) {
    not_checked_ = "no way to run kernels on the CPU";
    return;
  }
  not_checked_.clear();
  std::size_t checked = 0, wrong = 0;
  for (std::size_t i = 0; i < finalists.size() && checked < kChecked && not_checked_.empty(); ++i) {
    const Tuning tuning = parse_code(finalists[i].first);
    const Problem small = small_problem(problem_, tuning);
    if (!is_legal({small, tuning}, limits_)) continue;
    try {
      const HostVerdict verdict = checker_(small, std::span(&tuning, 1)).front();
      ++checked;
      if (verdict.right) {
        right_.insert(finalists[i].first);
        continue;
      }
      ++wrong;
      results[i].outcome = Outcome::wrong_result;
      results[i].message = verdict.message;
    } catch (const Error& error) {
      not_checked_ = error.what();
    }
  }
  if (checked == 0) return;
  check_note_ = fmt::format("{} of {} finalists ran on the CPU, on a small grid: {}", checked, finalists.size(),
                            wrong == 0 ? "all right" : fmt::format("{} of them wrong, and out", wrong));
}

std::string PredictedDevice::check_note(const std::string& winner) const {
  const std::string why = not_checked_.empty() ? "" : ": " + not_checked_;
  if (check_note_.empty()) {
    return fmt::format(
        "{}{}. A check runs kernels on the CPU, on a small grid, and compares every cell with a reference",
        winner.empty() ? "not checked" : "the fastest was not checked", why);
  }
  if (winner.empty()) return check_note_ + why;
  if (right_.contains(winner)) return check_note_ + ", the fastest among them" + why;
  return check_note_ + "; the fastest was not among them" + why;
}

}  // namespace stencil_tune
