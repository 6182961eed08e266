#include "tuner/suites/verified_race.hpp"

#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

namespace stencil_tune {
namespace {

constexpr MeasurePlan kShortLook{.first_look_ms = 0, .cap_ms = 0};

}  // namespace

VerifiedRace race_right_ones(DeviceWorker& device, std::vector<Contestant> contestants, const RacePlan& plan) {
  VerifiedRace race;
  std::vector<CodedKernel> finalists;
  for (Contestant& contestant : contestants) {
    const DeviceResult alone = device.run(contestant.code, contestant.kernel, kShortLook);
    if (alone.outcome == Outcome::ok) {
      finalists.emplace_back(contestant.code, contestant.kernel);
      race.right.push_back(std::move(contestant));
    } else {
      const std::string why = fmt::format("{}: {}", name(alone.outcome), alone.message);
      race.wrong.push_back({contestant.name, std::nullopt, why});
    }
  }
  if (finalists.empty()) throw Error(ErrorCode::compile_failed, "no kernel is right: there is nothing to bench");
  race.results = device.race(finalists, plan);
  return race;
}

}  // namespace stencil_tune
