#include "costs.hpp"

#include "generator/candidates/space.hpp"
#include "runtime/compile/caching_compiler.hpp"
#include "runtime/library/launch/packed_launch.hpp"
#include "runtime/library/library_parts.hpp"
#include "stencil_tune/stencil_tune.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <stdexcept>

namespace bench {

namespace st = stencil_tune;

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::array<const char*, 4> kStencils{"star3d1r", "star3d4r", "box3d1r", "box3d4r"};

double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

st::Request cube(const std::string& stencil, std::int64_t n) {
  return {.stencil = st::find_builtin(stencil), .extents = {.rank = 3, .n = {n, n, n}}};
}

/// One launch in two ways: by the library, and by the driver alone with everything packed before.
class LaunchPair {
 public:
  explicit LaunchPair(const std::string& stencil, const std::optional<std::string>& code)
      : request_(cube(stencil, 64)),
        in_(request_.extents, request_.type, 64),
        out_(request_.extents, request_.type, 64),
        library_(make_library(code)),
        kernel_(library_.lookup(request_)),
        stream_(st::cuda_driver()) {
    kernel_.prepare();
    st::Driver& driver = st::cuda_driver();
    const st::Problem problem =
        st::make_problem(request_.stencil, request_.type, request_.boundaries, request_.extents);
    const st::Tuning tuning = st::parse_code(kernel_.evidence().code);
    const st::PackedLaunch packed({problem, tuning}, st::updated_box(problem));
    const std::array<std::uint64_t, 1> inputs{reinterpret_cast<std::uintptr_t>(in_.data())};
    const std::array<std::uint64_t, 1> outputs{reinterpret_cast<std::uintptr_t>(out_.data())};
    argument_.resize(packed.argument_bytes());
    packed.write_argument(driver, inputs, outputs, {}, argument_);
    geometry_ = packed.geometry();
    const std::string architecture = st::find_device("0").architecture;
    module_.emplace(driver, st::open_cached_nvrtc()->compile(st::generate({problem, tuning}), architecture));
    module_->allow_shared(geometry_.shared_bytes);
  }

  std::string code() const { return kernel_.evidence().code; }

  /// Microseconds of one call, in batches that the driver's queue holds.
  double by_library() {
    return batch([this] { kernel_.launch(stream_.get(), in_.data(), out_.data()); });
  }
  double by_driver() {
    return batch([this] { module_->launch(geometry_, argument_, stream_.get()); });
  }

 private:
  /// A library that knows this candidate alone, or none.
  static st::Library make_library(const std::optional<std::string>& code) {
    st::LibraryParts parts = st::open_parts({});
    parts.winners = [code](const st::Problem& problem, const std::string& architecture) {
      st::WinnerRecord winner;
      winner.trial.problem.stencil_key = st::stencil_key(problem.stencil);
      winner.trial.problem.type = problem.type;
      winner.trial.problem.boundaries = problem.boundaries;
      winner.trial.problem.extents = problem.extents;
      winner.trial.platform.architecture = architecture;
      winner.trial.code = code.value_or("");
      return code ? std::vector{winner} : std::vector<st::WinnerRecord>();
    };
    return st::Library(std::make_unique<st::Library::Impl>(std::move(parts)));
  }

  template <class Call>
  double batch(Call call) {
    constexpr int kCalls = 200;
    const Clock::time_point start = Clock::now();
    for (int i = 0; i < kCalls; ++i) call();
    const double time = microseconds_since(start) / kCalls;
    stream_.synchronize();
    return time;
  }

  st::Request request_;
  st::DeviceField in_;
  st::DeviceField out_;
  st::Library library_;
  st::Kernel kernel_;
  st::Stream stream_;
  st::LaunchGeometry geometry_;
  std::vector<std::byte> argument_;
  std::optional<st::Module> module_;
};

/// What this program prints when started with the given words.
std::string own_output(const std::string& words) {
  const std::string command = fmt::format("'{}' {}", std::filesystem::read_symlink("/proc/self/exe").string(), words);
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string text;
  std::array<char, 256> chunk{};
  while (pipe && std::fgets(chunk.data(), chunk.size(), pipe.get()) != nullptr) text += chunk.data();
  return text;
}

}  // namespace

std::vector<Cost> warm_lookups(const std::filesystem::path& database) {
  st::Library library({.database = database});
  std::vector<Cost> costs;
  for (const char* stencil : kStencils) {
    const st::Request request = cube(stencil, 512);
    library.lookup(request);
    std::vector<double> times;
    for (int i = 0; i < 2000; ++i) {
      const Clock::time_point start = Clock::now();
      const st::Kernel kernel = library.lookup(request);
      times.push_back(microseconds_since(start));
    }
    costs.push_back({fmt::format("{} ({} nodes)", stencil, request.stencil.nodes.size()), median(times)});
  }
  return costs;
}

std::vector<Cost> launch_overheads() {
  std::vector<Cost> costs;
  const std::array<std::pair<const char*, std::optional<std::string>>, 4> cases{
      {{"star3d1r", std::nullopt},
       {"star3d1r", "direct.bx32.by8.rx4.v4"},
       {"star3d2r", "streaming.bx32.by4.rx1.ry4.cz8.ring.pf2"},
       {"box3d4r", "direct.bx32.by8"}}};
  for (const auto& [stencil, code] : cases) {
    LaunchPair pair(stencil, code);
    std::vector<double> differences;
    for (int i = 0; i < 101; ++i) {
      const double raw = pair.by_driver();
      differences.push_back(pair.by_library() - raw);
    }
    costs.push_back({fmt::format("{} {}", stencil, pair.code()), median(differences)});
  }
  return costs;
}

std::vector<Cost> first_uses(const std::filesystem::path& database) {
  std::vector<Cost> costs;
  for (const char* stencil : {"star3d1r", "star3d4r"}) {
    constexpr std::array<const char*, 4> kParts{"in all", "opening", "lookup", "prepare"};
    std::array<std::vector<double>, kParts.size()> times;
    for (int i = 0; i < 6; ++i) {
      std::array<double, kParts.size()> time{};
      const std::string words = fmt::format("{} {} '{}'", kFirstUseVerb, stencil, database.string());
      const int read =
          std::sscanf(own_output(words).c_str(), "%lf %lf %lf %lf", &time[0], &time[1], &time[2], &time[3]);
      if (read != static_cast<int>(kParts.size())) throw std::runtime_error("no first use: " + words);
      if (i == 0) continue;  // it fills the binary cache
      for (std::size_t part = 0; part < kParts.size(); ++part) times[part].push_back(time[part]);
    }
    for (std::size_t part = 0; part < kParts.size(); ++part) {
      costs.push_back({fmt::format("{}, {}", stencil, kParts[part]), median(times[part])});
    }
  }
  return costs;
}

int first_use_main(const std::string& stencil, const std::string& database) {
  const st::DeviceContext context;
  const st::Request request = cube(stencil, 512);
  const Clock::time_point start = Clock::now();
  st::Library library({.database = database});
  const double opening = microseconds_since(start);
  st::Kernel kernel = library.lookup(request);
  const double lookup = microseconds_since(start) - opening;
  kernel.prepare();
  const double all = microseconds_since(start);
  std::printf("%.1f %.1f %.1f %.1f\n", all, opening, lookup, all - lookup - opening);
  return 0;
}

}  // namespace bench
