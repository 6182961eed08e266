// The search for stencils on recorded candidates.
#pragma once

#include "tuner/replay/recorded_space.hpp"
#include "tuner/search/search.hpp"
#include "tuner/search/strategies/strategies.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace stencil_tune {

/// What it is called among the strategies.
inline constexpr std::string_view kStencilSearch = "stencil";

/// What the search for stencils walks among where only some candidates were recorded: it draws from these alone, and
/// neighbours are those of the whole space that were recorded too. So it proposes what all strategies for tables may
/// propose, and nothing else. The model's costs are those of the GPU of the record.
class RecordedStencil final : public SearchSpace, public CostModel {
 public:
  /// Throws Error(unknown_name) for a GPU that the model does not know.
  explicit RecordedStencil(const StencilCandidates& candidates);

  std::uint64_t size() const override { return tunings_.size(); }
  std::optional<Tuning> at(std::uint64_t number) const override { return tunings_[number]; }
  std::optional<Tuning> sample(std::mt19937_64& random) const override;
  std::vector<Tuning> neighbours(const Tuning& tuning) const override;
  double cost(const Tuning& tuning) const override { return costs_[place_of(tuning)]; }

  /// The configuration of the table that a recorded candidate is.
  Configuration place_of(const Tuning& tuning) const { return places_.at(code(tuning)); }
  const Tuning& tuning(Configuration configuration) const { return tunings_[configuration]; }

 private:
  std::vector<Tuning> tunings_;
  std::unordered_map<std::string, Configuration> places_;  // by code
  std::vector<double> costs_;
  std::vector<std::vector<Configuration>> neighbours_;
};

/// The search for stencils as one of the strategies for tables, of the table that the candidates are from.
std::unique_ptr<TableSearch> make_stencil_search(std::shared_ptr<const RecordedStencil> recorded, std::uint64_t seed);

}  // namespace stencil_tune
