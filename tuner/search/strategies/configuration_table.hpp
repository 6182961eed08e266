// A search space as a table: every legal configuration of some tuning parameters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace stencil_tune {

/// Number of a configuration in its table.
using Configuration = std::uint32_t;

/// Place of a value among those of its parameter.
using ValueIndex = std::uint16_t;

struct TableParameter {
  std::string name;
  std::vector<std::string> values;  ///< in their order: numbers ascend
  bool ordered = true;              ///< numbers, so that neighbouring places are alike
};

class ConfigurationTable {
 public:
  /// places: one for each parameter, configuration after configuration. Throws Error(invalid_argument) for a row that
  /// stands twice and places that their parameter does not have.
  ConfigurationTable(std::vector<TableParameter> parameters, std::vector<ValueIndex> places);

  std::size_t size() const noexcept { return size_; }
  const std::vector<TableParameter>& parameters() const noexcept { return parameters_; }

  std::span<const ValueIndex> places(Configuration configuration) const {
    return {places_.data() + configuration * parameters_.size(), parameters_.size()};
  }

  /// Nothing where the combination is not legal.
  std::optional<Configuration> find(std::span<const ValueIndex> places) const;

  /// The combination itself where it is legal, else the nearest legal one that differs in one parameter, else in any:
  /// by the sum of distances, in places of ordered parameters and 1 for any other value of the rest.
  Configuration nearest(std::span<const ValueIndex> places) const;

  /// All that differ in the value of one parameter.
  std::vector<Configuration> neighbours(Configuration configuration) const;

 private:
  std::uint64_t hash(std::span<const ValueIndex> places) const;
  std::optional<Configuration> row_of(std::uint64_t hash, std::span<const ValueIndex> places) const;
  int apart(std::size_t parameter, ValueIndex a, ValueIndex b) const {
    return parameters_[parameter].ordered ? std::abs(a - b) : static_cast<int>(a != b);
  }
  /// Calls use(parameter, value, configuration) for each legal change of one parameter.
  template <class Use>
  void for_each_changed(std::span<const ValueIndex> places, Use use) const;

  std::vector<TableParameter> parameters_;
  std::vector<ValueIndex> places_;
  std::size_t size_;
  std::vector<std::uint64_t> factors_;  ///< hash() sums each parameter's place times its factor
  std::unordered_multimap<std::uint64_t, Configuration> rows_;
};

}  // namespace stencil_tune
