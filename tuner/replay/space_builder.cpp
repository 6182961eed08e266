#include "stencil_tune/error.hpp"
#include "tuner/replay/recorded_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <utility>

namespace stencil_tune {
namespace {

/// By which values are ordered.
std::optional<double> as_number(const std::string& text) {
  if (text == kNoValue) return -std::numeric_limits<double>::infinity();
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

TableParameter make_parameter(const std::string& name, const std::set<std::string>& values) {
  TableParameter parameter{name, {values.begin(), values.end()}, true};
  parameter.ordered = std::all_of(values.begin(), values.end(), [](const auto& value) { return as_number(value); });
  if (parameter.ordered) {
    std::sort(parameter.values.begin(), parameter.values.end(),
              [](const std::string& a, const std::string& b) { return *as_number(a) < *as_number(b); });
  }
  return parameter;
}

}  // namespace

void SpaceBuilder::add(const std::map<std::string, std::string>& values, ConfigurationRecord evaluation) {
  const auto same_name = [](const auto& a, const auto& b) { return a.first == b.first; };
  if (!rows_.empty() &&
      !std::equal(values.begin(), values.end(), rows_.front().begin(), rows_.front().end(), same_name)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: configuration {} has other parameters than the first", name_, rows_.size() + 1));
  }
  rows_.push_back(values);
  evaluations_.push_back(evaluation);
}

RecordedSpace SpaceBuilder::build() const {
  const auto reject = [&](const char* why) {
    throw Error(ErrorCode::invalid_argument, fmt::format("{}: {}", name_, why));
  };
  const auto works = [](const ConfigurationRecord& evaluation) { return !evaluation.failed(); };
  if (std::count_if(evaluations_.begin(), evaluations_.end(), works) < 2) {
    reject("a search needs two configurations that work");
  }
  if (std::none_of(evaluations_.begin(), evaluations_.end(), [](const auto& each) { return each.cost_ms > 0; })) {
    reject("no compile and run times are recorded, by which a search is scored");
  }
  std::map<std::string, std::set<std::string>> values;
  for (const auto& row : rows_) {
    for (const auto& [name, value] : row) values[name].insert(value);
  }
  std::erase_if(values, [](const auto& each) { return each.second.size() < 2; });
  if (values.empty()) reject("no parameter has two values");

  std::vector<TableParameter> parameters;
  std::vector<std::map<std::string, ValueIndex>> place_of;
  for (const auto& [name, its_values] : values) {
    parameters.push_back(make_parameter(name, its_values));
    place_of.emplace_back();
    for (const std::string& value : parameters.back().values) {
      place_of.back().emplace(value, static_cast<ValueIndex>(place_of.back().size()));
    }
  }
  std::vector<ValueIndex> places;
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < parameters.size(); ++i) places.push_back(place_of[i].at(row.at(parameters[i].name)));
  }
  try {
    return {name_, ConfigurationTable(std::move(parameters), std::move(places)), evaluations_};
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}: {}", name_, error.what()));
  }
}

}  // namespace stencil_tune
