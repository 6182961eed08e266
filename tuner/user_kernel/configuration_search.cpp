#include "tuner/user_kernel/configuration_search.hpp"

#include "tuner/search/strategies/strategies.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

namespace stencil_tune {
namespace {

ConfigurationTable table_of(const UserKernel& kernel, const std::vector<ParameterValues>& legal) {
  std::vector<TableParameter> parameters;
  for (const UserKernelParameter& parameter : kernel.parameters) {
    parameters.push_back({parameter.name, {}, true});
    for (const std::int64_t value : parameter.values) parameters.back().values.push_back(std::to_string(value));
  }
  std::vector<ValueIndex> places;
  places.reserve(legal.size() * parameters.size());
  for (const ParameterValues& values : legal) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto& known = kernel.parameters[i].values;
      places.push_back(
          static_cast<ValueIndex>(std::lower_bound(known.begin(), known.end(), values[i]) - known.begin()));
    }
  }
  return {std::move(parameters), std::move(places)};
}

class ConfigurationSearch final : public SearchStrategy<std::string> {
 public:
  ConfigurationSearch(const UserKernel& kernel, const std::vector<ParameterValues>& legal, std::string_view strategy,
                      std::uint64_t seed)
      : table_(table_of(kernel, legal)), search_(make_table_strategy(strategy, table_, seed)) {
    for (const ParameterValues& values : legal) {
      codes_.push_back(configuration_code(kernel, values));
      numbers_.emplace(codes_.back(), static_cast<Configuration>(codes_.size() - 1));
    }
  }

  std::string_view name() const override { return search_->name(); }

  std::optional<std::string> propose() override {
    const auto configuration = search_->propose();
    return configuration ? std::optional(codes_[*configuration]) : std::nullopt;
  }

  /// A configuration that is no longer legal teaches nothing.
  void report(const std::string& code, double time_ms) override {
    const auto found = numbers_.find(code);
    if (found != numbers_.end()) search_->report(found->second, time_ms);
  }

 private:
  ConfigurationTable table_;
  std::vector<std::string> codes_;  ///< codes of the rows of the table
  std::unordered_map<std::string, Configuration> numbers_;
  std::unique_ptr<TableSearch> search_;
};

}  // namespace

std::unique_ptr<SearchStrategy<std::string>> configuration_search(const UserKernel& kernel,
                                                                  const std::vector<ParameterValues>& legal,
                                                                  std::string_view strategy, std::uint64_t seed) {
  return std::make_unique<ConfigurationSearch>(kernel, legal, strategy, seed);
}

}  // namespace stencil_tune
