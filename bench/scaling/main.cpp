// Grids over all GPUs of this machine: whether they compute what one GPU does, and how their rates scale. JSON, as
// tuner/scaling/scaling_record.hpp reads it, on standard output; a table on standard error.
//
//     stencil_tune_bench_scaling --check                     cells of all GPUs are those of one
//     stencil_tune_bench_scaling > bench/results/h200/scaling.json
//
// Exit status: 0, 1 wrong or an error, 2 usage, 77 fewer than two GPUs or no NCCL.
#include "bench/scaling/measured_run.hpp"
#include "bench/scaling/nccl_group.hpp"
#include "generator/stencil/problem.hpp"
#include "runtime/cuda/device.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>
#include <boost/program_options.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <limits>
#include <vector>

namespace {

namespace po = boost::program_options;
using namespace stencil_tune;
using Json = nlohmann::ordered_json;

constexpr int kSkipped = 77;
constexpr int kSteps = 100;
constexpr double kMostApart = 2e-5;  // 20 steps of f32

Request request_of(const std::string& stencil, const Extents& extents, int steps, Boundary boundary = Boundary::hold) {
  return {.stencil = load_stencil(stencil),
          .extents = extents,
          .boundaries = {boundary, boundary, boundary},
          .steps = steps};
}

/// How many GPUs there are that NCCL joins; 0 where there is nothing to measure, with the reason on standard error.
int gpus_here() try {
  const int gpus = static_cast<int>(list_devices().size());
  if (gpus < 2) {
    fmt::print(stderr, "two GPUs are needed, {} found\n", gpus);
    return 0;
  }
  bench::require_nccl();
  return gpus;
} catch (const Error& error) {
  if (error.code() != ErrorCode::missing_library) throw;
  fmt::print(stderr, "{}\n", error.what());
  return 0;
}

/// The largest difference of two arrays of f32; infinite where it is no number.
double difference(const std::vector<std::byte>& a, const std::vector<std::byte>& b) {
  double largest = 0;
  for (std::size_t at = 0; at + sizeof(float) <= a.size(); at += sizeof(float)) {
    float in_a = 0, in_b = 0;
    std::memcpy(&in_a, a.data() + at, sizeof(float));
    std::memcpy(&in_b, b.data() + at, sizeof(float));
    const double apart = std::fabs(static_cast<double>(in_a) - in_b);
    if (!(apart <= largest)) largest = std::isnan(apart) ? std::numeric_limits<double>::infinity() : apart;
  }
  return largest;
}

/// Of the fields that steps change. Parts may run other kernels than the whole, whose sums are in another order: then a
/// few roundings of cells between -1 and 1 are right.
int check(int gpus) {
  int wrong = 0;
  for (const char* stencil : {"heat3d", "acoustic3d_o4", "yee3d"}) {
    for (const Boundary boundary : {Boundary::hold, Boundary::periodic}) {
      for (const int steps : {1, 7, 20}) {
        const Request whole = request_of(stencil, {3, {130, 67, 90}}, steps, boundary);
        const auto one = bench::cells_after(whole, 1, steps), all = bench::cells_after(whole, gpus, steps);
        const Problem step = make_problem(whole.stencil, whole.type, whole.boundaries, whole.extents, 0, 1, kWholeStep);
        double largest = 0;
        for (const int field : step.step.state) {
          const auto number = static_cast<std::size_t>(field);
          largest = std::max(largest, difference(one[number], all[number]));
        }
        const bool right = largest <= kMostApart;
        if (!right) ++wrong;
        fmt::print(stderr, "{:<16} {:<9} {:>3} steps: {:.2g} apart{}\n", stencil, name(boundary), steps, largest,
                   right ? "" : ", WRONG");
      }
    }
  }
  fmt::print(stderr, "{} GPUs, {} runs wrong\n", gpus, wrong);
  return wrong == 0 ? 0 : 1;
}

Json to_json(const Request& whole, const bench::MeasuredRun& run, double one_gpu, bool weak) {
  const auto rank = static_cast<std::size_t>(whole.extents.rank);
  Json dims = Json::array(), cut = Json::array();
  for (std::size_t axis = 0; axis < rank; ++axis) {
    dims.push_back(whole.extents.n[axis]);
    cut.push_back(run.cut[axis]);
  }
  return {{"stencil", whole.stencil.name},
          {"type", name(whole.type)},
          {"boundary", name(whole.boundaries[0])},
          {"dims", dims},
          {"cut", cut},
          {"scaling", weak ? "weak" : "strong"},
          {"steps", whole.steps},
          {"fused_steps", run.fused_steps},
          {"steps_per_exchange", run.steps_per_exchange},
          {"one_gpu_gstencils", one_gpu},
          {"gstencils", run.gstencils},
          {"evidence", run.evidence}};
}

/// The part of the first rank as a grid of its own.
Request part_of(const Request& whole, const Cut& cut) {
  Request part = whole;
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) part.extents.n[axis] = whole.extents.n[axis] / cut[axis];
  return part;
}

int record(int gpus, std::int64_t cells) {
  const DeviceFacts device = list_devices().front();
  Json json{{"format", "stencil-tune scaling"},
            {"gpu", device.name},
            {"gpus", gpus},
            {"driver", device.driver},
            {"points", Json::array()}};
  for (const char* stencil : {"heat3d", "acoustic3d_o4"}) {
    for (const bool weak : {true, false}) {
      const Request whole = request_of(stencil, {3, {cells, cells, weak ? cells * gpus : cells}}, kSteps);
      const bench::MeasuredRun run = bench::measure(whole, gpus);
      const double one_gpu = bench::measure(part_of(whole, run.cut), 1).gstencils;
      const double whole_on_one = weak ? one_gpu : bench::measure(whole, 1).gstencils;
      fmt::print(stderr, "{:<26} {:<6} {:>8.1f} GStencil/s on {} GPUs, {:>8.1f} on one: {:.1f} %\n", stencil,
                 weak ? "weak" : "strong", run.gstencils, gpus, whole_on_one,
                 100 * run.gstencils / gpus / whole_on_one);
      json["points"].push_back(to_json(whole, run, one_gpu, weak));
      json["points"].back()["efficiency"] = run.gstencils / gpus / whole_on_one;
    }
  }
  fmt::print("{}\n", json.dump(2));
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  po::options_description options("stencil_tune_bench_scaling");
  options.add_options()("help", "this")("check", "only compare cells with one GPU's")(
      "cells", po::value<std::int64_t>()->default_value(1024), "on an axis, of each GPU (weak) and in all (strong)");
  po::variables_map given;
  po::store(po::parse_command_line(argc, argv, options), given);
  po::notify(given);
  if (given.count("help") > 0) {
    std::cout << options;
    return 0;
  }
  const int gpus = gpus_here();
  if (gpus == 0) return kSkipped;
  return given.count("check") > 0 ? check(gpus) : record(gpus, given["cells"].as<std::int64_t>());
} catch (const po::error& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 2;
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
