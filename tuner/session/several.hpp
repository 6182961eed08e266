// The final table of a command that tuned several problems: a row for each.
#pragma once

#include "tuner/session/final_table.hpp"

#include <span>
#include <string>

namespace stencil_tune {

/// Several printable lines ending in a newline, as wide as the terminal is. A row has the winner of its problem: the
/// known and measured one where there is one and the report is predicted. Predicted figures carry a "~".
std::string format_reports(std::span<const Report> reports, const Terminal& terminal = {});

}  // namespace stencil_tune
