// The links of a machine, as bench/scaling measured and recorded them.
#pragma once

#include "tuner/scaling/scaling_model.hpp"

#include <string_view>

namespace stencil_tune {

/// Sets what the record has: within a node, and of packing. Throws Error(malformed_definition) for what is no record of
/// bench/scaling.
void take_recorded_links(std::string_view record, Links& links);

}  // namespace stencil_tune
