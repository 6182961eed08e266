#include "rates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <span>
#include <stdexcept>

namespace bench {

namespace st = stencil_tune;
namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;

/// A folder that goes with its user.
class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "stencil-tune-bench-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make a temporary folder");
    path_ = pattern;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

struct Case {
  const char* stencil;
  st::ElementType type;
  st::Extents extents;
};

st::Request request_for(const Case& item) {
  return {.stencil = st::find_builtin(item.stencil), .type = item.type, .extents = item.extents};
}

std::string describe(const Case& item) {
  return fmt::format("{} {} {}", item.stencil, st::name(item.type), st::to_string(item.extents));
}

/// Two fields, dense rows, filled with small numbers.
class Buffers {
 public:
  explicit Buffers(const st::Request& request)
      : fields_{st::DeviceField(request.extents, request.type, request.extents.n[0]),
                st::DeviceField(request.extents, request.type, request.extents.n[0])} {
    std::mt19937 random(1);
    const std::size_t bytes = fields_[0].bytes();
    std::vector<std::byte> cells(bytes);
    // Whole numbers that both types read as values between 1/2 and 1, roughly.
    const std::uint32_t word = request.type == st::ElementType::f64 ? 0x3fe0'0000 : 0x3f00'0000;
    for (std::size_t i = 0; i + 4 <= bytes; i += 4) {
      const std::uint32_t value = word | (random() & 0x000f'ffff);
      std::copy_n(reinterpret_cast<const std::byte*>(&value), 4, cells.data() + i);
    }
    for (st::DeviceField& field : fields_) field.copy_from(cells);
    addresses_ = {fields_[0].data(), fields_[1].data()};
  }

  std::span<void*> get() { return addresses_; }

 private:
  std::array<st::DeviceField, 2> fields_;
  std::array<void*, 2> addresses_{};
};

/// GStencil/s of each kernel, timed in turn on the same fields.
std::vector<double> race(st::DeviceContext& context, std::vector<st::Kernel> kernels, const st::Request& request) {
  constexpr double kBatchSeconds = 0.04;
  constexpr int kRounds = 9;
  Buffers buffers(request);
  const auto batch = [&](const st::Kernel& kernel, std::int64_t steps) {
    context.synchronize();
    const Clock::time_point start = Clock::now();
    kernel.advance(nullptr, buffers.get(), steps);
    context.synchronize();
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  std::int64_t steps = 2;
  while (batch(kernels.front(), steps) < kBatchSeconds) steps *= 2;
  std::vector<std::vector<double>> seconds(kernels.size());
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t i = 0; i < kernels.size(); ++i) seconds[i].push_back(batch(kernels[i], steps));
  }
  std::vector<double> rates;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    std::sort(seconds[i].begin(), seconds[i].end());
    const double step = seconds[i][kRounds / 2] / static_cast<double>(steps);
    rates.push_back(static_cast<double>(kernels[i].updated_box().cells()) / step / 1e9);
  }
  return rates;
}

// Between half and twice what `stencil-tune bench --suite main` tunes and the library ships.
constexpr std::array<Case, 12> kUntuned{{
    {"star3d1r", st::ElementType::f32, {3, {384, 384, 384}}},
    {"star3d1r", st::ElementType::f32, {3, {768, 640, 512}}},
    {"star3d1r", st::ElementType::f32, {3, {1023, 511, 257}}},
    {"star3d1r", st::ElementType::f32, {3, {333, 777, 555}}},
    {"star3d2r", st::ElementType::f32, {3, {640, 640, 320}}},
    {"star3d2r", st::ElementType::f32, {3, {487, 601, 509}}},
    {"star3d1r", st::ElementType::f64, {3, {320, 512, 768}}},
    {"star3d1r", st::ElementType::f64, {3, {411, 411, 411}}},
    {"star2d1r", st::ElementType::f32, {2, {12288, 9216, 1}}},
    {"star2d1r", st::ElementType::f32, {2, {9999, 17777, 1}}},
    {"box2d1r", st::ElementType::f32, {2, {20480, 10240, 1}}},
    {"box2d1r", st::ElementType::f32, {2, {15001, 15001, 1}}},
}};

}  // namespace

std::vector<Transfer> transfers(const fs::path& database, double seconds) {
  st::DeviceContext context;
  const Folder folder;
  st::Library known({.database = database});
  st::Library tuning({.database = folder.path() / "tuned.db", .tune_on_miss_s = seconds});
  std::vector<Transfer> all;
  for (const Case& item : kUntuned) {
    const st::Request request = request_for(item);
    std::vector<st::Kernel> kernels{known.lookup(request), tuning.lookup(request)};
    for (st::Kernel& kernel : kernels) kernel.prepare();
    const std::vector<double> rates = race(context, kernels, request);
    all.push_back({.problem = describe(item),
                   .match = std::string(st::name(kernels[0].match())),
                   .looked_up_code = kernels[0].evidence().code,
                   .tuned_code = kernels[1].evidence().code,
                   .looked_up = rates[0],
                   .tuned = rates[1]});
  }
  return all;
}

}  // namespace bench
