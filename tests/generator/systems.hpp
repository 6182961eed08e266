// Definitions of systems that tests share: two time levels, two fields, two stages.
#pragma once

#include "stencil_tune/grid.hpp"

namespace stencil_tune::testing {

inline constexpr Boundaries kHold{Boundary::hold, Boundary::hold, Boundary::hold};
inline constexpr Boundaries kMixed{Boundary::hold, Boundary::periodic, Boundary::hold};

inline constexpr const char* kWave = R"toml(
name = "wave"
rank = 2
fields = ["p", "p_prev", "c", "p_next"]
[[stage]]
p_next = "2*p - p_prev + 0.1*c*laplacian(p)"
[rotate]
p_next = "p"
p = "p_prev"
)toml";

inline constexpr const char* kReaction = R"toml(
name = "reaction"
rank = 2
fields = ["u", "v", "u_next", "v_next"]
[[stage]]
u_next = "u + 0.1*laplacian(u) - 0.2*u*v*v"
v_next = "v + 0.05*(v[x-1] - v) + 0.2*u*v*v"
[rotate]
u_next = "u"
v_next = "v"
)toml";

inline constexpr const char* kYee = R"toml(
name = "yee"
rank = 2
fields = ["e", "h", "c", "e_next", "h_next"]
[[stage]]
h_next = "h - 0.5*(e[x+1] - e) - 0.25*(e[y+1] - e)"
[[stage]]
e_next = "e + 0.1*c*(h_next - h_next[x-1]) + 0.5*(h_next - h_next[y-1])"
[rotate]
e_next = "e"
h_next = "h"
)toml";

/// Both later stages read `slope`; the one after it alone reads `guess`.
inline constexpr const char* kThreeStages = R"toml(
name = "three_stages"
rank = 2
fields = ["u", "slope", "guess", "u_next"]
[[stage]]
slope = "0.5*(u[x+1] - u[y-1])"
[[stage]]
guess = "0.5*u + 0.25*(slope[x+1] + slope[x-1])"
[[stage]]
u_next = "0.5*u + 0.2*(guess[y-1] + guess[x+1]) + 0.1*slope[y+1]"
[rotate]
u_next = "u"
)toml";

}  // namespace stencil_tune::testing
