// What tools call the problem of a winner that ships.
#pragma once

#include "db/records.hpp"

#include <fmt/format.h>

#include <string>

namespace bench {

/// "star3d1r.s0.f32.512x512x512.p512.hold.n1": also the start of a file's name.
inline std::string problem_name(const stencil_tune::ProblemKey& key) {
  return fmt::format("{}.s{}.{}.{}.p{}.{}.n{}", key.stencil_name, key.stage, name(key.type), to_string(key.extents),
                     key.pitch, to_string(key.boundaries, key.extents.rank), key.steps);
}

}  // namespace bench
