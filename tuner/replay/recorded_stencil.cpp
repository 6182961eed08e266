#include "tuner/replay/recorded_stencil.hpp"

#include "generator/candidates/family.hpp"
#include "runtime/model/model.hpp"

#include <algorithm>
#include <utility>

namespace stencil_tune {
namespace {

class StencilSearch final : public TableSearch {
 public:
  StencilSearch(std::shared_ptr<const RecordedStencil> recorded, std::uint64_t seed)
      : recorded_(std::move(recorded)), search_(make_local(recorded_, *recorded_, seed)) {}

  std::string_view name() const override { return kStencilSearch; }

  std::optional<Configuration> propose() override {
    const auto tuning = search_->propose();
    return tuning ? std::optional(recorded_->place_of(*tuning)) : std::nullopt;
  }

  void report(const Configuration& configuration, double time_ms) override {
    search_->report(recorded_->tuning(configuration), time_ms);
  }

 private:
  std::shared_ptr<const RecordedStencil> recorded_;
  std::unique_ptr<Strategy> search_;
};

}  // namespace

RecordedStencil::RecordedStencil(const StencilCandidates& candidates) : tunings_(candidates.tunings) {
  const DeviceModel& device = device_model_of_gpu(candidates.gpu);
  const Limits limits = limits_of_architecture(device.architecture);
  const Space space(candidates.problem, limits);
  const PerformanceModel model(candidates.problem, limits, device);
  for (const Tuning& tuning : tunings_) {
    places_.emplace(code(tuning), static_cast<Configuration>(places_.size()));
    costs_.push_back(model.cost(tuning));
  }
  for (const Tuning& tuning : tunings_) {
    std::vector<Configuration>& found = neighbours_.emplace_back();
    for (const Tuning& neighbour : space.neighbours(tuning)) {
      const auto place = places_.find(code(with_used_values_alone(neighbour)));
      if (place == places_.end() || tunings_[place->second] == tuning) continue;
      if (std::find(found.begin(), found.end(), place->second) == found.end()) found.push_back(place->second);
    }
  }
}

std::optional<Tuning> RecordedStencil::sample(std::mt19937_64& random) const {
  return tunings_[std::uniform_int_distribution<std::size_t>(0, tunings_.size() - 1)(random)];
}

std::vector<Tuning> RecordedStencil::neighbours(const Tuning& tuning) const {
  std::vector<Tuning> found;
  for (const Configuration neighbour : neighbours_[place_of(tuning)]) found.push_back(tunings_[neighbour]);
  return found;
}

std::unique_ptr<TableSearch> make_stencil_search(std::shared_ptr<const RecordedStencil> recorded, std::uint64_t seed) {
  return std::make_unique<StencilSearch>(std::move(recorded), seed);
}

}  // namespace stencil_tune
