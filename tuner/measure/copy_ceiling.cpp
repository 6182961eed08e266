#include "tuner/measure/copy_ceiling.hpp"

#include "tuner/measure/measurement.hpp"
#include "tuner/measure/stopwatch.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

namespace stencil_tune {
namespace {

constexpr std::size_t kVectorBytes = 16;

}  // namespace

CopyCeiling::CopyCeiling(Driver& driver, const std::string& architecture, int multiprocessors, CUstream_st* stream)
    : driver_(driver), stream_(stream), library_(driver, open_check_compiler()->compile(copy_source(), architecture)) {
  const auto sms = static_cast<unsigned>(std::max(1, multiprocessors));
  for (const std::string access : {"cached", "streaming", "read_only"}) {
    for (int vectors : {1, 2, 4}) {
      CUfunc_st* function = library_.find("copy_" + std::to_string(vectors) + "_" + access);
      for (unsigned threads : {256u, 512u, 1024u}) variants_.push_back({function, vectors, threads, 0});
      if (access == "cached") variants_.push_back({function, vectors, 512, 4 * sms});  // grid stride, one full wave
    }
  }
}

void CopyCeiling::launch(const Variant& variant, DevicePointer from, DevicePointer to, std::size_t bytes) const {
  const check::CopyArguments arguments{reinterpret_cast<const void*>(static_cast<std::uintptr_t>(from)),
                                       reinterpret_cast<void*>(static_cast<std::uintptr_t>(to)),
                                       static_cast<long long>(bytes / kVectorBytes)};
  const std::size_t a_block = std::size_t{variant.threads} * static_cast<std::size_t>(variant.vectors);
  std::size_t blocks = std::clamp<std::size_t>((bytes / kVectorBytes + a_block - 1) / a_block, 1, 0x7fffffff);
  if (variant.most_blocks != 0) blocks = std::min<std::size_t>(blocks, variant.most_blocks);
  driver_.launch(variant.function, {static_cast<unsigned>(blocks), 1, 1}, {variant.threads, 1, 1}, 0,
                 std::as_bytes(std::span(&arguments, 1)), stream_);
}

void CopyCeiling::warm_up(DevicePointer a, DevicePointer b, std::size_t bytes, double milliseconds) {
  const Stopwatch watch(driver_, stream_);
  const auto there_and_back = [&] {
    launch(variants_.front(), a, b, bytes);
    launch(variants_.front(), b, a, bytes);
  };
  const double once = std::max(watch.time(there_and_back), 1e-3);
  const auto pairs = static_cast<int>(std::ceil(milliseconds / once));
  for (int i = 1; i < pairs; ++i) there_and_back();
}

double CopyCeiling::copy_ms(const Variant& variant, DevicePointer a, DevicePointer b, std::size_t bytes,
                            double cap_ms) const {
  const Stopwatch watch(driver_, stream_);
  const auto copies = [&](int count) {
    for (int i = 0; i < count; ++i) i % 2 == 0 ? launch(variant, a, b, bytes) : launch(variant, b, a, bytes);
  };
  copies(2);
  const int count = launches_per_sample(watch.time([&] { copies(2); }) / 2, 2);
  MeasurePlan plan;
  plan.first_look_ms = 0;
  plan.cap_ms = cap_ms;
  return measure(plan,
                 [&] {
                   const double elapsed = watch.time([&] { copies(count); });
                   return Sample{elapsed / count, elapsed};
                 })
      .timing.median_ms;
}

double CopyCeiling::measure_best(DevicePointer a, DevicePointer b, std::size_t bytes, double budget_ms) {
  if (bytes < kVectorBytes) return 0;
  std::vector<std::pair<double, const Variant*>> looks;
  for (const Variant& variant : variants_) {
    looks.emplace_back(copy_ms(variant, a, b, bytes, budget_ms / 2 / static_cast<double>(variants_.size())), &variant);
  }
  std::sort(looks.begin(), looks.end());
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < std::min<std::size_t>(3, looks.size()); ++i) {
    best = std::min(best, copy_ms(*looks[i].second, a, b, bytes, budget_ms / 6));
  }
  const std::size_t copied = bytes / kVectorBytes * kVectorBytes;
  return 2.0 * static_cast<double>(copied) / best / 1e6;
}

}  // namespace stencil_tune
