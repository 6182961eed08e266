// The entries of the table of families.
#pragma once

#include "generator/candidates/family.hpp"

namespace stencil_tune {

const Family& streaming_family();
const Family& tiled_family();
const Family& temporal_family();
const Family& system_family();
const Family& systolic_family();

}  // namespace stencil_tune
