#include "generator/candidates/family.hpp"

#include "generator/candidates/families/families.hpp"
#include "generator/suggest.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace stencil_tune {
namespace {

std::vector<const Family*>& table() {
  static std::vector<const Family*> entries{&streaming_family(), &direct_family(), &tiled_family(),
                                            &temporal_family(),  &system_family(), &systolic_family(),
                                            &resident_family()};
  return entries;
}

}  // namespace

std::span<const Family* const> families() { return table(); }

const Family& family_named(std::string_view name) {
  std::vector<std::string> names;
  for (const Family* family : families()) {
    if (family->name == name) return *family;
    names.emplace_back(family->name);
  }
  throw Error(ErrorCode::unknown_name,
              fmt::format("'{}' is no kernel family ({}){}", name, fmt::join(names, ", "), did_you_mean(name, names)));
}

Tuning with_used_values_alone(const Tuning& tuning) {
  Tuning result(*tuning.family);
  for (const Parameter& parameter : tuning.family->parameters) {
    if (parameter.used_by(tuning)) parameter.set(result, parameter.get(tuning));
  }
  return result;
}

void add_family(const Family& family) { table().push_back(&family); }

}  // namespace stencil_tune
