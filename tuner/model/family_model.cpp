#include "tuner/model/family_model.hpp"

#include <algorithm>
#include <array>

namespace stencil_tune {
namespace {

constexpr std::array<FamilyModel, 6> kFamilies{{{"direct", count_direct_work, time_sweep},
                                                {"tiled", count_tiled_work, time_sweep},
                                                {"streaming", count_streaming_work, time_sweep},
                                                {"temporal", count_temporal_work, time_fused_steps},
                                                {"system", count_system_work, time_fused_steps},
                                                {"systolic", count_systolic_work, time_fused_steps}}};

}  // namespace

const FamilyModel& family_model(std::string_view family) {
  const auto found = std::find_if(kFamilies.begin(), kFamilies.end(),
                                  [&](const FamilyModel& model) { return model.family == family; });
  return found != kFamilies.end() ? *found : kFamilies.front();
}

}  // namespace stencil_tune
