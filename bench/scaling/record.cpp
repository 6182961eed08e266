#include "bench/scaling/record.hpp"

#include "bench/scaling/measured_links.hpp"
#include "bench/scaling/measured_run.hpp"
#include "bench/scaling/scaling_record.hpp"
#include "db/trial_store.hpp"
#include "runtime/compile/compiler.hpp"
#include "runtime/cuda/device.hpp"
#include "runtime/cuda/nvml.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/commands/commit.hpp"
#include "tuner/terminal/text_table.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <vector>

namespace bench {
namespace {

using namespace stencil_tune;
using Json = nlohmann::ordered_json;

constexpr int kSteps = 100;
constexpr std::array kSubjects{Subject{"star3d1r", 0.97, 0.92}, Subject{"acoustic3d_o4", 0.97, 0.92},
                               Subject{"yee3d", 0, 0, 0.75}};

/// One GPU and all, made again after a failure.
class Groups {
 public:
  explicit Groups(int gpus) : gpus_(gpus) {}

  int gpus() const { return gpus_; }
  Ranks& one() { return made(one_, 1); }
  Ranks& all() { return made(all_, gpus_); }
  void drop() {
    one_.reset();
    all_.reset();
  }

 private:
  static Ranks& made(std::unique_ptr<GpuRanks>& ranks, int count) {
    if (!ranks) ranks = std::make_unique<GpuRanks>(count);
    return *ranks;
  }

  int gpus_;
  std::unique_ptr<GpuRanks> one_, all_;
};

MeasuredRun measure_tuned(Ranks& ranks, const Request& whole) {
  MeasuredRun run = measure(
      ranks, [] { return Library(); }, whole);
  require_tuned(run, whole);
  return run;
}

/// The part of the first rank as a grid of its own.
Request part_of(const Request& whole, const Cut& cut) {
  Request part = whole;
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) part.extents.n[axis] = whole.extents.n[axis] / cut[axis];
  return part;
}

Json range_of(const MeasuredRun& run) { return Json::array({run.slowest, run.fastest}); }

Json clocks_now() {
  ClockReading slowest;
  for (const DeviceFacts& device : list_devices()) {
    if (const auto sensors = open_sensors(device.uuid)) slowest = slower(slowest, sensors->read());
  }
  return {{"sm_mhz", slowest.sm_clock_mhz}, {"memory_mhz", slowest.memory_clock_mhz}, {"throttle", slowest.throttle}};
}

Request whole_of(const Subject& subject, int gpus, std::int64_t cells, bool weak) {
  const auto n = static_cast<std::int64_t>(subject.share * static_cast<double>(cells));
  return {.stencil = load_stencil(std::string(subject.stencil)),
          .extents = {3, {n, n, weak ? n * gpus : n}},
          .steps = kSteps};
}

Json measure_point(Groups& groups, const Subject& subject, const Request& whole, bool weak) {
  const MeasuredRun all = measure_tuned(groups.all(), whole);
  const Json clocks = clocks_now();
  const MeasuredRun part = measure_tuned(groups.one(), part_of(whole, all.cut));
  const MeasuredRun one = weak ? part : measure_tuned(groups.one(), whole);
  Json dims = Json::array(), cut = Json::array();
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(whole.extents.rank); ++axis) {
    dims.push_back(whole.extents.n[axis]);
    cut.push_back(all.cut[axis]);
  }
  return {{"stencil", subject.stencil},
          {"type", name(whole.type)},
          {"boundary", name(whole.boundaries[0])},
          {"scaling", weak ? "weak" : "strong"},
          {"dims", dims},
          {"cut", cut},
          {"steps", whole.steps},
          {"fused_steps", all.fused_steps},
          {"steps_per_exchange", all.steps_per_exchange},
          {"gstencils", all.gstencils},
          {"gstencils_range", range_of(all)},
          {"one_gpu_gstencils", part.gstencils},
          {"one_gpu_range", range_of(part)},
          {"one_gpu_fused_steps", part.fused_steps},
          {"whole_on_one_gstencils", one.gstencils},
          {"efficiency", all.gstencils / groups.gpus() / one.gstencils},
          {"target", weak ? subject.weak_target : subject.strong_target},
          {"clocks", clocks},
          {"evidence", all.evidence},
          {"one_gpu_evidence", part.evidence}};
}

