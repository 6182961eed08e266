#include "rates.hpp"

#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <random>

namespace bench {

namespace st = stencil_tune;

namespace {

using Clock = std::chrono::steady_clock;

template <class Cell, class Draw>
void fill(std::vector<std::byte>& cells, Draw draw) {
  constexpr std::size_t kDrawn = std::size_t{1} << 20;
  const std::size_t drawn = std::min(cells.size(), kDrawn * sizeof(Cell));
  for (std::size_t at = 0; at < drawn; at += sizeof(Cell)) {
    const Cell cell = draw();
    std::memcpy(cells.data() + at, &cell, sizeof(Cell));
  }
  for (std::size_t filled = drawn; filled < cells.size(); filled *= 2) {
    std::memcpy(cells.data() + filled, cells.data(), std::min(filled, cells.size() - filled));
  }
}

std::vector<std::byte> random_cells(const st::Request& request) {
  std::vector<std::byte> cells(static_cast<std::size_t>(request.extents.cells()) * st::size_of(request.type));
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(0.25, 1);
  switch (request.type) {
    case st::ElementType::f64:
      fill<double>(cells, [&] { return uniform(random); });
      break;
    case st::ElementType::f32:
      fill<float>(cells, [&] { return static_cast<float>(uniform(random)); });
      break;
    case st::ElementType::f16:  // bit patterns of 1/4 to 1
      fill<std::uint16_t>(cells, [&] { return static_cast<std::uint16_t>(0x3400 + random() % 0x800); });
      break;
    case st::ElementType::bf16:
      fill<std::uint16_t>(cells, [&] { return static_cast<std::uint16_t>(0x3e80 + random() % 0x100); });
      break;
    default:
      break;  // no problem's type
  }
  return cells;
}

}  // namespace

std::vector<void*> Arrays::get(const st::Request& request, std::size_t count) {
  const std::pair grid{fmt::format("{} {}", st::name(request.type), st::to_string(request.extents)), request.pitch};
  if (grid != made_for_) fields_.clear();
  made_for_ = grid;
  if (fields_.size() < count) {
    const std::vector<std::byte> cells = random_cells(request);
    while (fields_.size() < count) {
      fields_.emplace_back(request.extents, request.type, request.pitch).copy_from(cells);
    }
  }
  std::vector<void*> addresses;
  for (std::size_t i = 0; i < count; ++i) addresses.push_back(fields_[i].data());
  return addresses;
}

Shipped find_shipped(st::Library& library, const st::TrialRecord& winner) {
  const st::ProblemKey& key = winner.problem;
  st::Request request{.stencil = st::find_stencil(key.stencil_name),
                      .type = key.type,
                      .extents = key.extents,
                      .boundaries = key.boundaries,
                      .pitch = key.pitch,
                      .steps = key.steps};
  const bool alone = key.stage >= 0 && request.stencil.stages.size() > 1;
  st::Kernel kernel = library.lookup(request);
  const std::string code = alone ? kernel.evidence(key.stage).code : kernel.run_evidence().code;
  if (code != winner.code) {
    throw st::Error(st::ErrorCode::unknown_name, "the library gives " + code);
  }
  return {std::move(request), std::move(kernel), alone ? key.stage : st::kWholeStep};
}

double seconds_a_step(st::DeviceContext& context, const Shipped& shipped, Arrays& arrays) {
  constexpr double kWarmSeconds = 0.1, kBatchSeconds = 0.04;
  constexpr int kBatches = 9;
  const st::Stencil& stencil = shipped.request.stencil;
  std::vector<void*> fields = arrays.get(shipped.request, stencil.fields.size());
  const int together = shipped.stage == st::kWholeStep ? shipped.kernel.fused_steps() : 1;
  const auto batch = [&](std::int64_t launches) {
    context.synchronize();
    const Clock::time_point start = Clock::now();
    if (shipped.stage != st::kWholeStep) {
      for (std::int64_t i = 0; i < launches; ++i) shipped.kernel.launch_stage(shipped.stage, nullptr, fields);
    } else if (stencil.rotations.empty()) {
      for (std::int64_t i = 0; i < launches; ++i) shipped.kernel.launch(nullptr, fields);
    } else {
      shipped.kernel.advance(nullptr, fields, launches * together);
    }
    context.synchronize();
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  std::int64_t launches = 1;
  double warm = 0;
  for (double last = 0; warm < kWarmSeconds || last < kBatchSeconds; warm += last) {
    if (warm > 0 && last < kBatchSeconds) launches *= 2;
    last = batch(launches);
  }
  std::vector<double> seconds;
  for (int i = 0; i < kBatches; ++i) seconds.push_back(batch(launches));
  std::nth_element(seconds.begin(), seconds.begin() + kBatches / 2, seconds.end());
  return seconds[kBatches / 2] / static_cast<double>(launches * together);
}

}  // namespace bench
