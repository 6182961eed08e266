#include "runtime/model/family_model.hpp"

#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace stencil_tune {
namespace {

std::vector<FamilyModel>& models() {
  static std::vector<FamilyModel> all{{"direct", count_direct_work, time_sweep},
                                      {"tiled", count_tiled_work, time_sweep},
                                      {"streaming", count_streaming_work, time_sweep},
                                      {"temporal", count_temporal_work, time_fused_steps},
                                      {"system", count_system_work, time_fused_steps},
                                      {"systolic", count_systolic_work, time_fused_steps},
                                      {"resident", count_resident_work, time_resident_steps}};
  return all;
}

}  // namespace

const FamilyModel& family_model(std::string_view family) {
  const auto found =
      std::find_if(models().begin(), models().end(), [&](const FamilyModel& model) { return model.family == family; });
  if (found != models().end()) return *found;
  throw Error(ErrorCode::internal,
              fmt::format("the family {} has no performance model: add it to runtime/model/family_model.cpp", family));
}

void add_family_model(const FamilyModel& model) { models().push_back(model); }

}  // namespace stencil_tune