void add_point(Json& record, Groups& groups, const Subject& subject, std::int64_t cells, bool weak) try {
  record["points"].push_back(measure_point(groups, subject, whole_of(subject, groups.gpus(), cells, weak), weak));
  const Json& point = record["points"].back();
  fmt::print(stderr, "{} {}: {:.1f} GStencil/s\n", subject.stencil, weak ? "weak" : "strong",
             point["gstencils"].get<double>());
} catch (const std::exception& error) {
  fmt::print(stderr, "{} {}: {}\n", subject.stencil, weak ? "weak" : "strong", error.what());
  record["not_measured"].push_back(
      {{"stencil", subject.stencil}, {"scaling", weak ? "weak" : "strong"}, {"why", error.what()}});
  groups.drop();
}

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::vector<std::string> row_of(const Json& point, const MeasuredScaling& model) {
  const double efficiency = point["efficiency"], target = point["target"];
  const auto dims = point["dims"].get<std::vector<std::int64_t>>();
  const auto cut = point["cut"].get<std::vector<int>>();
  return {point["stencil"],
          point["scaling"],
          fmt::format("{}", fmt::join(dims, "x")),
          fmt::format("{}", fmt::join(cut, "x")),
          fmt::format("{}", point["fused_steps"].get<int>()),
          fmt::format("{}", point["steps_per_exchange"].get<int>()),
          fmt::format("{:.1f}", point["gstencils"].get<double>()),
          fmt::format("{:.1f}", point["whole_on_one_gstencils"].get<double>()),
          percent(efficiency),
          target > 0 ? percent(target) : "",
          target == 0            ? ""
          : efficiency >= target ? "reached"
                                 : "MISSED",
          fmt::format("{:+.1f} %", 100 * model.error())};
}

}  // namespace

Json record_scaling(int gpus, std::int64_t cells) {
  const DeviceFacts device = list_devices().front();
  Groups groups(gpus);
  const MeasuredLinks links = measure_links(groups.all(), cuda_driver());
  Json record{
      {"format", "stencil-tune scaling"},
      {"date", utc_now()},
      {"version", STENCIL_TUNE_VERSION},
      {"commit", built_from_commit()},
      {"gpu", device.name},
      {"gpus", gpus},
      {"driver", device.driver},
      {"nvrtc", open_nvrtc()->version()},
      {"nccl", nccl_version()},
      {"links",
       {{"node_gbs", links.node_gbs}, {"node_latency_us", links.node_latency_us}, {"copy_gbs", links.copy_gbs}}},
      {"points", Json::array()}};
  for (const Subject& subject : kSubjects) {
    for (const bool weak : {true, false}) add_point(record, groups, subject, cells, weak);
  }
  return record;
}

std::string scaling_table(const Json& record) {
  const std::vector<MeasuredScaling> model = read_scaling_record(record.dump());
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < model.size(); ++i) rows.push_back(row_of(record["points"][i], model[i]));
  const Json& links = record["links"];
  std::string text = fmt::format(
      "{} x {}, driver {}, NVRTC {}, NCCL {}; commit {}, {}\n"
      "links: {:.0f} GB/s each way at once, {:.1f} us; a copy on one GPU {:.0f} GB/s\n"
      "runs of {} steps, f32, boundary hold: bursts after a rest, median of five; model: predicted over measured\n\n",
      record["gpus"].get<int>(), record["gpu"].get<std::string>(), record["driver"].get<std::string>(),
      record["nvrtc"].get<std::string>(), record["nccl"].get<std::string>(), record["commit"].get<std::string>(),
      record["date"].get<std::string>(), links["node_gbs"].get<double>(), links["node_latency_us"].get<double>(),
      links["copy_gbs"].get<double>(), kSteps);
  text += text_table({{"stencil", false},
                      {"scaling", false},
                      {"grid"},
                      {"cut"},
                      {"fused"},
                      {"an exchange"},
                      {"GStencil/s"},
                      {"one GPU"},
                      {"efficiency"},
                      {"target"},
                      {"", false},
                      {"model"}},
                     rows);
  for (const Json& each : record.value("not_measured", Json::array())) {
    text += fmt::format("NOT MEASURED: {} {}: {}\n", each["stencil"].get<std::string>(),
                        each["scaling"].get<std::string>(), each["why"].get<std::string>());
  }
  return text;
}

}  // namespace bench
