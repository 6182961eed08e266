// The entries of the table of families.
#pragma once

#include "generator/candidates/family.hpp"

#include <optional>

namespace stencil_tune {

const Family& streaming_family();
const Family& tiled_family();
const Family& temporal_family();
const Family& system_family();
const Family& systolic_family();

/// Of a system's candidate whose rows TMA brings, the one for rows of any length (Copies::tma_beyond); nothing of
/// others.
std::optional<Tuning> with_rows_ending_beyond(const Tuning& tuning);

}  // namespace stencil_tune
