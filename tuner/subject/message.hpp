// What crosses between the processes of a tuning session.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace stencil_tune {

using Message = nlohmann::json;

}  // namespace stencil_tune
