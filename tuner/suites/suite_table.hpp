// The cases of a suite in one table: what goes into a README.
#pragma once

#include "tuner/session/final_table.hpp"
#include "tuner/suites/suites.hpp"

#include <string>
#include <vector>

namespace stencil_tune {

/// Markdown, a row a case: copy ceiling, winner and its share, the rate over that of the case it is compared with, and
/// the other kernels of the reports. reports[i] is of cases[i].
std::string suite_table(const Suite& cases, const std::vector<Report>& reports);

}  // namespace stencil_tune
